//! The volumes of a container: root disk and mount points, as configs write them.

use super::options::{MOUNT, ROOTFS};
use crate::api::nodes::guest::disk::{self, NewDisk};
use crate::schema::property::Properties;
use crate::world::World;
use crate::world::config::{format_size, parse_size};
use crate::world::guest::Kind::Lxc;
use crate::world::layout::Layout;

/// What a root disk or mount point is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// A volume of a storage.
    Volume(&'a str),
    /// A volume that is yet to be made: the storage and its size in bytes.
    New(&'a str, u64),
    /// A device of the host.
    Device,
    /// A directory of the host.
    Bind,
}

impl Source<'_> {
    /// As messages name it.
    pub(super) const fn sort(self) -> &'static str {
        match self {
            Self::Volume(_) | Self::New(..) => "volume",
            Self::Device => "device",
            Self::Bind => "bind",
        }
    }
}

/// Whether a key names the root disk or a mount point.
pub(super) fn is_mount_key(key: &str) -> bool {
    let number = key.strip_prefix("mp");
    key == "rootfs" || number.is_some_and(|number| number.parse::<u8>().is_ok())
}

/// Whether a key names a volume that is kept but not used.
pub(super) fn is_unused_key(key: &str) -> bool {
    let number = key.strip_prefix("unused");
    number.is_some_and(|number| number.parse::<u8>().is_ok())
}

fn form(key: &str) -> &'static Properties {
    if key == "rootfs" { &ROOTFS } else { &MOUNT }
}

/// What a value of `rootfs` or a mount point stands for.
pub(super) fn source(value: &str) -> Source<'_> {
    let first = value.split(',').next().unwrap_or_default();
    let volume = first.strip_prefix("volume=").unwrap_or(first);
    if volume.starts_with("/dev/") {
        return Source::Device;
    }
    if volume.starts_with('/') {
        return Source::Bind;
    }
    let size = |text: &str| {
        let number = text.starts_with(|first: char| first.is_ascii_digit());
        number.then(|| parse_size(&format!("{text}G"))).flatten()
    };
    match volume.split_once(':') {
        Some((storage, rest)) => match size(rest) {
            Some(bytes) => Source::New(storage, bytes),
            None => Source::Volume(volume),
        },
        None => Source::Volume(volume),
    }
}

/// The value as PVE writes it, on this volume and with this size.
pub(super) fn written(key: &str, value: &str, volid: &str, size: Option<u64>) -> String {
    let size = size.map(format_size);
    let form = form(key);
    let given = form.split(value).unwrap_or_default();
    let mut pairs: Vec<(&str, &str)> = given
        .into_iter()
        .filter(|(key, _)| *key != "volume" && (*key != "size" || size.is_none()))
        .collect();
    pairs.push(("volume", volid));
    if let Some(size) = &size {
        pairs.push(("size", size));
    }
    form.join(&pairs)
}

/// Makes the volume of a key if it is a new one. Answers the value as the config keeps it.
///
/// # Errors
/// What the storage says.
pub(super) fn realize(
    world: &mut World,
    node: &str,
    vmid: u32,
    (key, value): (&str, &str),
    log: &mut Vec<String>,
) -> Result<String, String> {
    match source(value) {
        Source::New(storage, size) => {
            let volid = make(world, node, vmid, storage, size, log)?;
            Ok(written(key, value, &volid, Some(size)))
        }
        Source::Volume(volid) => {
            let size = world.volume(node, volid).map(|volume| volume.size);
            Ok(written(key, value, volid, size))
        }
        Source::Device | Source::Bind => Ok(value.to_owned()),
    }
}

/// Makes a volume with a file system on it.
pub(super) fn make(
    world: &mut World,
    node: &str,
    vmid: u32,
    storage: &str,
    size: u64,
    log: &mut Vec<String>,
) -> Result<String, String> {
    let definition = world.storage_on(node, storage)?;
    if !definition.holds("rootdir") {
        return Err(format!(
            "content type 'rootdir' is not available or configured on storage '{storage}'"
        ));
    }
    let is_subvol = definition.layout() == Layout::Zfs;
    let disk = NewDisk {
        kind: Lxc,
        vmid,
        storage: storage.to_owned(),
        format: Some(if is_subvol { "subvol" } else { "raw" }.to_owned()),
        size,
        used: 0,
        stem: None,
    };
    let (volid, line) = disk::allocate(world, node, &disk)?;
    log.extend(line);
    if !is_subvol {
        log.extend(file_system_lines(&world.new_uuid(), size));
    }
    Ok(volid)
}

/// What `mkfs.ext4` prints.
fn file_system_lines(uuid: &str, size: u64) -> [String; 4] {
    let blocks = size / 4096;
    let mut groups: Vec<u64> = [3_u64, 5, 7]
        .iter()
        .flat_map(|base| (1..12).map(move |power| base.pow(power)))
        .chain([1])
        .map(|group| group * 32768)
        .filter(|block| *block < blocks)
        .collect();
    groups.sort_unstable();
    let backups: Vec<String> = groups.iter().map(u64::to_string).collect();
    [
        format!(
            "Creating filesystem with {blocks} 4k blocks and {} inodes",
            blocks / 4
        ),
        format!("Filesystem UUID: {uuid}"),
        "Superblock backups stored on blocks: ".to_owned(),
        format!("\t{}", backups.join(", ")),
    ]
}

/// Makes the volumes that a change has waited with until the container stopped.
///
/// # Errors
/// What the storage says.
pub(super) fn realize_waiting(world: &mut World, node: &str, vmid: u32) -> Result<(), String> {
    let Some(guest) = world.guest(Lxc, node, vmid) else {
        return Ok(());
    };
    let keys = guest.config.iter().filter(|(key, _)| is_mount_key(key));
    let new = keys.filter(|(_, value)| matches!(source(value), Source::New(..)));
    let new: Vec<(String, String)> = new
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    for (key, value) in new {
        let value = realize(world, node, vmid, (&key, &value), &mut Vec::new())?;
        if let Some(guest) = world.guest_mut(Lxc, node, vmid) {
            guest.config.set(key, value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        assert_eq!(source("local:8,mp=/x"), Source::New("local", 8 << 30));
        assert_eq!(source("local:0.5"), Source::New("local", 1 << 29));
        let volume = "local:200/vm-200-disk-0.raw";
        assert_eq!(source(volume), Source::Volume(volume));
        assert_eq!(source("/dev/sdb,mp=/x"), Source::Device);
        assert_eq!(source("/srv,mp=/x"), Source::Bind);
    }

    #[test]
    fn values_are_written_in_order() {
        assert_eq!(
            written(
                "mp0",
                "local:1,backup=1,mp=/data",
                "local:vm-1-disk-1",
                Some(1 << 30)
            ),
            "local:vm-1-disk-1,mp=/data,backup=1,size=1G"
        );
    }

    #[test]
    fn file_systems_have_backups_of_their_superblock() {
        let [first, .., last] = file_system_lines("u", 4 << 30);
        assert_eq!(
            first,
            "Creating filesystem with 1048576 4k blocks and 262144 inodes"
        );
        assert_eq!(
            last,
            "\t32768, 98304, 163840, 229376, 294912, 819200, 884736"
        );
    }
}
