//! The guests that a call is about: the one in its path, those that its parameters name, and the owners and users of the
//! volumes that it names. What is done to a volume is done to its guest.

use std::collections::BTreeSet;
use std::sync::Arc;

use pve::apidoc::{Format, Found, Parameter};
use pve::{GuestKind, GuestRef, Method, NodeName, Resource, Vmid};
use serde_json::Value;

use super::declared::Declared;
use super::sent::Sent;
use super::{ha, risk, wide};
use crate::area::users::Users;
use crate::context::{Cluster, Context, Guest};
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Needs, Plan, Target, parts};
use crate::spec::Risk;
use crate::volume::{backup_of, is_same, owners, storage};

/// Parameters whose volumes are only read.
const SOURCES: &[&str] = &["archive", "import-from", "ostemplate", "source"];

/// Parameters that name nothing, whatever stands in them.
const PROSE: &[&str] = &["comment", "description", "notes", "notes-template"];

/// Where the volume in the path stands; a parameter's key may be `volume`, too.
const IN_PATH: &str = "{volume}";

/// A volume of a guest that a call names.
struct NamedVolume {
    /// What it stands in: the path, a parameter, or a part of one.
    key: String,
    volume: String,
    /// It for people, without what is hidden.
    shown: String,
}

/// A call and where it goes.
pub(super) struct Subject<'a> {
    pub(super) cx: &'a Context,
    pub(super) cluster: &'a Arc<Cluster>,
    pub(super) found: &'a Found<'a>,
    pub(super) sent: &'a Sent,
    /// The declared tools that are the same method.
    pub(super) declared: &'a [Declared],
    rows: Vec<Resource>,
}

impl<'a> Subject<'a> {
    pub(super) async fn of(
        cx: &'a Context,
        cluster: &'a Arc<Cluster>,
        found: &'a Found<'a>,
        (sent, declared): (&'a Sent, &'a [Declared]),
    ) -> Result<Self, Fault> {
        let rows = cluster.pve.resources().await?;
        Ok(Self {
            cx,
            cluster,
            found,
            sent,
            declared,
            rows,
        })
    }

    fn template(&self) -> &str {
        &self.found.method.path
    }

    /// The node in the path.
    pub(super) fn node(&self) -> Option<NodeName> {
        NodeName::new(self.found.capture("node")?).ok()
    }

    /// Makes the plan one about all of them. Gives what looking at them takes.
    pub(super) async fn bind(&self, plan: &mut Plan) -> Result<Vec<Needs>, Fault> {
        let mut needs = Vec::new();
        if let Some(guest) = self.in_path().await? {
            self.take(&guest, plan, &mut needs).await?;
            if self.template().ends_with("/monitor") {
                let vmid = guest.at.vmid.to_string();
                let any = Impact::new(Effect::Destroyed, guest.at.kind.noun(), vmid);
                plan.impact
                    .push(any.note("a command of QEMU's monitor can take any part of it away"));
            }
        }
        self.made(plan).await?;
        let mut named = self.named();
        if let Some(kept) = ha::Kept::by(self.found) {
            named.extend(kept.guests(&self.cluster.pve).await?);
            needs.push(Needs::on("/", "Sys.Audit"));
        }
        for vmid in named {
            if let Some(guest) = Guest::among(self.cluster, &self.rows, vmid) {
                self.take(&guest, plan, &mut needs).await?;
            }
        }
        self.volumes(plan, &mut needs).await?;
        wide::settle(self, plan).await?;
        Ok(needs)
    }

    async fn take(
        &self,
        guest: &Guest,
        plan: &mut Plan,
        needs: &mut Vec<Needs>,
    ) -> Result<(), Fault> {
        if plan.targets.iter().any(|target| target.at == guest.at) {
            return Ok(());
        }
        let config = guest.config().await?;
        guest.bind_once(plan, &config);
        needs.push(Needs::on(guest.at.acl_path(), "VM.Audit"));
        Ok(())
    }

