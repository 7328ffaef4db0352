//! One volume of a storage.

use serde_json::json;

use super::storage_id;
use crate::call::{Call, Identity};
use crate::error::{ApiError, Reply};
use crate::permission::{require, require_any};
use crate::world::World;
use crate::world::layout::{Layout, Name};
use crate::world::storage::Volume;

/// PVE tells the line of its source here.
const HOST_PATH: &str =
    "Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 651.";

/// `GET content/{volume}`.
pub(super) fn show(world: &mut World, call: &Call) -> Reply {
    let volid = volume_id(call)?;
    may_access(world, &call.who, &volid)?;
    let name = world.parse_volid(&volid).map_err(ApiError::fail)?;
    let storage = world
        .storages
        .get(storage_id(call))
        .ok_or_else(|| ApiError::fail(format!("storage '{}' does not exist", storage_id(call))))?;
    let layout = storage.layout();
    let path = storage.path_of(&name);
    let Some(volume) = world.volume(call.node(), &volid) else {
        return Err(ApiError::fail(not_found(layout, &volid, &path)));
    };
    let (size, used) = sizes(layout, volume);
    let mut shown = json!({ "path": path, "format": name.format, "size": size, "used": used });
    if name.content == "backup" {
        shown["notes"] = json!(volume.notes.as_deref().unwrap_or_default());
        shown["protected"] = json!(u8::from(volume.protected));
    }
    Ok(shown.into())
}

/// The volume of the path, with its storage in front.
pub(super) fn volume_id(call: &Call) -> Result<String, ApiError> {
    let (id, volume) = (storage_id(call), call.text("volume").unwrap_or_default());
    match volume.split_once(':') {
        None => Ok(format!("{id}:{volume}")),
        Some((other, _)) if other != id => Err(ApiError::param(
            "volume",
            format!("storage ID mismatch ({other} != {id})\n"),
        )),
        Some(_) => Ok(volume.to_owned()),
    }
}

/// Whether the caller may use a volume.
///
/// # Errors
/// 403, or 500 for a name that its storage does not understand.
pub(crate) fn may_access(world: &World, who: &Identity, volid: &str) -> Result<(), ApiError> {
    let name = world.parse_volid(volid).map_err(ApiError::fail)?;
    may_access_as(world, who, volid, &name, None)
}

/// Whether the caller may use a volume for a guest as content of this type: `vztmpl`, `backup`, `rootdir`, ...
///
/// # Errors
/// 403, or 500 for a wrong type, a name that its storage does not understand, or a path of the host.
pub(crate) fn may_use(
    world: &World,
    who: &Identity,
    volid: &str,
    vmid: u32,
    content: &str,
) -> Result<(), ApiError> {
    if crate::schema::format::volume_id(volid).is_err() {
        return if who.is_root() {
            Ok(())
        } else {
            Err(ApiError::fail(HOST_PATH))
        };
    }
    let name = world.parse_volid(volid).map_err(ApiError::fail)?;
    let is_image = content == "rootdir" && name.content == "images";
    if name.content != content && !is_image {
        return Err(ApiError::fail(format!(
            "unable to use volume {volid} - content type needs to be '{content}'"
        )));
    }
    may_access_as(world, who, volid, &name, Some(vmid))
}

/// Whether the caller may look into a backup.
///
/// # Errors
/// As [`may_use`] has them.
pub(crate) fn may_read_backup(world: &World, who: &Identity, volid: &str) -> Result<(), ApiError> {
    may_use(world, who, volid, 0, "backup")
}

fn may_access_as(
    world: &World,
    who: &Identity,
    volid: &str,
    name: &Name<'_>,
    vmid: Option<u32>,
) -> Result<(), ApiError> {
    let id = volid.split(':').next().unwrap_or_default();
    let path = format!("/storage/{id}");
    if world.may(who, &path, "Datastore.Allocate") {
        return Ok(());
    }
    match (name.content, name.owner) {
        ("iso" | "vztmpl" | "import", _) => require_any(
            world,
            who,
            &path,
            &["Datastore.AllocateSpace", "Datastore.Audit"],
        ),
        (_, Some(owner)) if Some(owner) == vmid => Ok(()),
        ("backup", Some(owner)) => {
            require(world, who, &path, &["Datastore.AllocateSpace"])?;
            require(world, who, &format!("/vms/{owner}"), &["VM.Backup"])
        }
        ("images", Some(owner)) => {
            require(world, who, &path, &["Datastore.Audit"])?;
            require(world, who, &format!("/vms/{owner}"), &["VM.Config.Disk"])
        }
        _ => Err(ApiError::fail(format!(
            "missing privileges to access {volid}"
        ))),
    }
}

/// Size and space taken. A file that is no image is measured like one, in whole sectors and blocks.
fn sizes(layout: Layout, volume: &Volume) -> (u64, u64) {
    match (layout, volume.content.as_str()) {
        (Layout::Files, "images" | "rootdir") | (Layout::Zfs, _) => (volume.size, volume.used),
        (Layout::Files, _) => (
            volume.size.next_multiple_of(512),
            volume.size.next_multiple_of(4096),
        ),
        (Layout::Backups, _) => (volume.size, volume.size),
        (Layout::Lvm | Layout::LvmThin | Layout::Rbd, _) => (volume.size, 0),
    }
}

fn not_found(layout: Layout, volid: &str, path: &str) -> String {
    match layout {
        Layout::Files => format!("volume_size_info on '{volid}' failed - no format"),
        Layout::Zfs => {
            let dataset = path
                .trim_start_matches("/dev/zvol/")
                .trim_start_matches('/');
            format!("zfs error: cannot open '{dataset}': dataset does not exist")
        }
        Layout::Lvm | Layout::LvmThin => {
            let volume = path.trim_start_matches("/dev/");
            format!("can't get size of '{path}':   Failed to find logical volume \"{volume}\"")
        }
        Layout::Rbd | Layout::Backups => format!("volume '{volid}' does not exist"),
    }
}
