//! What a backup job saves of each guest.

use serde_json::{Value, json};

use crate::api::bit;
use crate::api::cluster::jobs::covered_by;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::config::Drive;
use crate::world::guest::{Guest, Kind};

/// `GET included_volumes`: guests with their volumes, as a tree.
pub(super) fn included(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    let Some(job) = world.backup_jobs.get(id) else {
        return Err(ApiError::param("id", format!("No such job '{id}'")));
    };
    let guests = covered_by(world, job).into_iter();
    let visible = guests.filter(|vmid| world.may(&call.who, &format!("/vms/{vmid}"), "VM.Audit"));
    let children = visible.map(|vmid| match world.guests.get(&vmid) {
        Some(guest) => branch(guest),
        None => json!({ "id": vmid, "type": "unknown", "leaf": 1 }),
    });
    Ok(json!({ "children": children.collect::<Value>() }).into())
}

fn branch(guest: &Guest) -> Value {
    let used = guest
        .config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused") && !drive.is_cdrom());
    let leaves: Vec<Value> = used
        .map(|drive| {
            let (included, reason) = verdict(guest.kind, &drive);
            json!({
                "id": format!("{}:{}", guest.vmid, drive.key),
                "name": drive.volume,
                "included": bit(included),
                "reason": reason,
                "leaf": 1,
            })
        })
        .collect();
    json!({
        "id": guest.vmid,
        "type": guest.kind.name(),
        "name": guest.name(),
        "leaf": bit(leaves.is_empty()),
        "children": leaves,
    })
}

/// Disks are saved unless told otherwise, mount points only if told so.
fn verdict(kind: Kind, drive: &Drive<'_>) -> (bool, &'static str) {
    match (kind, drive.option("backup")) {
        (Kind::Qemu, Some("0")) => (false, "backup=no"),
        (Kind::Qemu, Some(_)) => (true, "backup=yes"),
        (Kind::Qemu, None) => (true, "default include"),
        (Kind::Lxc, _) if drive.key == "rootfs" => (true, "rootfs"),
        (Kind::Lxc, _) if drive.volume.starts_with('/') => (false, "not a volume"),
        (Kind::Lxc, Some("1")) => (true, "enabled"),
        (Kind::Lxc, _) => (false, "disabled"),
    }
}
