//! Pending changes become real: all of them on a stopped machine, the hot-pluggable ones on a running machine.

use std::collections::BTreeMap;

use super::apply::Edit;
use super::rights::CLOUDINIT;
use crate::api::nodes::qemu::devices;
use crate::api::nodes::qemu::drive::{Spec, is_drive};
use crate::error::ApiError;
use crate::world::guest::Guest;

/// Options that mean nothing to a running machine, so they change at once.
const FAST: &[&str] = &[
    "description",
    "hookscript",
    "lock",
    "migrate_downtime",
    "migrate_speed",
    "name",
    "onboot",
    "protection",
    "shares",
    "startup",
    "tags",
    "vmstatestorage",
];
/// Options of a disk that only a restart changes.
const FIXED_DISK_OPTIONS: &[&str] = &[
    "aio", "discard", "iothread", "queues", "product", "cache", "ssd", "vendor", "ro",
];

/// What became of one change on a running machine.
enum Outcome {
    Done,
    /// It waits for a restart.
    Later,
    Failed(String),
}
use Outcome::{Done, Failed, Later};

fn is_fast(key: &str) -> bool {
    FAST.contains(&key) || CLOUDINIT.contains(&key)
}

fn family(key: &str) -> &str {
    key.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn when(possible: bool) -> Outcome {
    if possible { Done } else { Later }
}

impl Edit<'_> {
    /// Does what can be done now.
    pub(super) fn plug(&mut self) -> Result<(), ApiError> {
        let guest = self.guest()?;
        if guest.pending.is_empty() {
            return Ok(());
        }
        let errors = if guest.is_running() {
            self.hot()?
        } else {
            self.cold()?
        };
        self.guest()?.config.forget_unused_in_use();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(ApiError::params(errors))
        }
    }

    /// Everything becomes real.
    fn cold(&mut self) -> Result<BTreeMap<String, String>, ApiError> {
        let mut errors = BTreeMap::new();
        let mut fail = |key: &str, error: &ApiError| {
            let text = format!("unable to apply pending change {key} : {}\n", error.message);
            errors.insert(key.to_owned(), text);
        };
        let pending = self.guest()?.pending.clone();
        for key in pending.iter().filter(|(_, value)| value.is_none()) {
            match self.detach(key.0) {
                Ok(()) => self.settle(key.0, None)?,
                Err(error) => fail(key.0, &error),
            }
        }
        for (key, value) in pending.iter().filter_map(|(k, v)| Some((k, v.as_deref()?))) {
            let old = self.guest()?.config.get(key).map(str::to_owned);
            if let Some(old) = old.filter(|_| is_drive(key)) {
                self.set_aside(key, &old)?;
            }
            self.settle(key, Some(value))?;
            if Spec::parse(key, value).is_some_and(|drive| drive.is_cloudinit()) {
                self.guest()?.cloudinit.clear();
            }
        }
        Ok(errors)
    }

    /// Takes a drive out: its disk becomes unused, or is destroyed if that was asked for.
    fn detach(&mut self, key: &str) -> Result<(), ApiError> {
        let value = self.guest()?.config.get(key).map(str::to_owned);
        let Some(value) = value.filter(|_| is_drive(key)) else {
            return Ok(());
        };
        match Spec::parse(key, &value) {
            Some(drive) if self.force && !drive.is_cdrom() => self.destroy(key, drive.file()),
            _ => self.set_aside(key, &value),
        }
    }

    /// Makes one change real.
    fn settle(&mut self, key: &str, value: Option<&str>) -> Result<(), ApiError> {
        let guest = self.guest()?;
        guest.pending.remove(key);
        match value {
            Some(value) => guest.config.store(key, value),
            None => {
                guest.config.remove(key);
            }
        }
        Ok(())
    }

    /// The hot-pluggable changes become real; errors by option.
    fn hot(&mut self) -> Result<BTreeMap<String, String>, ApiError> {
        let mut errors = BTreeMap::new();
        let pending = self.guest()?.pending.clone();
        let changes = pending.iter();
        let (fast, mut slow): (Vec<_>, Vec<_>) = changes.partition(|(key, _)| is_fast(key));
        slow.retain(|(key, _)| self.modified.contains(*key));
        for (key, value) in fast {
            self.settle_running(key, value.as_deref())?;
        }
        for (key, value) in slow {
            let outcome = match value {
                Some(value) => self.plug_in(key, value)?,
                None => self.unplug(key)?,
            };
            match outcome {
                Done => self.settle_running(key, value.as_deref())?,
                Later => {}
                Failed(text) => {
                    errors.insert(key.clone(), format!("hotplug problem - {text}\n"));
                }
            }
        }
        let guest = self.guest()?;
        if has_feature(guest, "cloudinit") {
            guest.cloudinit.clear();
        }
        Ok(errors)
    }

    /// Like [`Edit::settle`], and notes what the cloud-init drive does not know yet.
    fn settle_running(&mut self, key: &str, value: Option<&str>) -> Result<(), ApiError> {
        let guest = self.guest()?;
        if CLOUDINIT.contains(&key) || key == "name" || family(key) == "net" {
            let old = guest.config.get(key).map(str::to_owned);
            guest.record_cloudinit(key, old.as_deref(), value);
        }
        self.settle(key, value)
    }

    fn unplug(&mut self, key: &str) -> Result<Outcome, ApiError> {
        let guest = self.guest()?;
        let has = |feature| has_feature(guest, feature);
        let outcome = match (key, family(key)) {
            ("hotplug", _) => {
                let text = guest.config.get("hotplug").unwrap_or_default();
                when(!text.contains("cpu") && !text.contains("memory"))
            }
            ("tablet", _) => when(has("usb")),
            ("vcpus", _) => when(has("cpu")),
            ("memory", _) => when(has("memory")),
            ("balloon", _) => when(guest.config.get("balloon") != Some("0")),
            ("cpuunits" | "cpulimit", _) => Done,
            (_, "usb") => when(usb_pluggable(guest)),
            (_, "net") if has("network") => pull_out(guest, key),
            (_, "scsi" | "virtio") if has("disk") => {
                let outcome = pull_out(guest, key);
                if matches!(outcome, Done) {
                    self.detach(key)?;
                }
                outcome
            }
            _ => Later,
        };
        Ok(outcome)
    }

    fn plug_in(&mut self, key: &str, value: &str) -> Result<Outcome, ApiError> {
        if is_drive(key) {
            return self.plug_drive(key, value);
        }
        let guest = self.guest()?;
        let has = |feature| has_feature(guest, feature);
        let outcome = match (key, family(key)) {
            ("hotplug", _) => {
                let old = guest.config.get("hotplug").unwrap_or_default();
                let bound = |text: &str| text.contains("cpu") || text.contains("memory");
                when(!bound(old) && !bound(value))
            }
            ("tablet", _) => when(has("usb")),
            ("vcpus", _) => when(has("cpu")),
            ("memory", _) => when(has("memory")),
            ("balloon", _) => {
                let had = guest.config.get("balloon") != Some("0");
                when(had == (value != "0"))
            }
            ("cpuunits" | "cpulimit", _) => Done,
            ("agent", _) => when(same_agent(guest.config.get("agent"), value)),
            (_, "usb") => when(usb_pluggable(guest)),
            (_, "net") => plug_card(guest, key, value),
            _ => Later,
        };
        Ok(outcome)
    }

    fn plug_drive(&mut self, key: &str, value: &str) -> Result<Outcome, ApiError> {
        let guest = self.guest()?;
        let pluggable = has_feature(guest, "disk") && matches!(family(key), "scsi" | "virtio");
        let old = guest.config.get(key).map(str::to_owned);
        let (Some(old), Some(drive)) = (old, Spec::parse(key, value)) else {
            return Ok(when(pluggable));
        };
        let Some(before) = Spec::parse(key, &old) else {
            return Ok(when(pluggable));
        };
        if matches!(key, "efidisk0" | "tpmstate0") {
            return Ok(Later);
        }
        if before.is_cdrom() != drive.is_cdrom() {
            return Ok(Failed("unable to change media type".to_owned()));
        }
        if before.is_cdrom() {
            // Another medium goes into the same drive.
            if drive.file() == "none" && before.is_cloudinit() {
                self.set_aside(key, &old)?;
            }
            return Ok(Done);
        }
        if before.file() == drive.file() {
            let fixed = FIXED_DISK_OPTIONS.iter();
            return Ok(when(
                !fixed
                    .into_iter()
                    .any(|name| before.get(name) != drive.get(name)),
            ));
        }
        if !pluggable {
            return Ok(Later);
        }
        let outcome = pull_out(guest, key);
        if matches!(outcome, Done) {
            self.set_aside(key, &old)?;
        }
        Ok(outcome)
    }
}

