//! What a change of a guest's setting does, by what was set before and what is set then.

mod card;
mod drive;

pub(crate) use card::card;
pub(crate) use drive::{drive, mount, unused};

use pve::Vmid;

use super::property::{Part, flag, list, parts};
use super::row::{Finding, found, over_node};
use crate::spec::Risk;

/// Whether the judgement on a setting looks at this key of its property string. Everything else is a grant.
#[cfg(test)]
pub(super) fn knows_key(setting: &str, key: &str) -> bool {
    match setting.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "net" => card::KNOWN.contains(&key),
        "efidisk" | "ide" | "mp" | "rootfs" | "sata" | "scsi" | "tpmstate" | "unused"
        | "virtio" => drive::SAFE.contains(&key) || drive::JUDGED.contains(&key),
        _ => true,
    }
}

/// A setting of a guest that a request changes.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    /// The guest, where the request says which.
    pub(crate) vmid: Option<Vmid>,
    /// Its value afterwards; `None` if it is unset.
    pub(crate) new: Option<&'a str>,
    /// Its value before.
    pub(crate) old: Old<'a>,
}

/// What a setting is before it is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Old<'a> {
    /// Nobody has read it.
    Unknown,
    /// It is not set.
    Unset,
    /// Its guest is created by the same plan: nothing of it can be lost, and it does not run yet.
    New,
    Is(&'a str),
}

impl<'a> Setting<'a> {
    /// Whether the flag may be on before.
    fn may_be_on(&self) -> bool {
        match self.old {
            Old::Unknown => true,
            Old::Unset | Old::New => false,
            Old::Is(old) => flag(old) != Some(false),
        }
    }

    /// Whether the flag is certainly on afterwards.
    fn is_on(&self) -> bool {
        self.new.and_then(flag) == Some(true)
    }

    /// Whether it is the same before and afterwards.
    fn stays(&self) -> bool {
        match (self.old, self.new) {
            (Old::Is(old), Some(new)) => old == new,
            (Old::Unset | Old::New, None) => true,
            _ => false,
        }
    }

    /// The value before, where it is known to be set.
    fn was(&self) -> Option<&'a str> {
        match self.old {
            Old::Is(old) => Some(old),
            Old::Unknown | Old::Unset | Old::New => None,
        }
    }

    /// Whether nothing was there before.
    fn is_added(&self) -> bool {
        matches!(self.old, Old::Unset | Old::New)
    }
}

/// Power over the node, unless the setting is removed or stays.
pub(crate) fn node_power(setting: &Setting<'_>) -> Option<Finding> {
    if setting.new.is_none() || setting.stays() {
        return None;
    }
    over_node("gives the guest power over its node")
}

/// What runs in the guest, unless the setting is removed or stays.
pub(crate) fn commands(setting: &Setting<'_>) -> Option<Finding> {
    if setting.new.is_none() || setting.stays() {
        return None;
    }
    found(Risk::Grant, "decides what runs in the guest")
}

/// What PVE leaves to root alone, unless the setting is removed or stays.
pub(crate) fn left_to_root(setting: &Setting<'_>) -> Option<Finding> {
    if setting.new.is_none() || setting.stays() {
        return None;
    }
    found(Risk::Grant, "is left to root by PVE")
}

/// Features of a container: nesting alone is what PVE's own dialog sets for a new unprivileged container.
pub(crate) fn features(setting: &Setting<'_>) -> Option<Finding> {
    let new = setting.new.filter(|_| !setting.stays())?;
    let is_nesting =
        |part: Part<'_>| matches!(part, Part::Pair("nesting", value) if flag(value).is_some());
    if setting.old == Old::New && parts(new).all(is_nesting) {
        return None;
    }
    over_node("weakens the isolation between container and node")
}

/// What of a device that is passed through says only how the guest sees it.
const HARMLESS_OF_DEVICE: &[&str] = &[
    "device-id",
    "legacy-igd",
    "mapping",
    "mdev",
    "pcie",
    "rombar",
    "sub-device-id",
    "sub-vendor-id",
    "usb3",
    "vendor-id",
    "x-vga",
];

/// Devices of the node: `host` names one; a `mapping` was defined by an administrator.
pub(crate) fn device(setting: &Setting<'_>) -> Option<Finding> {
    let Some(new) = setting.new.filter(|_| !setting.stays()) else {
        return taken_out(setting);
    };
    let is_mapped = parts(new).any(|part| matches!(part, Part::Pair("mapping", _)));
    let names_host = parts(new).any(|part| match part {
        Part::Pair("host", host) | Part::Default(host) => !host.eq_ignore_ascii_case("spice"),
        Part::Pair(key, _) => !HARMLESS_OF_DEVICE.contains(&key),
        Part::Malformed(_) => true,
    });
    let is_spice = parts(new).any(|part| {
        matches!(part, Part::Pair("host", host) | Part::Default(host) if host.eq_ignore_ascii_case("spice"))
    });
    if names_host || !(is_mapped || is_spice) {
        return over_node("gives the guest a device of the node");
    }
    taken_out(setting)
}

