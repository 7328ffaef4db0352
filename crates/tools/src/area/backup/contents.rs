//! What a backup will hold, how large it may get, and what it leaves out.

use pve::{Disk, GuestConfig, GuestKind, StorageStatus};

use crate::area::backups::Backup;
use crate::context::Guest;
use crate::plan::{Effect, Impact, Plan};
use crate::words;

/// Adds the backup with its expected size and the state that disks are `caught` in, and every disk with whether it is in it.
pub(super) fn show(
    plan: &mut Plan,
    guest: &Guest,
    config: &GuestConfig,
    storage: &StorageStatus,
    (caught, before): (&str, &[Backup]),
) {
    let (inside, outside): (Vec<_>, Vec<_>) = config
        .disks()
        .into_iter()
        .filter(|disk| !disk.is_unused())
        .partition(|disk| is_included(guest.at.kind, config, disk));
    let most = crate::words::total(inside.iter().filter_map(|disk| disk.size_bytes));
    let last = before.first().and_then(|backup| backup.size);
    let (expected, note) = match last {
        Some(last) => (last, "as large as the last one there".to_owned()),
        None => (
            most,
            "at most; less where disks are empty or compress well".to_owned(),
        ),
    };
    plan.impact.push(
        Impact::new(Effect::Created, "backup", format!("on {}", storage.storage))
            .bytes(Some(expected))
            .note(format!("{note}; {caught}")),
    );
    plan.impact
        .extend(inside.iter().map(|disk| as_impact(disk, "in the backup")));
    plan.impact.extend(
        outside
            .iter()
            .map(|disk| as_impact(disk, "NOT in the backup")),
    );
    if !outside.is_empty() {
        let keys: Vec<_> = outside.iter().map(|disk| disk.key.as_str()).collect();
        plan.warnings.push(format!(
            "not in the backup: {} (its backup flag is off, or it is a path of the node)",
            words::list(&keys)
        ));
    }
    if storage.avail.is_some_and(|free| free < expected) {
        plan.warnings.push(format!(
            "{} has less room than the {} that the backup may take",
            storage.storage,
            words::size(expected)
        ));
    }
}

fn as_impact(disk: &Disk, note: &str) -> Impact {
    Impact::new(Effect::Kept, "disk", &disk.volume)
        .bytes(disk.size_bytes)
        .note(format!("{}, {note}", disk.key))
}

/// A VM's disk is in unless its flag says no; a container's mount point only if its flag says yes.
pub(in super::super) fn is_included(kind: GuestKind, config: &GuestConfig, disk: &Disk) -> bool {
    let properties = config.properties(&disk.key).unwrap_or_default();
    match kind {
        GuestKind::Qemu => !matches!(properties.get("backup"), Some("0" | "no" | "off" | "false")),
        GuestKind::Lxc => {
            disk.key == "rootfs" || (disk.storage.is_some() && properties.is_on("backup"))
        }
    }
}