    /// The guest in the path, which must be there and on that node.
    async fn in_path(&self) -> Result<Option<Guest>, Fault> {
        let kind = if self.template().starts_with("/nodes/{node}/qemu/{vmid}") {
            GuestKind::Qemu
        } else if self.template().starts_with("/nodes/{node}/lxc/{vmid}") {
            GuestKind::Lxc
        } else {
            return Ok(None);
        };
        let vmid = self.found.capture("vmid").and_then(vmid_of);
        let vmid = vmid.ok_or_else(|| Fault::bad_input("the path has no guest's id in it"))?;
        let node = self.node();
        let guest = self.cx.guest(vmid, node.as_ref(), Some(kind)).await?;
        Ok(Some(guest))
    }

    /// A guest that comes to be must have an id that is free.
    async fn made(&self, plan: &mut Plan) -> Result<(), Fault> {
        let (name, kind) = match self.template() {
            "/nodes/{node}/qemu" => ("vmid", GuestKind::Qemu),
            "/nodes/{node}/lxc" => ("vmid", GuestKind::Lxc),
            "/nodes/{node}/qemu/{vmid}/clone" => ("newid", GuestKind::Qemu),
            "/nodes/{node}/lxc/{vmid}/clone" => ("newid", GuestKind::Lxc),
            _ => return Ok(()),
        };
        let (Some(vmid), Some(node), Method::Post) = (
            self.sent.text(name).as_deref().and_then(vmid_of),
            self.node(),
            self.found.method.verb,
        ) else {
            return Ok(());
        };
        let (vmid, guard) = self.cx.free_vmid(self.cluster, Some(vmid), name).await?;
        plan.guards.push(guard);
        let target = self
            .sent
            .text("target")
            .and_then(|name| NodeName::new(name).ok());
        let guest = GuestRef {
            vmid,
            node: target.unwrap_or(node),
            kind,
        };
        let name = self.sent.text("name");
        let name = name.or_else(|| self.sent.text("hostname"));
        let tags = self.sent.text("tags").unwrap_or_default();
        let made = Target {
            at: guest,
            name: name.unwrap_or_default(),
            pool: self.sent.text("pool"),
            tags: parts(&Value::String(tags)),
            protection: false,
            only_read: false,
        };
        let runs = self.sent.flag("start") == Some(true);
        plan.impact.push(Impact::new(
            Effect::Created,
            made.at.kind.noun(),
            made.at.vmid.to_string(),
        ));
        plan.makes(made, runs);
        Ok(())
    }

    /// The guests that parameters and other parts of the path name by their ids.
    fn named(&self) -> BTreeSet<Vmid> {
        let mut ids = BTreeSet::new();
        let captures = self.found.captures.iter();
        let captures = captures.map(|(name, value)| (name, Value::from(value.as_str())));
        let params = self.sent.judged().iter();
        let params = params.map(|(name, value)| (name, value.clone()));
        for (name, value) in captures.chain(params) {
            let Some(parameter) = self.found.method.parameter(name) else {
                continue;
            };
            if is_guest(parameter) {
                ids.extend(parts(&value).iter().filter_map(|word| vmid_in(word)));
            }
        }
        ids
    }

    /// The owners of the volumes that it names, and whoever else uses one that is deleted.
    async fn volumes(&self, plan: &mut Plan, needs: &mut Vec<Needs>) -> Result<(), Fault> {
        for named in self.volume_names() {
            let NamedVolume { key, volume, shown } = named;
            let only_read = match key.as_str() {
                IN_PATH => self.stays(),
                name => SOURCES.contains(&name),
            };
            let is_own = |vmid: &Vmid| plan.targets.iter().any(|it| it.at.vmid == *vmid);
            let others: Vec<_> = owners_of(&volume).filter(|vmid| !is_own(vmid)).collect();
            for vmid in others {
                let Some(guest) = Guest::among(self.cluster, &self.rows, vmid) else {
                    continue;
                };
                let config = guest.config().await?;
                needs.push(Needs::on(guest.at.acl_path(), "VM.Audit"));
                if only_read {
                    guest.bind_as_source(plan, &config);
                    continue;
                }
                guest.bind_once(plan, &config);
                plan.impact.push(
                    Impact::new(Effect::Destroyed, "disk", &shown)
                        .note(format!("{} owns it", guest.label())),
                );
            }
        }
        match (self.found.method.verb, self.found.capture("volume")) {
            (Method::Delete, Some(volume)) => self.deleted(plan, volume).await,
            _ => Ok(()),
        }
    }

