//! Which disks can have snapshots. PVE tests the guest as a whole and says yes or no; why not is worked out here.

use pve::{Disk, GuestConfig, Request, StorageStatus};
use serde::Deserialize;

use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::Blocker;
use crate::words;

#[derive(Debug, Deserialize)]
struct Feature {
    #[serde(rename = "hasFeature", deserialize_with = "pve::lenient::flag")]
    has: bool,
}

/// PVE's own test.
pub(in super::super) async fn can_snapshot(guest: &Guest) -> Result<bool, Fault> {
    let request = Request::get(guest.at.path("feature")).with("feature", "snapshot");
    Ok(guest.pve().get::<Feature>(request).await?.has)
}

/// The disks that PVE's test failed for, as far as their storages tell.
pub(super) async fn culprits(guest: &Guest, config: &GuestConfig) -> Blocker {
    let storages = guest
        .pve()
        .storages(&guest.at.node)
        .await
        .unwrap_or_default();
    let all: Vec<_> = config
        .disks()
        .into_iter()
        .filter(|disk| !disk.is_unused())
        .collect();
    let guilty: Vec<_> = all
        .iter()
        .filter_map(|disk| {
            Some(format!(
                "{} ({}: {})",
                disk.key,
                disk.volume,
                why_not(disk, &storages)?
            ))
        })
        .collect();
    let because = if guilty.is_empty() {
        let keys: Vec<_> = all.iter().map(|disk| disk.key.as_str()).collect();
        format!("at least one of its disks {}", words::list(&keys))
    } else {
        words::list(&guilty)
    };
    Blocker::new(
        format!("{} cannot have snapshots: {because}", guest.label()),
        "take a backup with backup_proxmox_vm, or move those disks to a storage with snapshots (qcow2 files, LVM-thin, ZFS, Ceph)",
    )
}

fn why_not(disk: &Disk, storages: &[StorageStatus]) -> Option<&'static str> {
    let Some(storage) = &disk.storage else {
        return Some("a path of the node, not a volume of a storage");
    };
    let kind = storages
        .iter()
        .find(|status| status.storage == *storage)?
        .kind
        .as_deref()?;
    let in_qcow2 = disk.is_qcow2();
    match kind {
        "dir" | "nfs" | "cifs" | "glusterfs" | "cephfs" if !in_qcow2 => {
            Some("a raw file has no snapshots")
        }
        "lvm" if !in_qcow2 => Some("thick LVM has no snapshots"),
        "iscsi" | "iscsidirect" => Some("a plain iSCSI disk has no snapshots"),
        _ => None,
    }
}
