//! Disks as configs write them, and the lines that making one leaves in a task log.

use crate::world::World;
use crate::world::config::{Drive, format_size};
use crate::world::guest::Kind;
use crate::world::layout::Layout;
use crate::world::storage::Volume;

/// Bytes of a cloud-init drive.
pub(crate) const CLOUDINIT_SIZE: u64 = 4 << 20;

/// Whether a drive is a machine's cloud-init drive.
pub(crate) fn is_cloudinit(drive: &Drive<'_>) -> bool {
    let file = drive.volume.rsplit(['/', ':']).next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    drive.is_cdrom() && stem.starts_with("vm-") && stem.ends_with("-cloudinit")
}

/// The value of a drive on another volume: its options stay, but the size is that of the volume.
pub(crate) fn on_volume(options: &str, volid: &str, size: u64) -> String {
    let size = format!("size={}", format_size(size));
    let mut parts: Vec<&str> = options
        .split(',')
        .filter(|part| !part.is_empty() && !part.starts_with("format="))
        .collect();
    if let Some(at) = parts.iter().position(|part| part.starts_with("size=")) {
        parts[at] = &size;
    } else {
        let at = parts.partition_point(|part| *part < size.as_str());
        parts.insert(at, &size);
    }
    format!("{volid},{}", parts.join(","))
}

/// The image a new disk needs.
#[derive(Clone, Debug)]
pub(crate) struct NewDisk {
    pub(crate) kind: Kind,
    pub(crate) vmid: u32,
    pub(crate) storage: String,
    /// What was asked for; a storage that cannot do it takes its own.
    pub(crate) format: Option<String>,
    pub(crate) size: u64,
    pub(crate) used: u64,
    /// A name other than that of the next free disk, without an extension: `vm-100-cloudinit`.
    pub(crate) stem: Option<String>,
}

/// Makes the image on a node; answers its volume id and what the log says about it.
///
/// # Errors
/// What the storage says.
pub(crate) fn allocate(
    world: &mut World,
    node: &str,
    disk: &NewDisk,
) -> Result<(String, Option<String>), String> {
    let layout = world.storage_on(node, &disk.storage)?.layout();
    let (formats, default) = layout.formats();
    let wanted = disk.format.as_deref().unwrap_or(default);
    let format = if formats.contains(&wanted) {
        wanted
    } else {
        default
    };
    let file = disk.stem.as_ref().map(|stem| match layout {
        Layout::Files => format!("{stem}.{format}"),
        _ => stem.clone(),
    });
    let id = disk.storage.as_str();
    let (file, format) = (file.as_deref(), Some(format));
    let volid = world.allocate_image(node, id, disk.vmid, format, file, disk.size)?;
    finish_volume(world, node, &volid, disk.kind, disk.used);
    let line = allocation_line(world, &volid, disk.size);
    Ok((volid, line))
}

/// Makes a linked clone of a base image, or of a snapshot, on the same storage.
///
/// # Errors
/// What the storage says.
pub(crate) fn link(
    world: &mut World,
    node: &str,
    kind: Kind,
    vmid: u32,
    base: &str,
    snapshot: bool,
) -> Result<(String, Vec<String>), String> {
    let (id, base_name) = base.split_once(':').unwrap_or((base, ""));
    let storage = world.storage_on(node, id)?;
    let (layout, shared) = (storage.layout(), storage.shared);
    let parsed = layout.parse(base_name)?;
    let format = match (layout, parsed.format) {
        (Layout::Files, "raw" | "vmdk") => "qcow2",
        (_, format) => format,
    };
    let file = world.free_disk_file(node, id, vmid, format)?;
    let name = if snapshot {
        layout.plain_name(vmid, &file)
    } else {
        layout.linked_name(base_name, vmid, &file)
    };
    let volid = format!("{id}:{name}");
    let source = world.volume(node, base);
    let size = source.map_or(0, |volume| volume.size);
    let lines = link_lines(world, base, &file, vmid, size);
    let owner = (!shared).then(|| node.to_owned());
    let image = Volume::image(volid.clone(), owner, vmid, format, size, world.now);
    let used = image.used;
    world.volumes.push(image);
    finish_volume(world, node, &volid, kind, used);
    Ok((volid, lines))
}

