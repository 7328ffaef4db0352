//! What lies on the storages: backups and disks, each storage asked once per place where it differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use pve::{NodeName, Permissions, Resource, Vmid, Volume};

use super::ask;
use super::estate::Estate;
use super::report::Gap;

/// A storage in one place, and what lies on it.
pub(super) struct Shelf {
    pub(super) storage: String,
    /// The node that was asked; of a storage that is not shared, the only one that has these volumes.
    pub(super) node: NodeName,
    pub(super) shared: bool,
    /// Whether backups may lie on it.
    pub(super) backups: bool,
    /// Whether disks may lie on it.
    pub(super) disks: bool,
    /// What lies on it, or why that could not be read.
    pub(super) volumes: Result<Lying, Gap>,
    sight: Sight,
}

/// What is kept of a storage's volumes: of the backups, which are many, only when each guest was last saved; of the disks,
/// unless all are wanted, only those that do not lie where their guest is.
#[derive(Default)]
pub(super) struct Lying {
    pub(super) disks: Vec<Volume>,
    pub(super) saved: BTreeMap<Vmid, i64>,
}

impl Lying {
    fn of(volumes: Vec<Volume>, keeps: impl Fn(&Volume) -> bool) -> Self {
        let mut lying = Self::default();
        for volume in volumes {
            match volume.content.as_deref() {
                Some("images" | "rootdir") if keeps(&volume) => lying.disks.push(volume),
                Some("backup") => {
                    let made = volume.ctime.and_then(|at| i64::try_from(at).ok());
                    if let (Some(vmid), Some(made)) = (volume.vmid, made) {
                        let last = lying.saved.entry(vmid).or_insert(made);
                        *last = made.max(*last);
                    }
                }
                _ => {}
            }
        }
        lying
    }
}

/// Whose backups PVE shows to the token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// Everybody's.
    All,
    /// Those of guests that it may back up.
    ByGuest,
    /// Nobody's.
    None,
}

impl Shelf {
    /// The storage's path in access rules.
    pub(super) fn path(&self) -> String {
        format!("/storage/{}", self.storage)
    }

    /// Whether a disk lies where its guest is, as far as the resource list tells.
    pub(super) fn is_at_home(&self, estate: &Estate, disk: &Volume) -> bool {
        let owner = disk.vmid.and_then(|owner| estate.guests.get(&owner));
        let here =
            |guest: &Arc<Resource>| guest.node.as_ref().is_none_or(|node| *node == self.node);
        owner.is_some_and(|guest| self.shared || here(guest))
    }

    /// Whether every backup of a guest that lies here is in the list.
    pub(super) fn shows_backups_of(&self, vmid: Vmid, held: &Permissions) -> bool {
        match self.sight {
            Sight::All => true,
            Sight::ByGuest => held.has(&format!("/vms/{vmid}"), "VM.Backup"),
            Sight::None => false,
        }
    }
}

/// Reads every storage that holds backups or disks. Unless `all_disks` are wanted, those where they belong are not kept.
pub(super) async fn read(estate: &Estate, all_disks: bool) -> Vec<Shelf> {
    let shelves = places(estate)
        .into_iter()
        .filter_map(|row| Shelf::of(estate, row))
        .collect::<Vec<_>>();
    let ask = |shelf: Shelf| {
        let cluster = estate.cluster.clone();
        async move {
            if shelf.volumes.is_err() {
                return (shelf, None);
            }
            // One list for both; where only backups matter, ISO images need not travel.
            let only = (!shelf.disks).then_some("backup");
            let answer = cluster.pve.volumes(&shelf.node, &shelf.storage, only).await;
            (shelf, Some(answer))
        }
    };
    ask::each_then(shelves, ask, |(mut shelf, answer)| {
        if let Some(answer) = answer {
            let keeps = |disk: &Volume| all_disks || !shelf.is_at_home(estate, disk);
            shelf.volumes = match answer {
                Ok(volumes) => Ok(Lying::of(volumes, keeps)),
                Err(error) => Err(Gap::of(&error, &shelf.storage)),
            };
        }
        shelf
    })
    .await
}

/// A shared storage once, through a node that reaches it; any other on each of its nodes.
fn places(estate: &Estate) -> Vec<&Resource> {
    let mut chosen: Vec<&Resource> = Vec::new();
    let holds = |row: &Resource| holds(row, "backup") || holds_disks(row);
    let mut shared: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for row in estate.storages.iter().filter(|row| holds(row)) {
        let known = row
            .shared
            .then(|| shared.get(&row.storage.as_deref()))
            .flatten();
        match known.copied() {
            Some(at) if !is_available(estate, chosen[at]) => chosen[at] = row,
            Some(_) => {}
            None => {
                if row.shared {
                    shared.insert(row.storage.as_deref(), chosen.len());
                }
                chosen.push(row);
            }
        }
    }
    chosen
}

impl Shelf {
    fn of(estate: &Estate, row: &Resource) -> Option<Self> {
        let (storage, node) = (row.storage.clone()?, row.node.clone()?);
        let path = format!("/storage/{storage}");
        let volumes = if !estate.is_online(&node) {
            Err(Gap::offline(&node))
        } else if is_available(estate, row) {
            Ok(Lying::default())
        } else {
            Err(Gap::because("not available:", &storage))
        };
        let sight = if estate.held.has(&path, "Datastore.Allocate") {
            Sight::All
        } else if estate.held.has(&path, "Datastore.AllocateSpace") {
            Sight::ByGuest
        } else {
            Sight::None
        };
        Some(Self {
            backups: holds(row, "backup"),
            disks: holds_disks(row),
            shared: row.shared,
            volumes,
            sight,
            storage: storage.into(),
            node,
        })
    }
}

fn is_available(estate: &Estate, row: &Resource) -> bool {
    row.status.as_deref() == Some("available")
        && row.node.as_ref().is_some_and(|node| estate.is_online(node))
}

fn holds(row: &Resource, content: &str) -> bool {
    let kinds = row.content.as_deref().unwrap_or_default();
    kinds.split(',').any(|kind| kind.trim() == content)
}

fn holds_disks(row: &Resource) -> bool {
    holds(row, "images") || holds(row, "rootdir")
}