    /// Whether the volume in the path stays as it is: its notes are written, or it is copied.
    fn stays(&self) -> bool {
        let does = risk::of_parameters(self.template(), self.sent);
        self.found.method.verb != Method::Delete && does < Risk::Destroy
    }

    /// A volume in use stands in the way, since PVE deletes it without a word.
    async fn deleted(&self, plan: &mut Plan, volume: &str) -> Result<(), Fault> {
        let Some(node) = self.node() else {
            return Ok(());
        };
        let volume = self.full_name(volume);
        plan.impact.push(
            Impact::new(Effect::Destroyed, "volume", &volume).note("its data is gone for good"),
        );
        for vmid in owners_of(&volume) {
            let Some(guest) = Guest::among(self.cluster, &self.rows, vmid) else {
                continue;
            };
            let config = guest.config().await?;
            let names = config.volumes();
            if let Some((key, _)) = names.iter().find(|(_, named)| is_same(named, &volume)) {
                plan.blockers.push(Blocker::new(
                    format!("{} uses {volume} as {key}", guest.label()),
                    format!("detach {key} first with update_proxmox_vm, or delete the guest with delete_proxmox_vm"),
                ));
            }
        }
        let volumes = BTreeSet::from([volume.clone()]);
        let owner = owners_of(&volume).next();
        let users = Users::beside(self.cluster, &node, owner, volumes).await?;
        users.keep_theirs(plan);
        Ok(())
    }

    /// PVE takes the name of a volume with and without its storage.
    fn full_name(&self, volume: &str) -> String {
        match self.found.capture("storage") {
            Some(place) if storage(volume).is_none() => format!("{place}:{volume}"),
            _ => volume.to_owned(),
        }
    }

    /// Everything in the call that names a volume of a guest, or a backup of one, hidden or not.
    fn volume_names(&self) -> Vec<NamedVolume> {
        let mut names = Vec::new();
        if let Some(volume) = self.found.capture("volume") {
            let volume = self.full_name(volume);
            names.push(NamedVolume {
                key: IN_PATH.to_owned(),
                shown: volume.clone(),
                volume,
            });
        }
        let params = self.sent.judged().iter();
        for (name, value) in params.filter(|(name, _)| !PROSE.contains(&name.as_str())) {
            for part in parts(value) {
                let (key, volume) = part.split_once('=').unwrap_or((name, &part));
                let is_name = volume.contains(':') || volume.starts_with('/');
                if is_name && owners_of(volume).next().is_some() {
                    names.push(NamedVolume {
                        key: key.to_owned(),
                        volume: volume.to_owned(),
                        shown: if self.sent.is_hidden(name) {
                            format!("in {name}")
                        } else {
                            volume.to_owned()
                        },
                    });
                }
            }
        }
        names
    }

    /// What rules about nodes and guests look at, where a call is about all guests of a node.
    pub(super) fn guests_on(&self, node: Option<&NodeName>) -> Vec<Guest> {
        let mut guests = Guest::all_among(self.cluster, &self.rows);
        guests.retain(|guest| node.is_none_or(|node| guest.at.node == *node));
        guests
    }
}

/// The guests whose data a volume holds: those that own a disk, or that a backup is of.
fn owners_of(volume: &str) -> impl Iterator<Item = Vmid> {
    owners(volume).chain(backup_of(volume))
}

/// Whether a parameter holds ids of guests that the call is about, and not of those that it leaves out.
fn is_guest(parameter: &Parameter) -> bool {
    let named = |parameter: &Parameter| matches!(&parameter.format, Some(Format::Named(name)) if name.starts_with("pve-vmid") || name.starts_with("pve-ha-resource") || name == "pve-replication-job-id");
    if parameter.name == "exclude" {
        return false;
    }
    named(parameter)
        || parameter.items.as_deref().is_some_and(named)
        || matches!(
            parameter.name.as_str(),
            "vmid" | "vms" | "sid" | "target-vmid"
        )
}

/// `105`, `vm:105`, or `105-0` of a replication.
pub(super) fn vmid_in(word: &str) -> Option<Vmid> {
    let word = word.rsplit(':').next()?;
    vmid_of(word.split('-').next()?)
}

fn vmid_of(text: &str) -> Option<Vmid> {
    Vmid::new(text.parse().ok()?).ok()
}
