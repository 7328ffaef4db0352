//! Changes of a storage's volumes: making images, notes and protection of backups, removal.

use std::time::Duration;

use serde_json::{Value, json};

use super::storage_id;
use super::volume::{may_access, volume_id};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::require;
use crate::world::World;
use crate::world::config::parse_size;
use crate::world::layout::Layout;
use crate::world::upid::Upid;
use crate::world::work::Work;

/// `POST content`: makes an empty image. PVE takes any file name with a known extension.
pub(super) fn allocate(world: &mut World, call: &Call) -> Reply {
    let file = call.text("filename").unwrap_or_default();
    let by_name = file.rsplit_once('.').map(|(_, end)| end);
    let by_name = by_name.filter(|end| matches!(*end, "raw" | "qcow2" | "vmdk"));
    let asked = call.text("format");
    if let (Some(asked), Some(named)) = (asked, by_name.filter(|named| asked != Some(named))) {
        let text = format!("different storage formats ({asked} != {named})");
        return Err(ApiError::param("format", text));
    }
    let size = size_in_bytes(call.text("size").unwrap_or_default());
    let (node, vmid) = (call.node().to_owned(), call.vmid());
    let format = by_name.or(asked);
    let volid = world
        .allocate_image(&node, storage_id(call), vmid, format, Some(file), size)
        .map_err(ApiError::fail)?;
    Ok(json!(volid).into())
}

/// A number alone counts kibibytes.
fn size_in_bytes(text: &str) -> u64 {
    let unit = if text.ends_with(['M', 'G']) { "" } else { "K" };
    parse_size(&format!("{text}{unit}")).unwrap_or_default()
}

/// Whether a text is a size for [`allocate`].
pub(super) fn is_size(text: &str) -> bool {
    let digits = text.strip_suffix(['M', 'G']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `PUT content/{volume}`: notes and protection. PVE does not look whether the backup is there.
pub(super) fn annotate(world: &mut World, call: &Call) -> Reply {
    let volid = volume_id(call)?;
    may_access(world, &call.who, &volid)?;
    let name = world.parse_volid(&volid).map_err(ApiError::fail)?;
    let kind = world
        .storages
        .get(storage_id(call))
        .map(|storage| storage.kind.clone());
    let kind = kind.unwrap_or_default();
    let takes_attributes = matches!(Layout::of(&kind), Layout::Files | Layout::Backups);
    for attribute in ["notes", "protected"] {
        if !call.params.has(attribute) {
            continue;
        }
        if !takes_attributes {
            return Err(ApiError::fail(format!(
                "attribute '{attribute}' is not supported for storage type '{kind}'"
            )));
        }
        if name.content != "backup" {
            return Err(ApiError::fail(match attribute {
                "notes" => "only backups can have notes".to_owned(),
                _ => format!("only backups support attribute '{attribute}'"),
            }));
        }
    }
    if let Some(volume) = world.volume_mut(call.node(), &volid) {
        if let Some(notes) = call.text("notes") {
            volume.notes = Some(notes.to_owned()).filter(|notes| !notes.is_empty());
        }
        if call.params.has("protected") {
            volume.protected = call.flag("protected");
        }
    }
    done()
}

/// `DELETE content/{volume}`. Nobody asks whether a guest uses the volume, or whether it is there at all.
pub(super) fn remove(world: &mut World, call: &Call) -> Reply {
    let volid = volume_id(call)?;
    let name = world.parse_volid(&volid).map_err(ApiError::fail)?;
    let (id, owner) = (storage_id(call), name.owner);
    let storage_path = format!("/storage/{id}");
    match owner.filter(|_| name.content == "backup") {
        Some(owner) => {
            require(
                world,
                &call.who,
                &storage_path,
                &["Datastore.AllocateSpace"],
            )?;
            require(world, &call.who, &format!("/vms/{owner}"), &["VM.Backup"])?;
        }
        None => require(world, &call.who, &storage_path, &["Datastore.Allocate"])?,
    }
    let path = world
        .storages
        .get(id)
        .map(|storage| storage.path_of(&name))
        .unwrap_or_default();
    let task_id = owner.map_or_else(|| id.to_owned(), |owner| format!("{owner}@{id}"));
    let node = call.node().to_owned();
    let work = Work::new("imgdel", task_id).run(move |world, job| {
        if !world.free_volume(&node, &volid)? {
            job.log(format!("disk image '{path}' does not exist"));
        }
        job.log(format!("Removed volume '{volid}'"));
        Ok(())
    });
    let upid = world.start_task(&call.who, call.node(), work);
    if call.params.has("delay") {
        return wait_for(world, &upid);
    }
    Ok(json!(upid).into())
}

/// The removal takes no time, so a caller who waits sees its end: nothing, or what went wrong.
fn wait_for(world: &mut World, upid: &str) -> Reply {
    world.advance(Duration::ZERO);
    let task = Upid::parse(upid).and_then(|upid| world.tasks.find(&upid));
    match task.and_then(|task| task.end.as_ref()) {
        Some(end) if end.status == "OK" => Ok(Value::Null.into()),
        Some(end) => Err(ApiError::fail(end.status.clone())),
        None => Ok(json!(upid).into()),
    }
}
