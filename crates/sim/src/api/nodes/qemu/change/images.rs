//! The images that drives in a change need.

use std::collections::BTreeMap;

use crate::api::nodes::guest::disk::{self, CLOUDINIT_SIZE, NewDisk};
use crate::api::nodes::guest::progress::transferred;
use crate::api::nodes::qemu::drive::Spec;
use crate::world::World;
use crate::world::config::{format_size, parse_size};
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use crate::world::layout::Layout;

/// Bytes that file systems take at most in one file.
const LARGEST_FILE: u64 = 16 << 40;
/// Bytes of the state of a TPM.
const TPM_SIZE: u64 = 4 << 20;
/// Bytes of the firmware's variables in a file: of old firmware with `efitype=2m`, and of today's.
const EFI_SIZES: (u64, u64) = (128 << 10, 528 << 10);
/// Bytes of the firmware's variables on storages that only make larger volumes.
const EFI_VOLUME_SIZE: u64 = 4 << 20;

/// Where a drive is made.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Place<'a> {
    pub(in super::super) node: &'a str,
    pub(in super::super) vmid: u32,
    /// New disks of a template are base images at once.
    pub(in super::super) template: bool,
}

/// Makes what a drive needs; answers the value for the config.
///
/// # Errors
/// What the storage says, or that the volume is not there.
pub(in super::super) fn make(
    world: &mut World,
    place: Place<'_>,
    key: &str,
    value: &str,
    log: &mut Vec<String>,
) -> Result<String, String> {
    let Some(mut drive) = Spec::parse(key, value) else {
        return Err("unable to parse drive options".to_owned());
    };
    if matches!(drive.file(), "none" | "cdrom") {
        drive.remove("size");
        return Ok(drive.print());
    }
    if let Some(id) = drive.file().strip_suffix(":cloudinit") {
        let id = id.to_owned();
        let format = Some(drive.get("format").unwrap_or("qcow2").to_owned());
        let disk = NewDisk {
            stem: Some(format!("vm-{}-cloudinit", place.vmid)),
            ..new_disk(place.vmid, id, format, CLOUDINIT_SIZE)
        };
        let (volid, line) = disk::allocate(world, place.node, &disk)?;
        log.extend(line);
        drive.set("file", &volid);
        drive.set("media", "cdrom");
    } else if let Some((id, gibibytes)) = drive.new_disk() {
        let (id, gibibytes) = (id.to_owned(), gibibytes.to_owned());
        let (volid, size) = match drive.get("import-from").map(str::to_owned) {
            Some(source) => import(world, place, &drive, &id, &source, log)
                .map_err(|error| format!("cannot import from '{source}' - {error}"))?,
            None => create(world, place, &drive, &id, &gibibytes, log)?,
        };
        drive.set("file", &volid);
        drive.set("size", &format_size(size));
        drive.remove("import-from");
    } else {
        return attach(world, place.node, drive);
    }
    drive.remove("format");
    let value = drive.print();
    log.push(format!("{key}: successfully created disk '{value}'"));
    Ok(value)
}

fn new_disk(vmid: u32, storage: String, format: Option<String>, size: u64) -> NewDisk {
    NewDisk {
        kind: Qemu,
        vmid,
        storage,
        format,
        size,
        used: 0,
        stem: None,
    }
}

fn create(
    world: &mut World,
    place: Place<'_>,
    drive: &Spec,
    id: &str,
    gibibytes: &str,
    log: &mut Vec<String>,
) -> Result<(String, u64), String> {
    let storage = world.storage_on(place.node, id)?;
    let layout = storage.layout();
    let (formats, default) = layout.formats();
    let format = drive.get("format").unwrap_or(default);
    if !formats.contains(&format) {
        return Err(format!("unsupported format '{format}'"));
    }
    let efi = match (drive.get("efitype"), layout) {
        (Some("4m"), Layout::Files) => EFI_SIZES.1,
        (_, Layout::Files) => EFI_SIZES.0,
        _ => EFI_VOLUME_SIZE,
    };
    let size = match drive.key.as_str() {
        "efidisk0" => efi,
        "tpmstate0" => TPM_SIZE,
        _ => parse_size(&format!("{gibibytes}G")).unwrap_or(u64::MAX),
    };
    if layout == Layout::Files && format == "raw" && size > LARGEST_FILE {
        let file = world.free_disk_file(place.node, id, place.vmid, format)?;
        let name = layout.plain_name(place.vmid, &file);
        let path = layout.parse(&name).map(|name| {
            world
                .storages
                .get(id)
                .map_or_else(String::new, |storage| storage.path_of(&name))
        })?;
        log.push(format!(
            "Formatting '{path}', fmt=raw size={size} preallocation=off"
        ));
        return Err(format!(
            "unable to create image: qemu-img: {path}: The image size is too large for file format 'raw'"
        ));
    }
    let disk = new_disk(place.vmid, id.to_owned(), Some(format.to_owned()), size);
    let (volid, line) = disk::allocate(world, place.node, &disk)?;
    log.extend(line);
    Ok((as_base(world, place, volid), size))
}