/// A device that was there is taken out of the running guest.
fn taken_out(setting: &Setting<'_>) -> Option<Finding> {
    if setting.is_added() || setting.stays() {
        return None;
    }
    found(Risk::Disrupt, "takes a device out of the running guest")
}

/// A serial port: a socket is one of the guest's own, anything else a device of the node.
pub(crate) fn serial(setting: &Setting<'_>) -> Option<Finding> {
    match setting.new {
        None | Some("socket") => None,
        Some(_) if setting.stays() => None,
        Some(_) => over_node("gives the guest a device of the node"),
    }
}

/// A random number generator: the node's own hardware is left to root.
pub(crate) fn rng(setting: &Setting<'_>) -> Option<Finding> {
    let new = setting.new.filter(|_| !setting.stays())?;
    let is_shared = |part: Part<'_>| match part {
        Part::Pair("source", source) | Part::Default(source) => {
            matches!(source, "/dev/urandom" | "/dev/random")
        }
        Part::Pair("max_bytes" | "period", _) => true,
        Part::Pair(..) | Part::Malformed(_) => false,
    };
    if parts(new).all(is_shared) {
        return None;
    }
    over_node("gives the guest a device of the node")
}

/// A container's console: `shell` lets anybody in who reaches it.
pub(crate) fn console_mode(setting: &Setting<'_>) -> Option<Finding> {
    match setting.new {
        None | Some("tty" | "console") => None,
        Some(_) if setting.stays() => None,
        Some(_) => found(Risk::Grant, "opens a root shell without a login"),
    }
}

/// PVE's protection flag.
pub(crate) fn protection(setting: &Setting<'_>) -> Option<Finding> {
    if setting.is_on() || !setting.may_be_on() {
        return None;
    }
    found(Risk::Destroy, "takes the guest's protection off")
}

/// A template never starts again, and one that is none any more ruins its linked clones.
pub(crate) fn template(setting: &Setting<'_>) -> Option<Finding> {
    let was = match setting.old {
        Old::Unknown => None,
        Old::Unset | Old::New => Some(false),
        Old::Is(old) => flag(old),
    };
    if setting.old == Old::New {
        return None;
    }
    let becomes = setting.new.map_or(Some(false), flag);
    if was.is_some() && was == becomes {
        return None;
    }
    found(
        Risk::Destroy,
        "makes the guest a template, or a template a guest",
    )
}

/// Tags: the tag `protected` is a person's mark that the guest is not to be destroyed.
pub(crate) fn tags(setting: &Setting<'_>) -> Option<Finding> {
    let protects = |tags: &str| {
        list(tags)
            .iter()
            .any(|tag| tag.eq_ignore_ascii_case("protected"))
    };
    let was = match setting.old {
        Old::Unknown => true,
        Old::Unset | Old::New => false,
        Old::Is(old) => protects(old),
    };
    if !was || setting.new.is_some_and(protects) {
        return None;
    }
    found(Risk::Destroy, "takes the tag `protected` off")
}

/// Memory of a container: with less, what runs inside can be killed.
pub(crate) fn container_memory(setting: &Setting<'_>) -> Option<Finding> {
    if setting.is_added() || setting.stays() {
        return None;
    }
    let figure = |text: &str| text.parse::<u64>().ok();
    match (setting.was().and_then(figure), setting.new.and_then(figure)) {
        (Some(was), Some(becomes)) if becomes >= was => None,
        _ => found(
            Risk::Disrupt,
            "programs in the running container can be killed for want of memory",
        ),
    }
}

/// Saved memory of a hibernated VM.
pub(crate) fn saved_state(setting: &Setting<'_>) -> Option<Finding> {
    if setting.is_added() {
        return None;
    }
    found(Risk::Destroy, "discards the saved memory of the VM")
}

