//! A guest's configuration: every key as PVE sent it, and readers for those that matter everywhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::property::PropertyString;
use super::size::parse_size;
use super::split_tags;
use crate::lenient;

/// The raw values by key. Numbers and texts are as PVE sent them; the accessors take either.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GuestConfig {
    values: BTreeMap<String, Value>,
}

/// A disk, root file system or mount point. CD-ROM drives, cloud-init's included, are not counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// `scsi0`, `rootfs`, `unused1`, …
    pub key: String,
    /// The volume, or a path of the node for a disk passed through or bound.
    pub volume: String,
    /// The storage that the volume is on; none for a path.
    pub storage: Option<String>,
    /// Its size where the configuration tells.
    pub size_bytes: Option<u64>,
}

impl Disk {
    /// True for a volume that belongs to the guest but is attached nowhere.
    pub fn is_unused(&self) -> bool {
        self.key.starts_with("unused")
    }

    /// True for an image in the format that keeps its snapshots itself.
    pub fn is_qcow2(&self) -> bool {
        let (_, format) = self.volume.rsplit_once('.').unwrap_or_default();
        format == "qcow2"
    }
}

/// A network card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Nic {
    /// `net0`, …
    pub key: String,
    /// Its MAC address, in capitals.
    pub mac: Option<String>,
    /// The bridge it is plugged into.
    pub bridge: Option<String>,
    /// All its properties.
    #[serde(skip)]
    pub properties: PropertyString,
}

/// Keys of VMs and containers that name a volume, without their number.
const DISK_KEYS: [&str; 9] = [
    "efidisk", "ide", "mp", "rootfs", "sata", "scsi", "tpmstate", "unused", "virtio",
];

impl GuestConfig {
    /// All keys with their raw values.
    pub fn values(&self) -> &BTreeMap<String, Value> {
        &self.values
    }

    /// The raw value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// The value of a key as text, a number written out.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(lenient::as_text)
    }

    /// The value of a key as a number.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(lenient::as_u64)
    }

    /// The value of a key as a flag; absent is false.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(lenient::as_bool).unwrap_or(false)
    }

    /// The value of a key as a property string.
    pub fn properties(&self, key: &str) -> Option<PropertyString> {
        self.text(key).map(|text| PropertyString::parse(&text))
    }

    /// A VM's `name` or a container's `hostname`.
    pub fn name(&self) -> Option<String> {
        self.text("name").or_else(|| self.text("hostname"))
    }

    /// The lock that a running or broken operation holds.
    pub fn lock(&self) -> Option<String> {
        self.text("lock").filter(|lock| !lock.is_empty())
    }

    /// True if PVE refuses to remove the guest and its disks.
    pub fn protection(&self) -> bool {
        self.flag("protection")
    }

    /// True for a template.
    pub fn template(&self) -> bool {
        self.flag("template")
    }

    /// The tags, in PVE's order.
    pub fn tags(&self) -> Vec<String> {
        split_tags(&self.text("tags").unwrap_or_default())
    }

    /// PVE's checksum of the configuration.
    pub fn digest(&self) -> Option<String> {
        self.text("digest")
    }

    /// The snapshot that the present state builds on.
    pub fn parent(&self) -> Option<String> {
        self.text("parent")
    }

    /// True if the VM's configuration offers a guest agent.
    pub fn agent_enabled(&self) -> bool {
        self.properties("agent").is_some_and(|agent| {
            matches!(
                agent.default_or("enabled"),
                Some("1" | "on" | "yes" | "true")
            )
        })
    }

    /// Every disk, root file system, mount point and unused volume, by key.
    pub fn disks(&self) -> Vec<Disk> {
        let keys = self.values.keys();
        keys.filter(|key| is_numbered(key, &DISK_KEYS))
            .filter_map(|key| self.disk(key))
            .collect()
    }

    /// What every disk, medium and unused volume and the saved memory is on, by key: a volume, a path of the node, or
    /// nothing (`none`).
    pub fn volumes(&self) -> Vec<(&str, String)> {
        let keys = self.values.keys().map(String::as_str);
        keys.filter(|key| is_numbered(key, &DISK_KEYS) || *key == "vmstate")
            .filter_map(|key| Some((key, volume(&self.properties(key)?)?.to_owned())))
            .collect()
    }

    /// Every network card, by key.
    pub fn nets(&self) -> Vec<Nic> {
        let keys = self.values.keys();
        keys.filter(|key| is_numbered(key, &["net"]))
            .filter_map(|key| self.nic(key))
            .collect()
    }

    fn disk(&self, key: &str) -> Option<Disk> {
        let properties = self.properties(key)?;
        let volume = volume(&properties).filter(|volume| !matches!(*volume, "none" | "cdrom"))?;
        if properties.get("media") == Some("cdrom") {
            return None;
        }
        let storage = match volume.split_once(':') {
            Some((storage, _)) if !volume.starts_with('/') => Some(storage.to_owned()),
            _ => None,
        };
        Some(Disk {
            key: key.to_owned(),
            volume: volume.to_owned(),
            storage,
            size_bytes: properties.get("size").and_then(parse_size),
        })
    }

    fn nic(&self, key: &str) -> Option<Nic> {
        let properties = self.properties(key)?;
        // A container names the address; a VM writes it behind the card's model, which comes first.
        let mac = properties
            .get("hwaddr")
            .or_else(|| properties.get("macaddr"))
            .or_else(|| {
                let mut values = properties.pairs.iter().map(|(_, value)| value.as_str());
                values.find(|value| is_mac(value))
            })
            .map(str::to_ascii_uppercase);
        Some(Nic {
            key: key.to_owned(),
            mac,
            bridge: properties.get("bridge").map(str::to_owned),
            properties,
        })
    }
}

