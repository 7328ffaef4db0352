//! What the values of drives, volumes and network cards say.

use std::collections::BTreeMap;

use pve::PropertyString;

use crate::volume::last_part;

/// No storage holds a disk of so many bytes.
pub(super) const ABSURD: u64 = 1 << 60;

/// A drive of a VM, or a root disk or mount point of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Drive {
    /// The volume, a path of the node, `none`, or a disk to be made (`local-lvm:8`).
    pub(super) volume: String,
    /// Whether it holds media rather than a disk; cloud-init's drive does.
    pub(super) cdrom: bool,
    properties: PropertyString,
}

impl Drive {
    pub(super) fn parse(text: &str) -> Self {
        let properties = PropertyString::parse(text);
        let volume = properties
            .default_or("file")
            .or_else(|| properties.get("volume"))
            .unwrap_or_default()
            .to_owned();
        let cdrom = properties.get("media") == Some("cdrom")
            || matches!(volume.as_str(), "none" | "cdrom")
            || volume.ends_with(":cloudinit");
        Self {
            volume,
            cdrom,
            properties,
        }
    }

    /// A property: `size`, `import-from`, …
    pub(super) fn get(&self, property: &str) -> Option<&str> {
        self.properties.get(property)
    }

    /// Every property, apart from those in `without`.
    pub(super) fn properties_without<'a>(
        &'a self,
        without: &'a [&str],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.properties.pairs.iter();
        pairs
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .filter(move |(key, _)| !without.contains(key))
    }

    /// Whether `new` asks for no more than what this is. PVE finds out the size and the format of a volume by itself.
    pub(super) fn is_as(&self, new: &Self) -> bool {
        const FOUND_OUT: &[&str] = &["file", "volume", "size", "format"];
        let said = |drive: &Self| -> BTreeMap<String, String> {
            let said = drive.properties_without(FOUND_OUT);
            said.map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect()
        };
        let differs = |name: &&str| new.get(name).is_some_and(|it| self.get(name) != Some(it));
        self.volume == new.volume
            && self.cdrom == new.cdrom
            && said(self) == said(new)
            && !["size", "format"].iter().any(differs)
    }

    /// Nothing, the node's own drive, or an image that is not of any guest: taken out, nothing is lost.
    pub(super) fn is_medium(&self) -> bool {
        let content = self.volume.split_once(':').map(|(_, content)| content);
        let is_image = content.is_some_and(|content| content.starts_with("iso/"));
        let is_disk = self.storage().is_some() && !is_image;
        self.cdrom && !is_disk
    }

    /// A path of the node, not a volume of a storage.
    pub(super) fn is_path(&self) -> bool {
        self.volume.starts_with('/')
    }

    /// The storage that it is on, or will be.
    pub(super) fn storage(&self) -> Option<&str> {
        let (storage, _) = self.volume.split_once(':')?;
        (!self.is_path()).then_some(storage)
    }

    /// The size in bytes of a disk that is yet to be made. One that nobody could count counts as the largest.
    pub(super) fn new_size(&self) -> Option<u64> {
        let (_, rest) = self.volume.split_once(':')?;
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_number.then(|| pve::parse_size(&format!("{rest}G")).unwrap_or(u64::MAX))
    }

    /// The size in bytes as its value tells it.
    pub(super) fn size(&self) -> Option<u64> {
        self.new_size()
            .or_else(|| self.get("size").and_then(pve::parse_size))
    }

    pub(super) fn is_cloudinit(&self) -> bool {
        let file = last_part(&self.volume);
        let stem = file.split('.').next().unwrap_or_default();
        file == "cloudinit" || stem.starts_with("vm-") && stem.ends_with("-cloudinit")
    }

    /// A volume of a storage that is yet to be made, and named.
    pub(super) fn is_new(&self) -> bool {
        let made = self.new_size().is_some() || last_part(&self.volume) == "cloudinit";
        self.storage().is_some() && made
    }

    /// An existing volume of a storage.
    pub(super) fn names_volume(&self) -> bool {
        self.storage().is_some() && !self.is_new()
    }
}

/// A network card as its properties, the model of a VM's and its address under names of their own.
pub(super) fn card(text: &str) -> BTreeMap<String, String> {
    let parsed = PropertyString::parse(text);
    let mut card = BTreeMap::new();
    if let Some(model) = parsed.default {
        card.insert("model".to_owned(), model);
    }
    for (key, value) in parsed.pairs {
        // A VM writes its model before the address: virtio=BC:24:11:…
        if is_mac(&value) && !matches!(key.as_str(), "hwaddr" | "macaddr") {
            card.insert("model".to_owned(), key);
            card.insert("mac".to_owned(), value.to_ascii_uppercase());
        } else if matches!(key.as_str(), "hwaddr" | "macaddr") {
            card.insert("mac".to_owned(), value.to_ascii_uppercase());
        } else if key != "type" {
            card.insert(key, value);
        }
    }
    card
}

