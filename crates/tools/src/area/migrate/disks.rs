//! The volumes of a guest that only its node sees: they are copied, or they keep it where it is.

use std::collections::BTreeSet;

use pve::{GuestKind, LocalVolume};

use super::How;
use super::scene::Scene;
use crate::plan::{Blocker, Effect, Impact};
use crate::words;

/// A volume, or what stands in its place, that another node does not see.
pub(super) struct Local {
    /// `scsi0`; for what is attached nowhere, what it is.
    key: String,
    pub(super) volume: String,
    pub(super) storage: Option<String>,
    bytes: Option<u64>,
    snapshots: Vec<String>,
    sort: Sort,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Attached: a running VM uses it.
    Disk,
    /// Attached nowhere, made by PVE, or a saved memory: copied whether it runs or not.
    Other,
    /// An image or drive that does not move.
    Cdrom,
    /// A path of the node, not a volume.
    Path,
}

impl Local {
    fn of_vm(volume: &LocalVolume) -> Self {
        let sort = match volume {
            it if it.volid.starts_with('/') => Sort::Path,
            it if it.cdrom && !it.is_cloudinit => Sort::Cdrom,
            it if it.is_unused || it.is_vmstate || it.cdrom => Sort::Other,
            _ => Sort::Disk,
        };
        let key = match &volume.drivename {
            Some(key) => key.clone(),
            None if volume.is_vmstate => "saved memory".to_owned(),
            None => "detached".to_owned(),
        };
        let snapshots = volume.referenced_in_snapshot.iter().flatten();
        Self {
            key,
            storage: volume.volid.split_once(':').map(|(id, _)| id.to_owned()),
            volume: volume.volid.clone(),
            bytes: volume.size,
            snapshots: snapshots
                .filter(|_| !volume.is_vmstate)
                .map(|(name, _)| name.clone())
                .collect(),
            sort,
        }
    }

    /// "scsi0 (local-lvm:vm-105-disk-0, 16.0 GiB)"
    fn named(&self) -> String {
        let size = self.bytes.map(|bytes| format!(", {}", words::size(bytes)));
        format!("{} ({}{})", self.key, self.volume, size.unwrap_or_default())
    }

    /// Whether it is only the difference to a template's disk.
    fn is_linked(&self) -> bool {
        let (_, name) = self.volume.split_once(':').unwrap_or_default();
        let mut parts = name.rsplit('/').skip(1);
        parts.any(|part| part.starts_with("base-") || part.starts_with("basevol-"))
    }
}

/// The local volumes of a guest. PVE tells those of a VM; a container's are those on storages that are not shared.
pub(super) fn local(scene: &Scene) -> Vec<Local> {
    if scene.guest.at.kind == GuestKind::Qemu {
        let told = scene.says.local_disks.iter().flatten();
        return told.map(Local::of_vm).collect();
    }
    let is_shared = |key: &str| {
        let mount = scene.config.properties(key);
        mount.is_some_and(|mount| mount.get("shared") == Some("1"))
    };
    let disks = scene.config.disks().into_iter();
    let local = disks.filter(|disk| match &disk.storage {
        Some(name) => scene.storages.get(name).is_some_and(|row| !row.shared),
        None => !is_shared(&disk.key),
    });
    local
        .map(|disk| Local {
            sort: match (&disk.storage, disk.is_unused()) {
                (None, _) => Sort::Path,
                (Some(_), true) => Sort::Other,
                (Some(_), false) => Sort::Disk,
            },
            key: disk.key,
            volume: disk.volume,
            storage: disk.storage,
            bytes: disk.size_bytes,
            snapshots: scene.snapshots.clone(),
        })
        .collect()
}

/// The storages of a container that the token may not see; whether their disks are local is then not known.
pub(super) fn hidden(scene: &Scene) -> BTreeSet<String> {
    if scene.guest.at.kind == GuestKind::Qemu {
        return BTreeSet::new();
    }
    let disks = scene.config.disks().into_iter();
    disks
        .filter_map(|disk| disk.storage)
        .filter(|name| !scene.storages.contains_key(name))
        .collect()
}

