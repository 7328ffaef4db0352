//! The snapshots that a guest has, and the one that a caller named among them.

use pve::{GuestConfig, Request, SnapName, SnapshotEntry};

use crate::context::Guest;
use crate::fault::{Fault, Kind};
use crate::words;

/// A snapshot that a caller named.
#[derive(Debug)]
pub(in super::super) struct Found {
    /// Its entry in the list.
    pub(in super::super) entry: SnapshotEntry,
    /// The others.
    pub(in super::super) others: Vec<SnapshotEntry>,
    /// The guest's configuration at that time. It holds passwords in clear.
    pub(in super::super) config: GuestConfig,
}

impl Found {
    /// The snapshot of this name, or a fault that names those there are.
    pub(in super::super) async fn named(guest: &Guest, name: &SnapName) -> Result<Self, Fault> {
        let mut others = guest.pve().snapshots(&guest.at).await?;
        others.sort_by_key(|entry| entry.snaptime);
        let at = others.iter().position(|entry| entry.name == name.as_str());
        let Some(at) = at else {
            return Err(no_such(guest, name, &others));
        };
        let read = Request::get(guest.at.path(&format!("snapshot/{name}/config")));
        Ok(Self {
            entry: others.remove(at),
            others,
            config: guest.pve().get(read).await?,
        })
    }

    /// Those taken after it, oldest first.
    pub(in super::super) fn newer(&self) -> impl Iterator<Item = &SnapshotEntry> {
        let own = self.entry.snaptime;
        self.others.iter().filter(move |other| other.snaptime > own)
    }
}

/// "taken 2026-11-12T19:00:00Z, 2 d 12 h ago"
pub(in super::super) fn taken(entry: &SnapshotEntry) -> String {
    match entry.snaptime {
        Some(at) => format!("taken {}", words::past(at)),
        None => "of unknown date".to_owned(),
    }
}

fn no_such(guest: &Guest, name: &SnapName, all: &[SnapshotEntry]) -> Fault {
    let fault = Fault::new(
        Kind::NotFound,
        format!("{} has no snapshot {name}", guest.label()),
    );
    if all.is_empty() {
        return fault.hint("it has none at all; snapshot_proxmox_vm takes one");
    }
    let names: Vec<_> = all.iter().map(|entry| entry.name.as_str()).collect();
    fault.hint(format!(
        "its snapshots are {}, oldest first",
        words::list(&names)
    ))
}