/// Copies an image into a new one.
fn import(
    world: &mut World,
    place: Place<'_>,
    drive: &Spec,
    id: &str,
    source: &str,
    log: &mut Vec<String>,
) -> Result<(String, u64), String> {
    let Some(volume) = world.volume(place.node, source).cloned() else {
        return Err(format!("could not get size of {source}"));
    };
    let owner = volume.vmid.and_then(|vmid| world.guests.get(&vmid));
    if owner.is_some_and(|guest| guest.node != place.node) {
        let vmid = volume.vmid.unwrap_or_default();
        return Err(format!("owner VM {vmid} not on local node"));
    }
    let source_key = owner.and_then(|guest| drive_of(guest, source));
    let name = source_key.map(|key| key + " ").unwrap_or_default();
    log.push(format!("create full clone of drive {name}({source})"));
    let format = drive.get("format").unwrap_or(&volume.format).to_owned();
    let disk = NewDisk {
        used: volume.used,
        ..new_disk(place.vmid, id.to_owned(), Some(format), volume.size)
    };
    let (volid, line) = disk::allocate(world, place.node, &disk)?;
    log.extend(line);
    log.push(format!("allocated target volume '{volid}'"));
    log.push(transferred(0, volume.size));
    log.push(transferred(volume.size, volume.size));
    Ok((as_base(world, place, volid), volume.size))
}

/// How much there is to copy for the drives among options.
pub(in super::super) fn bytes_to_import(
    world: &World,
    node: &str,
    options: &BTreeMap<String, String>,
) -> u64 {
    let drives = options
        .iter()
        .filter_map(|(key, value)| Spec::parse(key, value));
    drives
        .filter_map(|drive| world.volume(node, drive.get("import-from")?))
        .map(|volume| volume.size)
        .sum()
}

fn drive_of(guest: &Guest, volid: &str) -> Option<String> {
    let mut drives = guest.config.drives();
    let found = drives.find(|drive| drive.volume == volid);
    found.map(|drive| drive.key.to_owned())
}

/// The image as a base image, if its machine is a template.
fn as_base(world: &mut World, place: Place<'_>, volid: String) -> String {
    if !place.template {
        return volid;
    }
    let vmid = place.vmid;
    let renamed = volid.replace(&format!("vm-{vmid}-disk"), &format!("base-{vmid}-disk"));
    let image = world
        .volumes
        .iter_mut()
        .find(|volume| volume.volid == volid);
    if let Some(image) = image {
        image.volid.clone_from(&renamed);
    }
    renamed
}

/// A drive on a volume that is there already.
fn attach(world: &World, node: &str, mut drive: Spec) -> Result<String, String> {
    let volid = drive.file();
    if volid.starts_with("/dev/") {
        return Ok(drive.print());
    }
    let id = volid.split(':').next().unwrap_or_default();
    world.storage_on(node, id)?;
    let Some(volume) = world.volume(node, volid) else {
        return Err(format!("volume '{volid}' does not exist"));
    };
    let (key, wanted, real) = (&drive.key, drive.get("format"), volume.format.as_str());
    if let Some(wanted) = wanted.filter(|wanted| *wanted != real) {
        return Err(format!(
            "drive '{key}' - volume '{volid}' - 'format={wanted}' option different from storage format '{real}'"
        ));
    }
    drive.set("size", &format_size(volume.size));
    Ok(drive.print())
}