/// Those that are copied to the new node.
pub(super) fn copied(disks: &[Local]) -> impl Iterator<Item = &Local> {
    disks
        .iter()
        .filter(|disk| matches!(disk.sort, Sort::Disk | Sort::Other))
}

/// What becomes of them.
pub(super) fn impact(disks: &[Local], how: &How, scene: &Scene) -> Vec<Impact> {
    copied(disks)
        .map(|disk| {
            let storage = how.storage.as_ref().map(ToString::to_string);
            let to = storage.or_else(|| disk.storage.clone()).unwrap_or_default();
            Impact::new(Effect::Changed, "disk", &disk.volume)
                .bytes(disk.bytes)
                .note(format!(
                    "{}; copied to {to} there, then removed from {}",
                    disk.key, scene.guest.at.node
                ))
        })
        .collect()
}

/// Bytes that are copied, as far as they are known.
pub(super) fn bytes(disks: &[Local]) -> u64 {
    crate::words::total(copied(disks).filter_map(|disk| disk.bytes))
}

/// What keeps the guest on its node.
pub(super) fn blockers(disks: &[Local], how: &How, scene: &Scene) -> Vec<Blocker> {
    let mut blockers: Vec<_> = disks
        .iter()
        .filter_map(|disk| obstacle(disk, how, scene))
        .collect();
    let live: Vec<_> = disks
        .iter()
        .filter(|disk| how.live && disk.sort == Sort::Disk)
        .map(Local::named)
        .collect();
    // HA always takes local disks along.
    if !live.is_empty() && !how.local_disks && !scene.state.managed {
        blockers.push(Blocker::new(
            format!(
                "{} runs, and only {} sees its disks {}",
                scene.guest.label(),
                scene.guest.at.node,
                words::list(&live)
            ),
            "send with_local_disks: true to copy them while it runs",
        ));
    }
    blockers
}

fn obstacle(disk: &Local, how: &How, scene: &Scene) -> Option<Blocker> {
    let (label, node) = (scene.guest.label(), &scene.guest.at.node);
    let because = |what: String| format!("{what}, so {label} cannot leave {node}");
    if disk.sort == Sort::Cdrom {
        return Some(Blocker::new(
            because(format!("{} is in its CD drive {}", disk.volume, disk.key)),
            format!(
                "take it out with update_proxmox_vm, {}: \"none,media=cdrom\"",
                disk.key
            ),
        ));
    }
    if disk.sort == Sort::Path {
        return Some(Blocker::new(
            because(format!("{} is {}, a path of {node}", disk.key, disk.volume)),
            "a person has to take it out, or mark it as shared if every node has it",
        ));
    }
    if disk.is_linked() {
        return Some(Blocker::new(
            because(format!("{} is a linked clone", disk.named())),
            "make a full clone with clone_proxmox_vm",
        ));
    }
    let kept = !disk.snapshots.is_empty() && (how.live || !moves_snapshots(disk, scene)?);
    kept.then(|| {
        Blocker::new(
            because(format!(
                "{} is part of the snapshots {}",
                disk.named(),
                words::list(&disk.snapshots)
            )),
            "delete them first with delete_proxmox_vm_snapshot",
        )
    })
}

/// Whether a stopped guest's volume can be copied with its snapshots; `None` if the token may not see its storage.
fn moves_snapshots(disk: &Local, scene: &Scene) -> Option<bool> {
    let storage = scene.storages.get(disk.storage.as_deref()?)?;
    let files = !matches!(
        storage.plugintype.as_deref(),
        Some("zfspool" | "lvm" | "lvmthin" | "rbd")
    );
    let format = disk.volume.rsplit('.').next();
    let qcow2 = scene.guest.at.kind == GuestKind::Qemu && format == Some("qcow2");
    Some(storage.plugintype.as_deref() == Some("zfspool") || (files && qcow2))
}