/// The parts of a card's value as PVE writes them: a VM's model comes with its address, however it was sent.
pub(in super::super) fn card_parts(text: &str) -> Vec<String> {
    let mut card = card(text);
    let mac = card.remove("mac");
    let first = match (card.remove("model"), mac) {
        (Some(model), Some(mac)) => Some(format!("{model}={mac}")),
        (None, Some(mac)) => Some(format!("hwaddr={mac}")),
        (model, None) => model,
    };
    let rest = card
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"));
    first.into_iter().chain(rest).collect()
}

/// The properties in which two cards differ.
pub(super) fn card_changes(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (card(old), card(new));
    let mut names: Vec<String> = old.keys().chain(new.keys()).cloned().collect();
    names.sort();
    names.dedup();
    names.retain(|name| old.get(name) != new.get(name));
    names
}

/// A card's new value with the model and the address that it has, unless the value names others: PVE takes no card of a VM
/// without a model, and would make up a new address, so that the guest would see another card.
pub(super) fn keep_card(old: &str, new: &str) -> String {
    let had = card(old);
    let new = match had.get("model") {
        Some(model) if !card(new).contains_key("model") => format!("{model},{new}"),
        _ => new.to_owned(),
    };
    let wanted = card(&new);
    let Some(mac) = had.get("mac").filter(|_| !wanted.contains_key("mac")) else {
        return new;
    };
    match wanted.get("model") {
        Some(model) if PropertyString::parse(&new).default.is_some() => {
            new.replacen(model.as_str(), &format!("{model}={mac}"), 1)
        }
        Some(_) => format!("{new},macaddr={mac}"),
        None => format!("{new},hwaddr={mac}"),
    }
}

fn is_mac(text: &str) -> bool {
    let pairs: Vec<&str> = text.split(':').collect();
    let is_pair = |pair: &&str| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit());
    pairs.len() == 6 && pairs.iter().all(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_told_apart() {
        let new = Drive::parse("local-lvm:8,discard=on");
        assert_eq!(
            (new.storage(), new.new_size()),
            (Some("local-lvm"), Some(8 << 30))
        );
        let disk = Drive::parse("nas:102/vm-102-disk-0.qcow2,size=64G");
        assert!(disk.names_volume() && !disk.cdrom);
        assert_eq!(disk.size(), Some(64 << 30));
        assert!(Drive::parse("none,media=cdrom").cdrom);
        for text in [
            "nas:cloudinit",
            "nas:111/vm-111-cloudinit.qcow2,media=cdrom",
        ] {
            let drive = Drive::parse(text);
            assert!(drive.cdrom && drive.is_cloudinit(), "{text}");
        }
        assert!(Drive::parse("/dev/sdb").is_path());
        assert!(Drive::parse("/srv/data,mp=/data").is_path());
        for (text, is_medium) in [
            ("none,media=cdrom", true),
            ("cdrom", true),
            ("nas:iso/debian-13.iso,media=cdrom", true),
            ("/dev/sr0,media=cdrom", true),
            ("local-lvm:vm-101-disk-1,media=cdrom", false),
            ("nas:102/data.iso,media=cdrom", false),
            ("local-lvm:vm-101-disk-1", false),
            ("/dev/sdb", false),
        ] {
            assert_eq!(Drive::parse(text).is_medium(), is_medium, "{text}");
        }
    }

    #[test]
    fn a_card_keeps_its_address() {
        let old = "virtio=BC:24:11:00:01:05,bridge=vmbr0,firewall=1";
        let kept = keep_card(old, "virtio,bridge=vmbr0,tag=20");
        assert_eq!(kept, "virtio=BC:24:11:00:01:05,bridge=vmbr0,tag=20");
        assert_eq!(card_changes(old, &kept), ["firewall", "tag"]);
        assert_eq!(
            keep_card(
                "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:01:02:00,type=veth",
                "name=eth0,bridge=vmbr1"
            ),
            "name=eth0,bridge=vmbr1,hwaddr=BC:24:11:01:02:00"
        );
        let given = "e1000=BC:24:11:00:00:01,bridge=vmbr0";
        assert_eq!(keep_card(old, given), given);
    }

    #[test]
    fn a_vms_card_keeps_its_model() {
        let old = "e1000=BC:24:11:00:01:05,bridge=vmbr0";
        for (sent, kept) in [
            (
                "bridge=vmbr1,tag=20",
                "e1000=BC:24:11:00:01:05,bridge=vmbr1,tag=20",
            ),
            (
                "macaddr=BC:24:11:00:00:01,bridge=vmbr0",
                "e1000,macaddr=BC:24:11:00:00:01,bridge=vmbr0",
            ),
        ] {
            assert_eq!(keep_card(old, sent), kept);
        }
    }
}
