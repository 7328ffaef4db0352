//! What a token may not see, PVE leaves out without a word. Here it is worked out and said.

use pve::Permissions;

use super::estate::{Estate, Part};
use super::kind::{Source, Wanted};
use super::notes::{Notes, some_of};
use super::volumes::Held;

/// A path below `/vms` on which nobody gives rights: what is held there is held for all guests.
const ANY_GUEST: &str = "/vms/any";

/// An empty list that a missing privilege caused looks just like an empty cluster.
pub(super) async fn explain_emptiness(estate: &Estate, wanted: Wanted, notes: &mut Notes) {
    let (privilege, path) = wanted.privilege();
    for part in &estate.parts {
        if part.resources.iter().any(|row| wanted.stems_from(row)) {
            continue;
        }
        let Ok(held) = part.cluster.pve.permissions().await else {
            continue;
        };
        if !held.paths().any(|path| held.has(path, privilege)) {
            notes.say(format!(
                "the token of {} has {privilege} nowhere, so PVE shows none; it needs it on {path}",
                part.cluster.name
            ));
        }
    }
}

/// Backups and disks are shown only to those who may use them; a storage that looks empty may be full.
pub(super) async fn name_gaps(
    estate: &Estate,
    wanted: Wanted,
    held: &[Held<'_>],
    notes: &mut Notes,
) {
    let guarded = match wanted.source() {
        Source::Volumes(Some("backup")) => &[BACKUPS][..],
        Source::Volumes(None) => &[BACKUPS, DISKS],
        _ => return,
    };
    for part in &estate.parts {
        let mut storages: Vec<_> = held
            .iter()
            .filter(|held| std::ptr::eq(held.part, part))
            .map(|held| held.place.storage)
            .collect();
        storages.sort_unstable();
        storages.dedup();
        if storages.is_empty() {
            continue;
        }
        let Ok(rights) = part.cluster.pve.permissions().await else {
            continue;
        };
        for rule in guarded {
            let gaps = rule.gaps(part, &rights, &storages).await;
            if !gaps.is_empty() {
                notes.say(format!(
                    "{} on {} may be hidden: PVE shows them with {} on their guest and {} on /storage/…, or with Datastore.Allocate there",
                    rule.what, some_of(&gaps), rule.on_guest, rule.on_storage
                ));
            }
        }
    }
}

/// With which privileges a kind of volume is shown, besides Datastore.Allocate on the storage.
struct Rule {
    what: &'static str,
    content: &'static [&'static str],
    on_guest: &'static str,
    on_storage: &'static str,
}

const BACKUPS: Rule = Rule {
    what: "backups",
    content: &["backup"],
    on_guest: "VM.Backup",
    on_storage: "Datastore.AllocateSpace",
};

const DISKS: Rule = Rule {
    what: "disks",
    content: &["images", "rootdir"],
    on_guest: "VM.Config.Disk",
    on_storage: "Datastore.Audit",
};

impl Rule {
    /// The storages on which something of this kind may be hidden.
    async fn gaps<'a>(
        &self,
        part: &Part,
        rights: &Permissions,
        storages: &[&'a str],
    ) -> Vec<&'a str> {
        let mut gaps = Vec::new();
        for storage in storages.iter().copied() {
            let path = format!("/storage/{storage}");
            if !part.may_hold(storage, self.content) || self.shows_all(rights, &path) {
                continue;
            }
            // Rights that come from a pool are told only for the path itself.
            let by_pool = match part.cluster.pve.permissions_on(&path).await {
                Ok(rights) => rights.has(&path, "Datastore.Allocate"),
                Err(_) => false,
            };
            if !by_pool {
                gaps.push(storage);
            }
        }
        gaps
    }

    fn shows_all(&self, rights: &Permissions, path: &str) -> bool {
        rights.has(path, "Datastore.Allocate")
            || (rights.has(path, self.on_storage) && rights.has(ANY_GUEST, self.on_guest))
    }
}

impl Part {
    fn may_hold(&self, storage: &str, content: &[&str]) -> bool {
        self.resources
            .iter()
            .filter(|row| row.storage.as_deref() == Some(storage))
            .flat_map(|row| row.content.as_deref().unwrap_or_default().split(','))
            .any(|kind| content.contains(&kind.trim()))
    }
}