/// Gives an image to another guest: it gets a name of its new owner, which is the answer.
///
/// # Errors
/// What the storage says.
pub(crate) fn hand_over(
    world: &mut World,
    node: &str,
    old: &str,
    owner: u32,
) -> Result<String, String> {
    let id = old.split(':').next().unwrap_or_default();
    let format = world.parse_volid(old)?.format;
    let file = world.free_disk_file(node, id, owner, format)?;
    let layout = world.storage_on(node, id)?.layout();
    let new = format!("{id}:{}", layout.plain_name(owner, &file));
    if let Some(volume) = world.volume_mut(node, old) {
        volume.volid.clone_from(&new);
        volume.vmid = Some(owner);
    }
    Ok(new)
}

/// A container's disks count as `rootdir`, and a copy takes up what its source did.
fn finish_volume(world: &mut World, node: &str, volid: &str, kind: Kind, used: u64) {
    if let Some(volume) = world.volume_mut(node, volid) {
        if kind == Kind::Lxc {
            "rootdir".clone_into(&mut volume.content);
        }
        volume.used = volume.used.max(used).min(volume.size);
    }
}

/// What the tools behind a storage print when they make an image; ZFS and Ceph print nothing.
pub(crate) fn allocation_line(world: &World, volid: &str, size: u64) -> Option<String> {
    let (id, _) = volid.split_once(':')?;
    let storage = world.storages.get(id)?;
    let name = world.parse_volid(volid).ok()?;
    match storage.layout() {
        Layout::Files => {
            let path = storage.path_of(&name);
            let details = match name.format {
                "qcow2" => format!(
                    "fmt=qcow2 cluster_size=65536 extended_l2=off preallocation=metadata compression_type=zlib \
                     size={size} lazy_refcounts=off refcount_bits=16"
                ),
                format => format!("fmt={format} size={size} preallocation=off"),
            };
            Some(format!("Formatting '{path}', {details}"))
        }
        Layout::Lvm | Layout::LvmThin => {
            Some(format!("  Logical volume \"{}\" created.", name.file))
        }
        Layout::Zfs | Layout::Rbd | Layout::Backups => None,
    }
}

fn link_lines(world: &World, base: &str, file: &str, vmid: u32, size: u64) -> Vec<String> {
    let (id, base_name) = base.split_once(':').unwrap_or((base, ""));
    let Some(storage) = world.storages.get(id) else {
        return Vec::new();
    };
    match storage.layout() {
        Layout::Files => {
            let root = storage.props.get("path").map_or("", String::as_str);
            let format = base_name.rsplit('.').next().unwrap_or_default();
            vec![
                format!(
                    "clone {base_name}: images, {file}, {vmid} to {file} (base=../{base_name})"
                ),
                format!(
                    "Formatting '{root}/images/{vmid}/{file}', fmt=qcow2 cluster_size=131072 extended_l2=on \
                     preallocation=metadata compression_type=zlib size={size} backing_file=../{base_name} \
                     backing_fmt={format} lazy_refcounts=off refcount_bits=16"
                ),
            ]
        }
        Layout::Lvm | Layout::LvmThin => vec![format!("  Logical volume \"{file}\" created.")],
        Layout::Zfs | Layout::Rbd | Layout::Backups => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_keeps_its_options_on_another_volume() {
        let moved = |options| on_volume(options, "tank:vm-1-disk-0", 2 << 30);
        assert_eq!(
            moved("discard=on,size=1G,ssd=1"),
            "tank:vm-1-disk-0,discard=on,size=2G,ssd=1"
        );
        assert_eq!(
            moved("format=raw,media=cdrom"),
            "tank:vm-1-disk-0,media=cdrom,size=2G"
        );
        assert_eq!(moved(""), "tank:vm-1-disk-0,size=2G");
    }
}
