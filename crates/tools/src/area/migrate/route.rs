//! A guest on its way to a node: what becomes of what, what it takes, and the way back.

use std::collections::BTreeSet;

use pve::{GuestKind, StorageId};
use serde_json::json;

use super::How;
use super::disks::{self, Local};
use super::ha;
use super::scene::{Node, Scene};
use crate::context::arguments;
use crate::fault::{Fault, Kind};
use crate::plan::{Effect, Impact, Needs, Target, Undo};
use crate::words;

/// A guest on its way to a node.
pub(super) struct Route<'a> {
    pub(super) scene: &'a Scene,
    pub(super) node: &'a Node,
    pub(super) how: &'a How,
    pub(super) disks: &'a [Local],
}

impl Route<'_> {
    pub(super) fn summary(&self, why: Option<String>) -> String {
        let (guest, how) = (&self.scene.guest, self.how);
        let manner = match (how.live, how.restart) {
            (true, _) => "while it runs",
            (_, true) => "with a restart",
            _ => "while it is stopped",
        };
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        format!(
            "Migrate {} from {} to {}, {manner}{why}",
            guest.label(),
            guest.at.node,
            self.node.name
        )
    }

    pub(super) fn impact(&self) -> Vec<Impact> {
        let guest = &self.scene.guest;
        let effect = if self.how.restart {
            Effect::Interrupted
        } else {
            Effect::Changed
        };
        let own = Impact::new(effect, guest.at.kind.noun(), guest.at.vmid.to_string())
            .note(format!("moves to {}", self.node.name));
        let mut impact = vec![own];
        impact.extend(disks::impact(self.disks, self.how, self.scene));
        impact.extend(self.scene.replicas.iter().map(|(job, target)| {
            let item = |effect| Impact::new(effect, "replication job", job);
            if *target == self.node.name.as_str() {
                item(Effect::Changed).note(format!("turns round, to {}", guest.at.node))
            } else {
                item(Effect::Kept).note(format!("goes on from {} to {target}", self.node.name))
            }
        }));
        impact.extend(ha::impact(self.scene));
        impact
    }

    /// The guests that HA moves along are acted on as well, for rules that look at guests.
    pub(super) fn along(&self) -> impl Iterator<Item = Target> {
        self.scene.along.iter().map(|guest| Target {
            at: guest.at.clone(),
            name: guest.name.clone().unwrap_or_default(),
            pool: guest.pool.clone(),
            tags: guest.tags.clone(),
            protection: false,
            only_read: false,
        })
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let (scene, node) = (self.scene, self.node);
        let mut warnings = Vec::new();
        if self.how.live {
            warnings.push(
                "it runs on, but for a pause of mostly less than a second when it changes nodes"
                    .to_owned(),
            );
        }
        let wanted = scene.guest.row.resource.maxmem;
        if let (Some(free), Some(wanted), true) = (node.free, wanted, scene.state.running)
            && free < wanted
        {
            warnings.push(format!(
                "{} has {} of memory free, and the guest may take {}",
                node.name,
                words::size(free),
                words::size(wanted)
            ));
        }
        if scene.state.managed {
            warnings.push("HA moves it: PVE only queues the request".to_owned());
            warnings.extend(ha::preference(scene, node));
        }
        let unseen = disks::hidden(scene).into_iter();
        let unseen = unseen.map(|storage| format!("whether {storage} is shared (the token needs Datastore.Audit on /storage/{storage})"));
        let unchecked = scene.unchecked.iter().cloned().chain(unseen);
        warnings.extend(unchecked.map(|what| format!("not checked: {what}")));
        warnings
    }

    /// The storage that disks are to go to is there and takes them. Answers a warning if it is short of room.
    pub(super) async fn check_storage(&self, wanted: &StorageId) -> Result<Option<String>, Fault> {
        let (guest, node) = (&self.scene.guest, &self.node.name);
        let content = match guest.at.kind {
            GuestKind::Qemu => "images",
            GuestKind::Lxc => "rootdir",
        };
        let there = guest.pve().storages(node).await?;
        let fit: Vec<_> = there
            .iter()
            .filter(|storage| storage.enabled && storage.holds(content))
            .collect();
        let Some(found) = fit.iter().find(|it| it.storage == wanted.as_str()) else {
            let names: Vec<_> = fit.iter().map(|it| it.storage.as_str()).collect();
            let fault = Fault::new(
                Kind::NotFound,
                format!("there is no storage {wanted} on {node} that takes its disks"),
            );
            return Err(fault.hint(match names.as_slice() {
                [] => format!(
                    "the token sees none there; it needs Datastore.AllocateSpace on /storage/{wanted}"
                ),
                _ => format!(
                    "those that do are {}; a storage shows with Datastore.AllocateSpace on /storage/{wanted}",
                    words::list(&names)
                ),
            }));
        };
        let needed = disks::bytes(self.disks);
        let short = found.avail.filter(|avail| *avail < needed);
        Ok(short.map(|avail| {
            format!(
                "{wanted} has {} free on {node}, and the disks may take {}",
                words::size(avail),
                words::size(needed)
            )
        }))
    }

    pub(super) fn needs(&self) -> Needs {
        let path = self.scene.guest.at.acl_path();
        let mut all = vec![Needs::on(&path, "VM.Audit"), Needs::on(&path, "VM.Migrate")];
        if self.how.restart && self.scene.guest.at.kind == GuestKind::Qemu {
            all.push(Needs::on(&path, "VM.PowerMgmt"));
        }
        if let Some(storage) = &self.how.storage {
            all.push(Needs::on(&path, "VM.Config.Disk"));
            all.push(Needs::on(
                format!("/storage/{storage}"),
                "Datastore.AllocateSpace",
            ));
        }
        Needs::All(all)
    }

    /// The same way back.
    pub(super) fn undo(&self) -> Undo {
        let at = &self.scene.guest.at;
        let mut back = arguments([("vmid", json!(at.vmid)), ("target", json!(at.node))]);
        let mut say = |name: &str, value| drop(back.insert(name.to_owned(), value));
        if self.how.restart {
            say("restart", json!(true));
        }
        if self.how.live && disks::copied(self.disks).next().is_some() {
            say("with_local_disks", json!(true));
        }
        let from: BTreeSet<_> = disks::copied(self.disks)
            .filter_map(|disk| disk.storage.as_deref())
            .collect();
        // Back to where they were, which takes that to be one storage.
        let from: Vec<_> = from.into_iter().collect();
        match (&self.how.storage, from.as_slice()) {
            (None, _) | (Some(_), []) => {}
            (Some(_), [only]) => say("target_storage", json!(only)),
            (Some(_), several) => {
                return Undo::Impossible {
                    because: format!(
                        "its disks came from {}, and a move takes one storage for all: migrate_proxmox_vm with target {} and one of them as target_storage comes closest",
                        words::list(several),
                        at.node
                    ),
                };
            }
        }
        Undo::Call {
            tool: "migrate_proxmox_vm".to_owned(),
            arguments: back,
        }
    }
}
