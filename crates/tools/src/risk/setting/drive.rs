//! Drives of VMs, and volumes of containers.

use super::{Old, Setting};
use crate::risk::property::{Part, flag, parts};
use crate::risk::row::{Finding, found, over_node};
use crate::spec::Risk;
use crate::volume::{last_part, owners, storage};

/// Keys that name a volume: `volume` and `file` are one to PVE, and which of two wins depends on its version.
const VOLUME: &[&str] = &["file", "volume"];

/// Keys that can neither lose data nor reach beyond the guest, whatever their value.
pub(super) const SAFE: &[&str] = &[
    "acl",
    "aio",
    "bps",
    "bps_max_length",
    "bps_rd",
    "bps_rd_length",
    "bps_rd_max_length",
    "bps_wr",
    "bps_wr_length",
    "bps_wr_max_length",
    "cyls",
    "detect_zeroes",
    "discard",
    "efitype",
    "format",
    "heads",
    "iops",
    "iops_max",
    "iops_max_length",
    "iops_rd",
    "iops_rd_length",
    "iops_rd_max",
    "iops_rd_max_length",
    "iops_wr",
    "iops_wr_length",
    "iops_wr_max",
    "iops_wr_max_length",
    "iothread",
    "keepattrs",
    "mbps",
    "mbps_max",
    "mbps_rd",
    "mbps_rd_max",
    "mbps_wr",
    "mbps_wr_max",
    "model",
    "mountoptions",
    "ms-cert",
    "pre-enrolled-keys",
    "product",
    "queues",
    "quota",
    "rerror",
    "ro",
    "scsiblock",
    "secs",
    "serial",
    "size",
    "ssd",
    "trans",
    "vendor",
    "version",
    "werror",
    "wwn",
];

/// Keys that are looked at below.
#[cfg(test)]
pub(super) const JUDGED: &[&str] = &[
    "backup",
    "cache",
    "file",
    "idmap",
    "import-from",
    "media",
    "mp",
    "replicate",
    "shared",
    "snapshot",
    "volume",
];

/// The root disk or a mount point of a container. What is mounted in a running container hides what was there.
pub(crate) fn mount(setting: &Setting<'_>) -> Option<Finding> {
    let found_in_value = drive(setting);
    if setting.new.is_some() && !setting.stays() && setting.old != Old::New {
        let mounts = Finding {
            risk: Risk::Disrupt,
            why: "mounts a volume in the running container, over what is there",
            over_node: false,
        };
        return worst([found_in_value, Some(mounts)]);
    }
    found_in_value
}

/// A detached volume, which is removed with its entry.
pub(crate) fn unused(setting: &Setting<'_>) -> Option<Finding> {
    match setting.new {
        None if setting.is_added() => None,
        None => found(Risk::Destroy, "removes a detached volume"),
        Some(_) => drive(setting),
    }
}

/// A drive of a VM, by every volume and property that its value names.
pub(crate) fn drive(setting: &Setting<'_>) -> Option<Finding> {
    if setting.stays() {
        return None;
    }
    let Some(new) = setting.new else {
        return replaced(setting, None);
    };
    let mut volumes = Vec::new();
    let mut findings = Vec::new();
    for part in parts(new) {
        match part {
            Part::Default(volume) => volumes.push(volume),
            Part::Pair(key, volume) if VOLUME.contains(&key) => volumes.push(volume),
            Part::Pair(key, value) => findings.push(property(setting, key, value)),
            Part::Malformed(_) => findings.push(found(Risk::Grant, "cannot be read")),
        }
    }
    let attached = setting.was().and_then(volume_of);
    let new_ones = volumes.iter().filter(|volume| attached != Some(**volume));
    findings.extend(new_ones.map(|volume| named(setting, volume)));
    findings.push(match volumes.as_slice() {
        [volume] => replaced(setting, Some(volume)),
        [] => found(Risk::Grant, "names no volume"),
        _ => found(
            Risk::Grant,
            "names two volumes, and which one counts depends on the version of PVE",
        ),
    });
    worst(findings)
}

