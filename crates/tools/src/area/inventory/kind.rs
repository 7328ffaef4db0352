//! What can be listed: where it is asked for, which fields it shows, what hides it.

use pve::{NodeName, Resource, ResourceKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column::Column::{
    self, Content, Cpu, Created, Disk, Guests, Id, Lock, Mem, Memory, Name, Node, Notes, Parent,
    Plugin, Pool, Protected, Ram, Size, Status, Tags, Type, Uptime, Vmid,
};
use super::page::Sort;

/// What to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Wanted {
    #[default]
    Guest,
    // Other servers say `vm` for guests of either kind; for VMs alone PVE's own word is meant.
    Vm,
    Qemu,
    Lxc,
    Node,
    Storage,
    Pool,
    All,
    Iso,
    /// What a guest can be made from: container templates, and guests that were made templates.
    Template,
    Backup,
    Volume,
    Snapshot,
}

/// Where to ask, besides `/cluster/resources`, which has the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Resources,
    /// The storages: for this content, or for everything.
    Volumes(Option<&'static str>),
    /// The guests.
    Snapshots,
}

const GUEST: &[Column] = &[
    Id, Type, Name, Node, Status, Cpu, Mem, Memory, Size, Tags, Pool, Lock,
];
const NODE: &[Column] = &[Id, Status, Cpu, Mem, Memory, Disk, Size, Uptime, Guests];
const STORAGE: &[Column] = &[Id, Node, Status, Disk, Size, Plugin, Content];
const ALL: &[Column] = &[Id, Type, Name, Node, Status, Cpu, Mem, Disk, Size, Tags];
const IMAGE: &[Column] = &[Id, Node, Size, Created];
const TEMPLATE: &[Column] = &[Id, Type, Name, Node, Size, Created];
const BACKUP: &[Column] = &[Id, Vmid, Name, Node, Size, Created, Protected, Notes];
const VOLUME: &[Column] = &[Id, Type, Vmid, Name, Node, Size];
const SNAPSHOT: &[Column] = &[Id, Vmid, Name, Node, Created, Parent, Ram, Notes];

impl Wanted {
    pub(super) fn source(self) -> Source {
        match self {
            Self::Iso => Source::Volumes(Some("iso")),
            Self::Template => Source::Volumes(Some("vztmpl")),
            Self::Backup => Source::Volumes(Some("backup")),
            Self::Volume => Source::Volumes(None),
            Self::Snapshot => Source::Snapshots,
            _ => Source::Resources,
        }
    }

    /// Whether an entry of `/cluster/resources` is itself listed.
    pub(super) fn takes(self, resource: &Resource) -> bool {
        let kind = &resource.kind;
        match self {
            Self::Guest | Self::Vm => kind.guest_kind().is_some(),
            Self::Qemu => *kind == ResourceKind::Qemu,
            Self::Lxc => *kind == ResourceKind::Lxc,
            Self::Node => *kind == ResourceKind::Node,
            Self::Storage => *kind == ResourceKind::Storage,
            Self::Pool => *kind == ResourceKind::Pool,
            Self::All => true,
            Self::Template => resource.template,
            Self::Iso | Self::Backup | Self::Volume | Self::Snapshot => false,
        }
    }

    /// What has guests, for lists that count them: the part of an entry that says whose it is.
    pub(super) fn owner(self) -> Option<fn(&Resource) -> Option<&str>> {
        match self {
            Self::Node => Some(|row| row.node.as_ref().map(NodeName::as_str)),
            Self::Pool => Some(|row| row.pool.as_deref()),
            _ => None,
        }
    }

    /// The fields that are shown if the caller names none.
    pub(super) fn columns(self) -> &'static [Column] {
        match self {
            Self::Guest | Self::Vm | Self::Qemu | Self::Lxc => GUEST,
            Self::Node => NODE,
            Self::Storage => STORAGE,
            Self::Pool => &[Id, Guests],
            Self::All => ALL,
            Self::Iso => IMAGE,
            Self::Template => TEMPLATE,
            Self::Backup => BACKUP,
            Self::Volume => VOLUME,
            Self::Snapshot => SNAPSHOT,
        }
    }

    /// The order if the caller names none; otherwise by kind, number and id.
    pub(super) fn order(self) -> Option<Sort> {
        (self == Self::Backup).then_some(Sort {
            column: Created,
            descending: true,
        })
    }

    /// The privilege without which PVE shows none of these, and where it is given for all of them.
    pub(super) fn privilege(self) -> (&'static str, &'static str) {
        match self.source() {
            Source::Volumes(_) => ("Datastore.Audit", "/storage"),
            Source::Snapshots => ("VM.Audit", "/vms"),
            Source::Resources => match self {
                Self::Node => ("Sys.Audit", "/nodes"),
                Self::Storage => ("Datastore.Audit", "/storage"),
                Self::Pool => ("Pool.Audit", "/pool"),
                _ => ("VM.Audit", "/vms"),
            },
        }
    }

    /// Whether an entry of `/cluster/resources` is one without which none of these can be found.
    pub(super) fn stems_from(self, resource: &Resource) -> bool {
        match self.source() {
            Source::Volumes(_) => resource.kind == ResourceKind::Storage,
            Source::Snapshots => resource.kind.guest_kind().is_some(),
            Source::Resources => self.takes(resource),
        }
    }
}