/// Root of a container that is not mapped to another user is root of the node if it gets out.
pub(crate) fn unprivileged(setting: &Setting<'_>) -> Option<Finding> {
    if setting.is_on() || setting.stays() {
        return None;
    }
    over_node("root in a privileged container is root of the node if it gets out")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn set<'a>(old: Old<'a>, new: &'a str) -> Setting<'a> {
        Setting {
            vmid: Some("105".parse().unwrap()),
            new: Some(new),
            old,
        }
    }

    pub(crate) fn unset(old: Old<'_>) -> Setting<'_> {
        Setting {
            new: None,
            ..set(old, "")
        }
    }

    pub(crate) fn risk(found: Option<Finding>) -> Risk {
        found.map_or(Risk::Read, |finding| finding.risk)
    }

    #[test]
    fn a_host_device_is_a_grant_also_beside_a_mapping() {
        for new in [
            "host=1-2",
            "1-2",
            "mapping=key,host=1-2",
            "host=1-2,mapping=key",
            "usb3=1",
        ] {
            assert_eq!(risk(device(&set(Old::Unset, new))), Risk::Grant, "{new}");
        }
        for new in ["mapping=key", "spice", "host=spice,usb3=1"] {
            assert_eq!(risk(device(&set(Old::Unset, new))), Risk::Read, "{new}");
            assert_eq!(
                risk(device(&set(Old::Unknown, new))),
                Risk::Disrupt,
                "{new}"
            );
        }
        assert_eq!(risk(device(&unset(Old::Is("mapping=key")))), Risk::Disrupt);
    }

    #[test]
    fn nesting_alone_is_no_grant_for_a_new_container() {
        assert_eq!(risk(features(&set(Old::New, "nesting=1"))), Risk::Read);
        assert_eq!(risk(features(&set(Old::Unset, "nesting=1"))), Risk::Grant);
        for new in [
            "nesting=1,keyctl=1",
            "mount=nfs;ext4,mknod=1",
            "fuse=1",
            "nesting=x",
        ] {
            assert_eq!(risk(features(&set(Old::New, new))), Risk::Grant, "{new}");
        }
        assert_eq!(risk(features(&set(Old::Unknown, "nesting=1"))), Risk::Grant);
        assert_eq!(risk(features(&unset(Old::Is("nesting=1")))), Risk::Read);
    }

    #[test]
    fn protection_that_is_taken_off_destroys() {
        assert_eq!(risk(protection(&set(Old::Is("1"), "0"))), Risk::Destroy);
        assert_eq!(risk(protection(&set(Old::Unknown, "off"))), Risk::Destroy);
        assert_eq!(risk(protection(&unset(Old::Is("1")))), Risk::Destroy);
        assert_eq!(risk(protection(&set(Old::Unset, "0"))), Risk::Read);
        assert_eq!(risk(protection(&set(Old::Is("0"), "ON"))), Risk::Read);
        assert_eq!(risk(tags(&set(Old::Is("a;Protected"), "a"))), Risk::Destroy);
        assert_eq!(risk(tags(&set(Old::Is("a"), "b"))), Risk::Read);
        assert_eq!(
            risk(tags(&set(Old::Is("protected"), "x,PROTECTED"))),
            Risk::Read
        );
    }

    #[test]
    fn values_that_reach_the_node_are_grants() {
        assert_eq!(risk(serial(&set(Old::Unset, "/dev/ttyS0"))), Risk::Grant);
        assert_eq!(risk(serial(&set(Old::Unset, "socket"))), Risk::Read);
        assert_eq!(
            risk(rng(&set(Old::Unset, "source=/dev/hwrng"))),
            Risk::Grant
        );
        assert_eq!(
            risk(rng(&set(Old::Unset, "source=/dev/urandom,period=1"))),
            Risk::Read
        );
        assert_eq!(risk(console_mode(&set(Old::Unset, "shell"))), Risk::Grant);
        assert_eq!(risk(console_mode(&set(Old::Unknown, "tty"))), Risk::Read);
        assert_eq!(risk(unprivileged(&set(Old::Is("1"), "0"))), Risk::Grant);
        assert_eq!(risk(unprivileged(&set(Old::Unset, "True"))), Risk::Read);
        assert_eq!(risk(node_power(&set(Old::Unset, "-S"))), Risk::Grant);
        assert_eq!(risk(node_power(&unset(Old::Is("-S")))), Risk::Read);
    }

    #[test]
    fn a_change_of_the_template_flag_destroys() {
        assert_eq!(risk(template(&set(Old::Unset, "1"))), Risk::Destroy);
        assert_eq!(risk(template(&unset(Old::Is("1")))), Risk::Destroy);
        assert_eq!(risk(template(&set(Old::Is("1"), "yes"))), Risk::Read);
        assert_eq!(risk(template(&set(Old::Unset, "0"))), Risk::Read);
        assert_eq!(risk(template(&set(Old::New, "1"))), Risk::Read);
    }

    #[test]
    fn less_memory_interrupts_a_container() {
        assert_eq!(
            risk(container_memory(&set(Old::Is("1024"), "512"))),
            Risk::Disrupt
        );
        assert_eq!(
            risk(container_memory(&set(Old::Is("512"), "1024"))),
            Risk::Read
        );
        assert_eq!(
            risk(container_memory(&set(Old::Unknown, "1024"))),
            Risk::Disrupt
        );
        assert_eq!(
            risk(container_memory(&unset(Old::Is("512")))),
            Risk::Disrupt
        );
    }
}
