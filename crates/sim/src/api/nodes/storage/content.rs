//! `content` of a storage: the list of its volumes.

use serde_json::{Value, json};

use super::storage_id;
use super::volume::may_access;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::guest::Kind;
use crate::world::layout::Layout;
use crate::world::storage::{Storage, Volume};

/// `GET content`: the volumes of a storage that the caller may use.
pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    let id = storage_id(call);
    let storage = world.storage_on(call.node(), id).map_err(ApiError::fail)?;
    let mut found: Vec<&Volume> = world
        .volumes_on(call.node())
        .filter(|volume| volume.storage() == id)
        .filter(|volume| is_wanted(world, call, storage, volume))
        .filter(|volume| may_access(world, &call.who, &volume.volid).is_ok())
        .collect();
    found.sort_by_key(|volume| volume.volid.to_lowercase());
    let entries = found.iter().map(|volume| entry(world, storage, volume));
    Ok(entries.collect::<Value>().into())
}

/// Images of a container are listed as `rootdir`, all others as `images`, whether the guest exists or not.
fn content_of<'a>(world: &World, volume: &'a Volume) -> &'a str {
    let owner = volume.vmid.and_then(|vmid| world.guests.get(&vmid));
    match volume.content.as_str() {
        "images" | "rootdir" if owner.is_some_and(|guest| guest.kind == Kind::Lxc) => "rootdir",
        "images" | "rootdir" => "images",
        other => other,
    }
}

/// Whether a volume passes the filters. The id of a guest hides templates and ISO images, but neither snippets nor
/// images to import.
fn is_wanted(world: &World, call: &Call, storage: &Storage, volume: &Volume) -> bool {
    let content = content_of(world, volume);
    let of_guest = match (call.params.has("vmid"), content) {
        (false, _) | (true, "snippets" | "import") => true,
        (true, "iso" | "vztmpl") => false,
        (true, _) => volume.vmid == Some(call.vmid()),
    };
    let of_content = call.text("content").is_none_or(|only| only == content);
    of_guest && of_content && storage.holds(content)
}

/// One volume as its storage's type lists it.
fn entry(world: &World, storage: &Storage, volume: &Volume) -> Value {
    let content = content_of(world, volume);
    let mut entry = json!({
        "volid": volume.volid,
        "content": content,
        "format": volume.format,
        "size": volume.size,
    });
    if let Some(vmid) = volume.vmid {
        entry["vmid"] = json!(vmid);
    }
    if storage.layout() != Layout::Zfs {
        entry["ctime"] = json!(volume.created.secs());
    }
    match content {
        "images" | "rootdir" => add_image_fields(storage, volume, &mut entry),
        "backup" => add_backup_fields(volume, &mut entry),
        _ => {}
    }
    entry
}

/// What stands beside the common fields differs by type; LVM adds nothing, not even the base of a linked clone.
fn add_image_fields(storage: &Storage, volume: &Volume, entry: &mut Value) {
    let layout = storage.layout();
    let Ok(name) = layout.parse(volume.name()) else {
        return;
    };
    match layout {
        Layout::Files => {
            entry["used"] = json!(volume.used);
            entry["parent"] = json!(name.base.map(|base| format!("../{base}")));
        }
        Layout::Zfs | Layout::Rbd => {
            entry["name"] = json!(name.file);
            entry["parent"] = json!(name.base.map(|base| format!("{base}@__base__")));
        }
        Layout::Lvm | Layout::LvmThin | Layout::Backups => {}
    }
}

/// Of several lines of notes a directory lists the first.
fn add_backup_fields(volume: &Volume, entry: &mut Value) {
    entry["subtype"] = json!(volume.guest_kind());
    if let Some(notes) = volume.notes.as_deref().filter(|notes| !notes.is_empty()) {
        let is_file = !volume.format.starts_with("pbs-");
        let shown = if is_file {
            notes.lines().next()
        } else {
            Some(notes)
        };
        entry["notes"] = json!(shown);
    }
    if volume.protected {
        entry["protected"] = json!(1);
    }
}