/// What one property does.
fn property(setting: &Setting<'_>, key: &str, value: &str) -> Option<Finding> {
    let is_on = flag(value) != Some(false);
    // Unset and unknown count as on: PVE's default for both.
    let may_have_had =
        !setting.is_added() && before(setting, key).is_none_or(|old| flag(old) != Some(false));
    match key {
        "snapshot" if is_on && before(setting, key).and_then(flag) != Some(true) => found(
            Risk::Destroy,
            "discards what is written to the disk at every stop",
        ),
        "backup" if flag(value) != Some(true) && may_have_had => {
            found(Risk::Destroy, "leaves the volume out of backups")
        }
        "replicate" if flag(value) != Some(true) && may_have_had => {
            found(Risk::Destroy, "ends the replication of the volume")
        }
        "cache" if value.eq_ignore_ascii_case("unsafe") && before(setting, key) != Some(value) => {
            found(
                Risk::Destroy,
                "can lose what was written when the node fails",
            )
        }
        "media" if value.eq_ignore_ascii_case("cdrom") => None,
        "shared" if is_on && before(setting, key).and_then(flag) != Some(true) => {
            found(Risk::Destroy, "two nodes may write to the volume at a time")
        }
        "import-from" => imported(value),
        "idmap" => over_node("maps users of the container to users of the node"),
        "snapshot" | "backup" | "replicate" | "cache" | "media" | "shared" | "mp" => None,
        key if SAFE.contains(&key) => None,
        _ => found(Risk::Grant, "is not in the risk table"),
    }
}

/// The value of a property before.
fn before<'a>(setting: &Setting<'a>, key: &str) -> Option<&'a str> {
    let mut had = parts(setting.was()?);
    had.find_map(|part| match part {
        Part::Pair(known, value) if known == key => Some(value),
        _ => None,
    })
}

/// What naming this volume does.
fn named(setting: &Setting<'_>, volume: &str) -> Option<Finding> {
    if volume.eq_ignore_ascii_case("none") {
        return None;
    }
    let Some(storage) = storage(volume).filter(|it| !it.is_empty() && !volume.starts_with('/'))
    else {
        return over_node("gives the guest a disk or directory of the node");
    };
    let name = &volume[storage.len() + 1..];
    let is_size = name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_size || name == "cloudinit" || name.starts_with("iso/") {
        return None;
    }
    let mut owners = owners(volume).peekable();
    if owners.peek().is_none() {
        return found(Risk::Grant, "names a volume whose owner is not known");
    }
    let is_own = setting
        .vmid
        .is_some_and(|own| owners.all(|owner| owner == own));
    if is_own {
        return None;
    }
    found(
        Risk::Destroy,
        "attaches a volume of another guest, which can then be overwritten",
    )
}

/// A disk that is copied from somewhere else.
fn imported(source: &str) -> Option<Finding> {
    if storage(source).is_none_or(str::is_empty) || source.starts_with('/') {
        return over_node("copies a file of the node into the guest");
    }
    None
}

/// What becomes of the volume that was there before.
fn replaced(setting: &Setting<'_>, new: Option<&str>) -> Option<Finding> {
    let old = match setting.old {
        Old::Unset | Old::New => return None,
        Old::Unknown => return found(Risk::Destroy, "detaches the volume that was there"),
        Old::Is(old) => old,
    };
    let is_medium = |text: &str| {
        let mut all = parts(text);
        all.any(|part| matches!(part, Part::Pair("media", media) if media.eq_ignore_ascii_case("cdrom")))
    };
    let volume = volume_of(old).unwrap_or_default();
    if new == Some(volume) {
        let becomes_medium = setting.new.is_some_and(is_medium) && !is_medium(old);
        return if becomes_medium {
            found(
                Risk::Destroy,
                "turns a disk into a medium, which is not kept when it is taken out",
            )
        } else {
            None
        };
    }
    let file = last_part(volume);
    let is_cloudinit = file.contains("cloudinit");
    let is_empty = matches!(volume, "none" | "cdrom") || volume.contains(":iso/");
    if is_medium(old) && (is_empty || volume.starts_with('/')) {
        return None;
    }
    if is_cloudinit && new.is_some_and(|new| new.ends_with(":cloudinit")) {
        return None;
    }
    found(Risk::Destroy, "detaches the volume that was there")
}

/// The volume of a drive as PVE writes it.
fn volume_of(text: &str) -> Option<&str> {
    parts(text).find_map(|part| match part {
        Part::Default(volume) => Some(volume),
        Part::Pair(key, volume) if VOLUME.contains(&key) => Some(volume),
        _ => None,
    })
}