/// Whether a kind of device can be plugged while the machine runs.
fn has_feature(guest: &Guest, feature: &str) -> bool {
    let features = match guest.config.get("hotplug") {
        None | Some("1") => "network,disk,usb",
        Some(features) => features,
    };
    crate::call::split_list(features).any(|known| known == feature)
}

/// USB devices can be plugged into machines whose system is known to take them.
fn usb_pluggable(guest: &Guest) -> bool {
    let system = guest.config.get("ostype").unwrap_or_default();
    has_feature(guest, "usb") && matches!(system, "l26" | "win8" | "win10" | "win11")
}

/// A card or disk on the PCI bus comes out only if an operating system lets it go; SCSI disks always do.
fn pull_out(guest: &Guest, key: &str) -> Outcome {
    if guest.inside.os || family(key) == "scsi" {
        Done
    } else {
        Failed(format!(
            "error on hot-unplugging device '{key}' - still busy in guest?"
        ))
    }
}

fn plug_card(guest: &Guest, key: &str, value: &str) -> Outcome {
    let pluggable = has_feature(guest, "network");
    let Some(old) = guest.config.get(key) else {
        return when(pluggable);
    };
    let (Ok(old), Ok(new)) = (devices::NET.split(old), devices::NET.split(value)) else {
        return Later;
    };
    let get = |pairs: &[(&str, &str)], name: &str| {
        let pair = pairs.iter().find(|(key, _)| *key == name);
        pair.map(|(_, value)| (*value).to_owned())
    };
    let another_card = ["model", "macaddr", "queues", "mtu"]
        .iter()
        .any(|name| get(&old, name) != get(&new, name));
    let bridged = get(&old, "bridge").is_some() && get(&new, "bridge").is_some();
    match another_card || !bridged {
        false => Done,
        true if pluggable => pull_out(guest, key),
        true => Later,
    }
}

/// Whether two agent settings differ at most in what a running machine can change.
fn same_agent(old: Option<&str>, new: &str) -> bool {
    let fixed = |text: &str| {
        let pairs = devices::AGENT.split(text).unwrap_or_default();
        let mut pairs: Vec<(String, String)> = pairs
            .into_iter()
            .filter(|(key, _)| *key != "fstrim_cloned_disks")
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        pairs.sort();
        pairs
    };
    old.is_some_and(|old| fixed(old) == fixed(new))
}
