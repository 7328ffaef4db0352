//! The archive that a backup becomes: its name, format and size.

use crate::clock::Time;
use crate::world::World;
use crate::world::guest::{Guest, Kind};
use crate::world::layout::Layout;
use crate::world::storage::{Storage, Volume};

/// Bytes that a backup of the guest has to read.
pub(super) fn bytes(world: &World, guest: &Guest) -> u64 {
    let volumes = guest
        .config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"));
    volumes
        .filter_map(|drive| world.volume(&guest.node, drive.volume))
        .map(|volume| volume.used)
        .sum()
}

/// The backup of a guest as a volume, begun at `now`.
pub(super) fn volume(
    (id, storage): (&str, &Storage),
    guest: &Guest,
    compress: &str,
    bytes: u64,
    now: Time,
) -> Volume {
    let vmid = guest.vmid;
    let stamp = now.to_string();
    let (date, time) = stamp.split_once(' ').unwrap_or_default();
    let (volid, format, size) = if storage.layout() == Layout::Backups {
        let kind = if guest.kind == Kind::Qemu { "vm" } else { "ct" };
        let volid = format!("{id}:backup/{kind}/{vmid}/{date}T{time}Z");
        (volid, format!("pbs-{kind}"), bytes)
    } else {
        let plain = if guest.kind == Kind::Qemu {
            "vma"
        } else {
            "tar"
        };
        let (format, share) = match compress {
            "1" | "lzo" => (format!("{plain}.lzo"), 2),
            "gzip" => (format!("{plain}.gz"), 3),
            "zstd" => (format!("{plain}.zst"), 4),
            _ => (plain.to_owned(), 1),
        };
        let stamp = format!("{}-{}", date.replace('-', "_"), time.replace(':', "_"));
        let volid = format!(
            "{id}:backup/vzdump-{}-{vmid}-{stamp}.{format}",
            guest.kind.name()
        );
        (volid, format, bytes / share)
    };
    let mut config = guest.config.clone();
    for key in ["lock", "parent"] {
        config.remove(key);
    }
    let owner = (!storage.shared).then(|| guest.node.clone());
    Volume {
        content: "backup".to_owned(),
        used: size,
        config: Some(config),
        ..Volume::image(volid, owner, vmid, &format, size, now)
    }
}

/// `49MB`, `1.20GB`: how the log tells the size of a file.
pub(super) fn file_size(bytes: u64) -> String {
    let (kib, mib, gib) = (bytes >> 10, bytes >> 20, bytes >> 30);
    if gib > 0 {
        let hundredths = ((bytes % (1 << 30)) * 100) >> 30;
        format!("{gib}.{hundredths:02}GB")
    } else if mib > 0 {
        format!("{mib}MB")
    } else {
        format!("{kib}KB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_those_of_pve() {
        assert_eq!(file_size(52_331_665), "49MB");
        assert_eq!(file_size(5 << 28), "1.25GB");
    }
}
