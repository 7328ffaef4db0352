//! Drives in a change: what is asked for, and whether it is allowed.

use std::collections::BTreeMap;

use super::rights::Owner;
use crate::api::nodes::qemu::drive::{Spec, is_drive};
use crate::api::nodes::storage::volume::may_access;
use crate::error::ApiError;
use crate::permission::require;
use crate::world::World;
use crate::world::layout::Layout;

const PATHS_ARE_ROOTS: &str =
    "Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 651.";

/// Checks the drives among options and writes them as configs hold them.
///
/// # Errors
/// What is wrong with the first that is wrong.
pub(in super::super) fn normalize(
    world: &World,
    vmid: u32,
    set: &mut BTreeMap<String, String>,
) -> Result<(), ApiError> {
    for (key, value) in set.iter_mut().filter(|(key, _)| is_drive(key)) {
        let Some(mut drive) = Spec::parse(key, value) else {
            return Err(ApiError::param(key, "unable to parse drive options"));
        };
        check_import(&drive)?;
        if drive.file().starts_with('/') && !drive.file().starts_with("/dev/") {
            let path = drive.file();
            let text = format!("unable to associate path '{path}' to any storage");
            return Err(ApiError::param(key, text));
        }
        if matches!(drive.file(), "none" | "cdrom") && drive.get("media").is_none() {
            drive.set("media", "cdrom");
        }
        check_media(world, &drive)?;
        check_replication(world, vmid, &drive)?;
        *value = drive.print();
    }
    Ok(())
}

fn check_import(drive: &Spec) -> Result<(), ApiError> {
    let wrong = |text: &str| Err(ApiError::param(&drive.key, text));
    if drive.get("import-from").is_none() {
        return Ok(());
    }
    let empty = drive
        .new_disk()
        .is_some_and(|(_, size)| size.parse() == Ok(0.0));
    if !empty {
        return wrong(
            "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>",
        );
    }
    match drive.key.as_str() {
        "efidisk0" if drive.get("efitype").is_none() => {
            wrong("need to specify 'efitype' when using 'import-from'")
        }
        "efidisk0" if drive.get("pre-enrolled-keys").is_none() => {
            wrong("need to specify 'pre-enrolled-keys' when using 'import-from'")
        }
        "tpmstate0" if drive.get("version").is_none() => {
            wrong("need to specify 'version' when using 'import-from'")
        }
        _ => Ok(()),
    }
}

/// Whether the drive names a volume that is there already, or should be.
fn names_volume(drive: &Spec) -> bool {
    drive.new_disk().is_none()
        && drive.file().contains(':')
        && !drive.file().ends_with(":cloudinit")
}

fn check_media(world: &World, drive: &Spec) -> Result<(), ApiError> {
    if !names_volume(drive) || drive.file().starts_with('/') {
        return Ok(());
    }
    let name = world.parse_volid(drive.file()).map_err(ApiError::fail)?;
    if name.content == "iso" && !drive.is_cdrom() {
        let text = "explicit 'media=cdrom' is required for iso images";
        return Err(ApiError::param(&drive.key, text));
    }
    Ok(())
}

/// A replicated machine takes only disks that can be replicated.
fn check_replication(world: &World, vmid: u32, drive: &Spec) -> Result<(), ApiError> {
    let job_of = format!("{vmid}-");
    let replicated = world
        .replication_jobs
        .keys()
        .any(|id| id.starts_with(&job_of));
    let left_out = drive.is_cdrom() || drive.is_cloudinit() || drive.get("replicate") == Some("0");
    if !replicated || left_out {
        return Ok(());
    }
    let Some((id, _)) = drive.file().split_once(':') else {
        return Err(ApiError::fail(
            "cannot add non-managed/pass-through volume to a replicated VM",
        ));
    };
    match world.storages.get(id) {
        Some(storage) if !storage.shared && storage.layout() != Layout::Zfs => Err(ApiError::fail(
            "cannot add non-replicatable volume to a replicated VM",
        )),
        _ => Ok(()),
    }
}

/// Whether the caller may use the storages and volumes that drives name.
///
/// # Errors
/// 403, or what is wrong with a storage or volume.
pub(in super::super) fn check_access(
    world: &World,
    owner: &Owner<'_>,
    set: &BTreeMap<String, String>,
) -> Result<(), ApiError> {
    let drives = set.iter().filter(|(key, _)| is_drive(key));
    for drive in drives.filter_map(|(key, value)| Spec::parse(key, value)) {
        check_file(world, owner, &drive)?;
        if let Some(source) = drive.get("import-from") {
            check_source(world, owner, &drive.key, source)?;
        }
    }
    match set.get("vmstatestorage") {
        Some(id) => require_space(world, owner, id),
        None => Ok(()),
    }
}

fn require_space(world: &World, owner: &Owner<'_>, storage: &str) -> Result<(), ApiError> {
    let path = format!("/storage/{storage}");
    require(world, owner.who, &path, &["Datastore.AllocateSpace"])
}

fn check_file(world: &World, owner: &Owner<'_>, drive: &Spec) -> Result<(), ApiError> {
    match (drive.file(), drive.new_disk()) {
        ("none", _) => Ok(()),
        (file, _) if file.ends_with(":cloudinit") => Ok(()),
        ("cdrom", _) => require(world, owner.who, "/", &["Sys.Console"]),
        (_, Some((id, _))) if !drive.is_cdrom() => {
            require_space(world, owner, id)?;
            match world.storages.get(id) {
                None => Err(ApiError::fail(format!("storage '{id}' does not exist"))),
                Some(storage) if !storage.holds("images") => Err(ApiError::param(
                    "storage",
                    format!("storage '{id}' does not support vm images"),
                )),
                Some(_) => Ok(()),
            }
        }
        (file, _) => {
            check_volume(world, owner, file)?;
            let content = world.parse_volid(file).map(|name| name.content);
            if content.is_ok_and(|content| !matches!(content, "images" | "iso")) {
                let text = "content type needs to be 'images' or 'iso'";
                return Err(ApiError::param(&drive.key, text));
            }
            Ok(())
        }
    }
}

/// Whether the caller may use a volume: always if it belongs to the machine.
fn check_volume(world: &World, owner: &Owner<'_>, file: &str) -> Result<(), ApiError> {
    if file.starts_with('/') {
        return if owner.who.is_root() {
            Ok(())
        } else {
            Err(ApiError::fail(PATHS_ARE_ROOTS))
        };
    }
    let name = world.parse_volid(file).map_err(ApiError::fail)?;
    if name.content == "images" && name.owner == Some(owner.vmid) {
        return Ok(());
    }
    may_access(world, owner.who, file)
}

fn check_source(world: &World, owner: &Owner<'_>, key: &str, source: &str) -> Result<(), ApiError> {
    if source.starts_with('/') {
        return check_volume(world, owner, source);
    }
    let name = world.parse_volid(source).map_err(ApiError::fail)?;
    if !matches!(name.content, "images" | "import") {
        let kind = name.content;
        let text = format!("{source} has wrong type '{kind}' - needs to be 'images' or 'import'");
        return Err(ApiError::param(key, text));
    }
    match name.owner {
        Some(vmid) => require(world, owner.who, &format!("/vms/{vmid}"), &["VM.Clone"]),
        None => may_access(world, owner.who, source),
    }
}
