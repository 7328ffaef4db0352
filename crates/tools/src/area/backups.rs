//! The backups of a guest, on every storage that a node reaches, Proxmox Backup Servers included, each with a note where
//! one could not be looked at.

use std::cmp::Reverse;

use pve::{Error, GuestKind, NodeName, Reader, Request, Vmid};
use serde::Deserialize;

use crate::plan::{Effect, Impact};

/// A backup as a storage lists it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Backup {
    /// `nas:backup/vzdump-qemu-105-….vma.zst`, or `vault:backup/vm/105/2026-…Z`.
    pub(super) volid: String,
    /// What it takes up; on a Proxmox Backup Server, what it holds.
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    pub(super) size: Option<u64>,
    /// When it was taken, in Unix seconds.
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    pub(super) ctime: Option<u64>,
    /// What somebody wrote about it.
    #[serde(default, deserialize_with = "pve::lenient::opt_text")]
    pub(super) notes: Option<String>,
    /// Whether pruning leaves it alone.
    #[serde(default, deserialize_with = "pve::lenient::flag")]
    pub(super) protected: bool,
    #[serde(default)]
    subtype: Option<GuestKind>,
}

impl Backup {
    /// The storage that it is on.
    pub(super) fn storage(&self) -> &str {
        self.volid.split(':').next().unwrap_or_default()
    }

    /// What it is a backup of.
    pub(super) fn kind(&self) -> Option<GuestKind> {
        let says = |words: [&str; 2]| words.iter().any(|word| self.volid.contains(word));
        self.subtype.or_else(|| {
            if says(["vzdump-qemu-", "backup/vm/"]) {
                Some(GuestKind::Qemu)
            } else if says(["vzdump-lxc-", "backup/ct/"]) {
                Some(GuestKind::Lxc)
            } else {
                None
            }
        })
    }

    /// "taken 2026-11-08T03:00:02Z, 7 d 4 h ago"
    pub(super) fn taken(&self) -> String {
        match self.ctime {
            Some(at) => format!("taken {}", crate::words::past(at)),
            None => "of unknown date".to_owned(),
        }
    }

    /// As something that a change leaves alone, or removes.
    pub(super) fn impact(&self, effect: Effect) -> Impact {
        let item = Impact::new(effect, "backup", &self.volid).bytes(self.size);
        match self.ctime.and_then(|at| i64::try_from(at).ok()) {
            Some(taken) => item.note(format!("taken {}", crate::words::time(taken))),
            None => item,
        }
    }
}

/// What was found, newest first, and what could not be looked at.
#[derive(Debug, Default)]
pub(super) struct Backups {
    pub(super) found: Vec<Backup>,
    pub(super) unchecked: Vec<String>,
}

impl Backups {
    /// Those of a guest on all storages. Nothing here fails: what cannot be read is named in `unchecked`.
    pub(super) async fn of(pve: &Reader, node: &NodeName, vmid: Vmid) -> Self {
        let mut all = Self::default();
        match pve.storages(node).await {
            Ok(storages) if storages.is_empty() => {
                let why = "the token sees no storage: Datastore.Audit on /storage is missing";
                all.unchecked.push(format!("backups ({why})"));
            }
            Ok(storages) => {
                for storage in storages
                    .iter()
                    .filter(|storage| storage.active && storage.holds("backup"))
                {
                    all.look_at(pve, node, vmid, &storage.storage).await;
                }
            }
            Err(error) => all.unchecked.push(format!("backups ({})", why(&error))),
        }
        all.found.sort_by_key(|backup| Reverse(backup.ctime));
        all
    }

    /// Those of a guest on one storage.
    pub(super) async fn on(pve: &Reader, node: &NodeName, vmid: Vmid, storage: &str) -> Self {
        let mut all = Self::default();
        all.look_at(pve, node, vmid, storage).await;
        all.found.sort_by_key(|backup| Reverse(backup.ctime));
        all
    }

    /// The read that lists them.
    pub(super) fn request(node: &NodeName, vmid: Vmid, storage: &str) -> Request {
        Request::get(format!("/nodes/{node}/storage/{storage}/content"))
            .with("content", "backup")
            .with("vmid", vmid)
    }

    async fn look_at(&mut self, pve: &Reader, node: &NodeName, vmid: Vmid, storage: &str) {
        match pve.list(Self::request(node, vmid, storage)).await {
            Ok(more) if more.is_empty() => self.rule_out_hidden(pve, vmid, storage).await,
            Ok(more) => self.found.extend(more),
            Err(error) => self
                .unchecked
                .push(format!("backups on {storage} ({})", why(&error))),
        }
    }

    /// PVE leaves backups out of the list for tokens that may not restore them; an empty list then says nothing.
    async fn rule_out_hidden(&mut self, pve: &Reader, vmid: Vmid, storage: &str) {
        let (on_guest, on_storage) = (format!("/vms/{vmid}"), format!("/storage/{storage}"));
        let sees_all = holds(pve, &on_storage, "Datastore.Allocate").await;
        let sees_own = holds(pve, &on_guest, "VM.Backup").await
            && holds(pve, &on_storage, "Datastore.AllocateSpace").await;
        if !sees_all && !sees_own {
            self.unchecked.push(format!(
                "backups on {storage} (hidden: the token needs VM.Backup on {on_guest} and Datastore.AllocateSpace on {on_storage})"
            ));
        }
    }
}

/// Whether the token is known to hold a privilege on a path.
pub(super) async fn holds(pve: &Reader, path: &str, privilege: &str) -> bool {
    pve.permissions_on(path)
        .await
        .is_ok_and(|held| held.has(path, privilege))
}

/// Why something could not be looked at, short enough to stand in brackets.
pub(super) fn why(error: &Error) -> String {
    match error.missing_privilege() {
        Some((path, privileges)) => format!("{} on {path} is missing", privileges.join(" or ")),
        None => error.to_string(),
    }
}
