//! Where the disks of a backup go, and whether they can go there.

use std::collections::BTreeSet;

use pve::{Disk, GuestKind, GuestRef, StorageStatus};

use super::saved::Saved;
use crate::plan::{Blocker, Effect, Impact, Plan};
use crate::words;

/// The disks of a backup on their way.
pub(super) struct Landing<'a> {
    pub(super) saved: &'a Saved,
    /// The guest that gets them.
    pub(super) to: &'a GuestRef,
    /// Where all go; `None`: where each was.
    pub(super) storage: Option<&'a str>,
}

impl Landing<'_> {
    /// Every storage that gets one.
    pub(super) fn storages(&self) -> BTreeSet<String> {
        let disks = self.saved.disks();
        disks
            .iter()
            .filter_map(|disk| self.target(disk).map(str::to_owned))
            .collect()
    }

    /// Adds the disks to a plan, and what stands in their way.
    pub(super) fn show(&self, plan: &mut Plan, storages: &[StorageStatus]) {
        for disk in self.saved.disks() {
            let target = self.target(&disk).unwrap_or("?");
            let mut item =
                Impact::new(Effect::Created, "disk", format!("{} on {target}", disk.key))
                    .bytes(disk.size_bytes);
            if !self.saved.holds(&disk) {
                item = item.note("EMPTY: it was left out of the backup");
                plan.warnings.push(format!(
                    "{} comes back empty: it was left out of the backup",
                    disk.key
                ));
            }
            plan.impact.push(item);
        }
        for target in self.storages() {
            let is_fit = |storage: &&StorageStatus| storage.active && storage.holds(self.content());
            let mut takers = storages.iter().filter(is_fit);
            if let Some(storage) = takers.find(|storage| storage.storage == target) {
                plan.warnings.extend(self.too_little_room(storage));
            } else {
                let takers: Vec<_> = storages.iter().filter(is_fit).collect();
                plan.blockers.push(self.no_taker(&target, &takers));
            }
        }
        plan.blockers.extend(self.bound());
    }

    fn target<'a>(&'a self, disk: &'a Disk) -> Option<&'a str> {
        self.storage.or(disk.storage.as_deref())
    }

    fn content(&self) -> &'static str {
        match self.to.kind {
            GuestKind::Qemu => "images",
            GuestKind::Lxc => "rootdir",
        }
    }

    fn too_little_room(&self, storage: &StorageStatus) -> Option<String> {
        let disks = self.saved.disks();
        let here = disks
            .iter()
            .filter(|disk| self.target(disk) == Some(storage.storage.as_str()));
        let bytes = crate::words::total(here.filter_map(|disk| disk.size_bytes));
        storage.avail.filter(|free| *free < bytes).map(|_| {
            format!(
                "{} has less room than the {} that the disks may grow to",
                storage.storage,
                words::size(bytes)
            )
        })
    }

    fn no_taker(&self, target: &str, takers: &[&StorageStatus]) -> Blocker {
        let names: Vec<_> = takers
            .iter()
            .map(|storage| storage.storage.as_str())
            .collect();
        Blocker::new(
            format!(
                "storage {target} takes no disks of a {} on {}, or the token may not see it: that needs Datastore.AllocateSpace on /storage/{target}",
                self.to.kind.noun(),
                self.to.node
            ),
            format!("send storage; those that do are {}", words::list(&names)),
        )
    }

    /// PVE lets nobody but root, by password, bring a directory of the node into a container.
    fn bound(&self) -> Vec<Blocker> {
        let disks = self.saved.config.disks();
        disks
            .iter()
            .filter(|disk| self.to.kind == GuestKind::Lxc && disk.storage.is_none())
            .map(|disk| {
                Blocker::new(
                    format!(
                        "{} is {} of the node, which only root itself restores",
                        disk.key, disk.volume
                    ),
                    "a person has to restore it on the node (pct restore)",
                )
            })
            .collect()
    }
}
