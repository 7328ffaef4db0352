//! When a running guest takes a change over, as far as PVE's own rules tell it beforehand.

use pve::{GuestKind, PropertyString};

use super::Subject;
use super::device::{Drive, card_changes};
use super::edit::Edit;
use super::keys::Plug;

/// What of a disk only a restart changes.
const FIXED_ON_DISK: &[&str] = &[
    "aio", "discard", "iothread", "queues", "product", "cache", "ssd", "vendor", "ro",
];
/// What of a card is another card.
const FIXED_ON_CARD: &[&str] = &["model", "mac", "queues", "mtu"];

/// Whether a change waits for a restart. A stopped guest has everything at once.
pub(super) fn waits(subject: &Subject, edit: &Edit) -> bool {
    if !subject.running {
        return false;
    }
    let now = subject.current.text(&edit.key);
    match edit.spec.plug {
        Plug::AtOnce => false,
        Plug::AtRestart => true,
        Plug::Feature(feature) => !has_feature(subject, feature),
        Plug::Added => now.is_some(),
        Plug::Usb => !takes_usb(subject),
        Plug::Balloon => {
            let on = |value: Option<&str>| value != Some("0");
            match edit.text() {
                Some(new) => on(now.as_deref()) != on(Some(new)),
                None => !on(now.as_deref()),
            }
        }
        Plug::Agent => !same_agent(now.as_deref(), edit.text()),
        Plug::HotplugList => [now.as_deref(), edit.text()]
            .into_iter()
            .flatten()
            .any(|list| list.contains("cpu") || list.contains("memory")),
        Plug::Card => card_waits(subject, now.as_deref(), edit.text()),
        Plug::Drive => drive_waits(subject, edit, now.as_deref()),
    }
}

/// Whether the VM's `hotplug` names a sort of device.
fn has_feature(subject: &Subject, feature: &str) -> bool {
    let list = subject.current.text("hotplug");
    let list = match list.as_deref() {
        None | Some("1") => "network,disk,usb",
        Some(list) => list,
    };
    list.split([',', ';', ' ']).any(|known| known == feature)
}

fn takes_usb(subject: &Subject) -> bool {
    let system = subject.current.text("ostype").unwrap_or_default();
    has_feature(subject, "usb") && matches!(system.as_str(), "l26" | "win8" | "win10" | "win11")
}

/// Whether two agent settings differ at most in what changes at once.
fn same_agent(old: Option<&str>, new: Option<&str>) -> bool {
    let fixed = |text: &str| {
        let parsed = PropertyString::parse(text);
        let enabled = parsed.default_or("enabled").map(str::to_owned);
        let mut rest: Vec<_> = parsed
            .pairs
            .into_iter()
            .filter(|(key, _)| !matches!(key.as_str(), "fstrim_cloned_disks" | "enabled"))
            .collect();
        rest.sort();
        (enabled, rest)
    };
    match (old, new) {
        (Some(old), Some(new)) => fixed(old) == fixed(new),
        _ => false,
    }
}

fn card_waits(subject: &Subject, now: Option<&str>, new: Option<&str>) -> bool {
    let pluggable = has_feature(subject, "network");
    match (now, new) {
        (Some(now), Some(new)) => {
            let changes = card_changes(now, new);
            let another = changes
                .iter()
                .any(|name| FIXED_ON_CARD.contains(&name.as_str()));
            another && !pluggable
        }
        _ => !pluggable,
    }
}

fn drive_waits(subject: &Subject, edit: &Edit, now: Option<&str>) -> bool {
    let fixed = matches!(edit.key.as_str(), "efidisk0" | "tpmstate0");
    let on_hotplug_bus = edit.key.starts_with("scsi") || edit.key.starts_with("virtio");
    let pluggable = has_feature(subject, "disk") && on_hotplug_bus;
    let (Some(now), Some(new)) = (now, edit.text()) else {
        return fixed || !pluggable;
    };
    let (now, new) = (Drive::parse(now), Drive::parse(new));
    if fixed {
        return true;
    }
    if now.cdrom {
        // Another medium goes into the same drive.
        return false;
    }
    if now.volume == new.volume {
        return FIXED_ON_DISK
            .iter()
            .any(|name| now.get(name) != new.get(name));
    }
    !pluggable
}

/// Why a running guest is interrupted by a change, if it is.
pub(super) fn interrupts(subject: &Subject, edit: &Edit) -> Option<&'static str> {
    if !subject.running || waits(subject, edit) {
        return None;
    }
    let now = subject.current.text(&edit.key)?;
    match edit.spec.plug {
        _ if edit.spec.takes == super::keys::Takes::Card => match edit.text() {
            None => Some("its network card is taken out"),
            Some(new) if card_changes(&now, new).iter().all(|name| name == "rate") => None,
            Some(_) => Some("its network connection is interrupted"),
        },
        Plug::Usb => Some("the device is taken out of it"),
        _ if edit.key == "memory" && subject.guest.at.kind == GuestKind::Lxc => {
            let fewer = edit.text()?.parse::<u64>().ok()? < now.parse().ok()?;
            fewer.then_some("what runs inside can be killed if it needs more than that")
        }
        _ => None,
    }
}