impl FromIterator<(String, Value)> for GuestConfig {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Self {
        Self {
            values: pairs.into_iter().collect(),
        }
    }
}

/// What the value of a disk or medium is on.
fn volume(properties: &PropertyString) -> Option<&str> {
    let file = properties.default_or("file");
    file.or_else(|| properties.get("volume"))
}

fn is_numbered(key: &str, stems: &[&str]) -> bool {
    let stem = key.trim_end_matches(|c: char| c.is_ascii_digit());
    stems.contains(&stem) && (stem.len() < key.len() || stem == "rootfs")
}

fn is_mac(text: &str) -> bool {
    let mut pairs = 0;
    text.split(':').all(|pair| {
        pairs += 1;
        pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit())
    }) && pairs == 6
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(value: Value) -> GuestConfig {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_vm_is_read() {
        let vm = config(json!({
            "name": "web", "agent": "1", "protection": 1, "tags": "a;b", "digest": "abc", "parent": "l2",
            "scsihw": "virtio-scsi-single",
            "net0": "virtio=bc:24:11:f1:e1:d7,bridge=vmbr0",
            "scsi0": "nfsish:100/vm-100-disk-0.qcow2,size=2G",
            "scsi1": "/dev/disk/by-id/x,size=1G",
            "efidisk0": "local:100/vm-100-disk-1.qcow2,size=528K",
            "ide2": "nfsish:100/vm-100-cloudinit.qcow2,media=cdrom",
            "ide3": "none,media=cdrom",
            "unused0": "nfsish:100/vm-100-disk-2.qcow2"
        }));
        assert_eq!(vm.name().unwrap(), "web");
        assert!(vm.agent_enabled() && vm.protection() && !vm.template());
        assert_eq!(vm.tags(), ["a", "b"]);
        assert_eq!(vm.parent().unwrap(), "l2");
        let disks = vm.disks();
        let keys: Vec<&str> = disks.iter().map(|disk| disk.key.as_str()).collect();
        assert_eq!(keys, ["efidisk0", "scsi0", "scsi1", "unused0"]);
        assert_eq!(disks[0].size_bytes, Some(528 * 1024));
        assert_eq!(disks[1].storage.as_deref(), Some("nfsish"));
        assert_eq!(
            (disks[2].storage.as_deref(), disks[2].is_unused()),
            (None, false)
        );
        assert!(disks[3].is_unused());
        assert_eq!(vm.nets()[0].mac.as_deref(), Some("BC:24:11:F1:E1:D7"));
    }

    #[test]
    fn only_what_holds_volumes_names_them() {
        let vm = config(json!({
            "description": "local:100/vm-100-disk-0.raw", "name": "web", "bootdisk": "scsi0",
            "ide2": "local:iso/a.iso,media=cdrom",
            "scsi0": "local:100/vm-100-disk-0.raw,size=2G",
            "unused0": "local:100/vm-100-disk-2.raw",
            "vmstate": "local:100/vm-100-state-a.raw"
        }));
        let volumes = vm.volumes();
        let keys: Vec<&str> = volumes.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["ide2", "scsi0", "unused0", "vmstate"]);
        assert_eq!(volumes[1].1, "local:100/vm-100-disk-0.raw");
    }

    #[test]
    fn a_container_is_read() {
        let ct = config(json!({
            "hostname": "ct1", "memory": 128, "lock": "backup",
            "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:09:0E:3D,ip=10.0.0.5/24,type=veth",
            "rootfs": "local:200/vm-200-disk-0.raw,size=1G",
            "mp0": "volume=local:200/vm-200-disk-1.raw,mp=/data,size=4G",
            "mp1": "/mnt/host,mp=/host"
        }));
        assert_eq!(ct.name().unwrap(), "ct1");
        assert_eq!(ct.lock().unwrap(), "backup");
        let disks = ct.disks();
        assert_eq!(disks.len(), 3);
        assert_eq!(disks[0].volume, "local:200/vm-200-disk-1.raw");
        assert_eq!(disks[1].storage, None);
        assert_eq!(disks[2].key, "rootfs");
        assert_eq!(ct.nets()[0].bridge.as_deref(), Some("vmbr0"));
    }

    #[test]
    fn the_agent_flag_has_two_spellings() {
        assert!(config(json!({"agent": "enabled=1,fstrim_cloned_disks=1"})).agent_enabled());
        assert!(config(json!({"agent": 1})).agent_enabled());
        assert!(!config(json!({"agent": "0"})).agent_enabled());
        assert!(!config(json!({})).agent_enabled());
    }
}