fn worst(findings: impl IntoIterator<Item = Option<Finding>>) -> Option<Finding> {
    findings
        .into_iter()
        .flatten()
        .reduce(|one, other| if other.risk > one.risk { other } else { one })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::setting::tests::{risk, set, unset};

    const DISK: &str = "local-lvm:vm-105-disk-0,size=8G";

    #[test]
    fn a_disk_that_discards_its_data_destroys_however_the_flag_is_written() {
        for flag in ["1", "on", "ON", "yes", "TRUE", "maybe"] {
            let new = format!("local-lvm:vm-105-disk-0,snapshot={flag}");
            assert_eq!(
                risk(drive(&set(Old::Is(DISK), &new))),
                Risk::Destroy,
                "{flag}"
            );
        }
        let off = "local-lvm:vm-105-disk-0,snapshot=No";
        assert_eq!(risk(drive(&set(Old::Is(DISK), off))), Risk::Read);
    }

    #[test]
    fn every_volume_that_is_named_counts() {
        let new = |text: &str| risk(drive(&set(Old::Unset, text)));
        assert_eq!(new("local-lvm:8,discard=on,ssd=1"), Risk::Read);
        assert_eq!(new("nas:iso/debian.iso,media=cdrom"), Risk::Read);
        assert_eq!(new("none,media=cdrom"), Risk::Read);
        assert_eq!(new("nas:cloudinit"), Risk::Read);
        assert_eq!(new("file=local-lvm:vm-105-disk-1"), Risk::Read);
        for grant in [
            "local-lvm:1,volume=local-lvm:vm-101-disk-0",
            "local-lvm:1,volume=/dev/sda",
            "file=local-lvm:1,volume=local-lvm:vm-105-disk-0",
            "/dev/sda",
            "file=/dev/sda",
            "cdrom",
            "nas:snippets/x",
            "local-lvm:0,import-from=/root/x.img",
            "local-lvm:0,import-from=x",
            "ssd=1",
            "local-lvm:8,new-key=1",
            "local-lvm:8,=1",
        ] {
            assert_eq!(new(grant), Risk::Grant, "{grant}");
        }
        assert_eq!(new("local-lvm:vm-101-disk-0"), Risk::Destroy);
        assert_eq!(new("nas:105/vm-999-disk-0.raw"), Risk::Destroy);
        assert_eq!(
            new("local-lvm:0,import-from=nas:101/vm-101-disk-0.raw"),
            Risk::Read
        );
    }

    #[test]
    fn a_disk_that_is_replaced_or_taken_out_destroys() {
        assert_eq!(
            risk(drive(&set(Old::Is(DISK), "local-lvm:8"))),
            Risk::Destroy
        );
        assert_eq!(
            risk(drive(&set(Old::Unknown, "local-lvm:8"))),
            Risk::Destroy
        );
        assert_eq!(risk(drive(&unset(Old::Is(DISK)))), Risk::Destroy);
        assert_eq!(
            risk(unused(&unset(Old::Is("local-lvm:vm-105-disk-3")))),
            Risk::Destroy
        );
        let iso = "nas:iso/debian.iso,media=cdrom,size=1G";
        assert_eq!(
            risk(drive(&set(Old::Is(iso), "none,media=cdrom"))),
            Risk::Read
        );
        assert_eq!(risk(drive(&unset(Old::Is(iso)))), Risk::Read);
        let faster = "local-lvm:vm-105-disk-0,size=8G,iothread=1";
        assert_eq!(risk(drive(&set(Old::Is(DISK), faster))), Risk::Read);
        let foreign = "local-lvm:vm-100-disk-0,size=8G";
        let discards = format!("{foreign},discard=on");
        assert_eq!(risk(drive(&set(Old::Is(foreign), &discards))), Risk::Read);
        let medium = "local-lvm:vm-105-disk-0,media=cdrom";
        assert_eq!(risk(drive(&set(Old::Is(DISK), medium))), Risk::Destroy);
    }

    #[test]
    fn less_protection_of_data_destroys() {
        for change in [
            "backup=0",
            "backup=OFF",
            "replicate=no",
            "cache=unsafe",
            "shared=1",
        ] {
            let new = format!("local-lvm:vm-105-disk-0,{change}");
            assert_eq!(
                risk(drive(&set(Old::Is(DISK), &new))),
                Risk::Destroy,
                "{change}"
            );
        }
        let left_out = "local-lvm:vm-105-disk-0,backup=0";
        let still = "local-lvm:vm-105-disk-0,backup=0,ssd=1";
        assert_eq!(risk(drive(&set(Old::Is(left_out), still))), Risk::Read);
        assert_eq!(
            risk(drive(&set(Old::Unset, "local-lvm:8,backup=0"))),
            Risk::Read
        );
    }

    #[test]
    fn a_volume_mounted_in_a_running_container_interrupts() {
        assert_eq!(
            risk(mount(&set(Old::Unset, "local-lvm:4,mp=/etc"))),
            Risk::Disrupt
        );
        assert_eq!(
            risk(mount(&set(Old::New, "local-lvm:4,mp=/data"))),
            Risk::Read
        );
        assert_eq!(risk(mount(&set(Old::Unset, "/etc,mp=/host"))), Risk::Grant);
        assert_eq!(
            risk(mount(&set(Old::Unset, "local-lvm:4,mp=/x,idmap=u:0:0:1"))),
            Risk::Grant
        );
        assert_eq!(
            risk(mount(&unset(Old::Is(
                "local-lvm:subvol-105-disk-1,mp=/data"
            )))),
            Risk::Destroy
        );
    }
}
