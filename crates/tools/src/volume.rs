//! What the name of a volume tells: whose it is, and which other names stand for the same one.

use pve::Vmid;

/// The guest that a volume belongs to, as PVE itself tells it: by its directory where it has one (`102/data.qcow2`), by
/// its name otherwise (`vm-105-disk-0`, `subvol-205-disk-0`). Images, templates and backups belong to none.
pub(crate) fn owner(volume: &str) -> Option<Vmid> {
    owners(volume).next()
}

/// Every guest that the place and the name of a volume speak of, the one that PVE goes by first. They differ in
/// `102/vm-999-disk-0.qcow2`.
pub(crate) fn owners(volume: &str) -> impl Iterator<Item = Vmid> {
    let mut parts = volume.rsplit(['/', ':']);
    let file = parts.next().unwrap_or_default();
    let directory = match parts.next() {
        Some("rootdir") => Some(file),
        other => other,
    };
    let name = ["vm-", "base-", "subvol-", "basevol-"]
        .iter()
        .find_map(|start| file.strip_prefix(start))
        .and_then(|rest| rest.split(['-', '.']).next());
    let vmid = |text: &str| Vmid::new(text.parse().ok()?).ok();
    let first = directory.and_then(vmid);
    let second = name.and_then(vmid).filter(|named| first != Some(*named));
    first.into_iter().chain(second)
}

/// The guest that a backup is of, by its name: `nas:backup/vzdump-qemu-105-….vma.zst`, `vault:backup/vm/105/2026-…Z`.
pub(crate) fn backup_of(volume: &str) -> Option<Vmid> {
    let name = match storage(volume) {
        Some(storage) => &volume[storage.len() + 1..],
        None => volume,
    };
    let name = name.strip_prefix("backup/")?;
    let rest = ["vzdump-qemu-", "vzdump-lxc-", "vm/", "ct/"]
        .iter()
        .find_map(|start| name.strip_prefix(start))?;
    Vmid::new(rest.split(['-', '/']).next()?.parse().ok()?).ok()
}

/// Whether two names stand for one disk of a guest: a linked clone goes with and without the disk that it is based on, and
/// a path of the node with no storage at all.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let same_place = match (storage(one), storage(other)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    same_place
        && last_part(one) == last_part(other)
        && owner(one).is_some_and(|vmid| owner(other) == Some(vmid))
}

/// The storage that a volume is on; a path of the node is on none.
pub(crate) fn storage(volume: &str) -> Option<&str> {
    let (storage, _) = volume.split_once(':')?;
    // The names of some backups hold a time.
    (!storage.contains('/')).then_some(storage)
}

/// The name of the volume itself, without its storage and directories.
pub(crate) fn last_part(volume: &str) -> &str {
    volume.rsplit(['/', ':']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_have_owners() {
        let id = |volume| owner(volume).map(Vmid::get);
        assert_eq!(id("local-lvm:vm-105-disk-0"), Some(105));
        assert_eq!(
            id("nas:900/base-900-disk-0.qcow2/111/vm-111-disk-0.qcow2"),
            Some(111)
        );
        assert_eq!(id("tank:basevol-290-disk-0/subvol-205-disk-0"), Some(205));
        assert_eq!(id("nas:102/data.qcow2"), Some(102));
        assert_eq!(id("nas:rootdir/205"), Some(205));
        assert_eq!(id("/mnt/pve/nas/images/102/data.qcow2"), Some(102));
        let all: Vec<u32> = owners("nas:102/vm-999-disk-0.qcow2")
            .map(Vmid::get)
            .collect();
        assert_eq!(all, [102, 999]);
        assert_eq!(id("nas:8"), None);
        assert_eq!(id("nas:iso/debian-13.iso"), None);
        assert_eq!(id("nas:backup/vzdump-qemu-105-2026.vma.zst"), None);
    }

    #[test]
    fn backups_are_of_guests() {
        let id = |volume| backup_of(volume).map(Vmid::get);
        assert_eq!(
            id("nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst"),
            Some(105)
        );
        assert_eq!(id("vault:backup/ct/202/2026-11-14T01:00:05Z"), Some(202));
        assert_eq!(id("backup/vm/100/2026-11-14T01:00:05Z"), Some(100));
        assert_eq!(id("nas:backup/other.tar.zst"), None);
        assert_eq!(id("local-lvm:vm-105-disk-0"), None);
    }

    #[test]
    fn a_volume_goes_by_several_names() {
        for (one, other, same) in [
            (
                "nas:105/vm-105-disk-0.raw",
                "nas:105/vm-105-disk-0.raw",
                true,
            ),
            (
                "nas:900/base-900-disk-0.qcow2/111/vm-111-disk-0.qcow2",
                "nas:111/vm-111-disk-0.qcow2",
                true,
            ),
            ("local-lvm:vm-105-disk-0", "/dev/pve/vm-105-disk-0", true),
            ("local-lvm:vm-105-disk-0", "tank:vm-105-disk-0", false),
            ("nas:102/data.qcow2", "nas:103/data.qcow2", false),
            ("nas:iso/debian-13.iso", "nas:iso/debian-13.iso", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }
}
