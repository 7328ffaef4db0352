//! The entries of `/cluster/resources`.

use compact_str::CompactString;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::{GuestKind, NodeName, Vmid};
use crate::lenient;

/// What an entry tells of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceKind {
    /// A VM.
    Qemu,
    /// A container.
    Lxc,
    /// A node.
    Node,
    /// A storage on one node.
    Storage,
    /// A pool.
    Pool,
    /// An SDN zone on one node.
    Sdn,
    /// Something newer.
    Other(String),
}

impl ResourceKind {
    /// PVE's word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Qemu => "qemu",
            Self::Lxc => "lxc",
            Self::Node => "node",
            Self::Storage => "storage",
            Self::Pool => "pool",
            Self::Sdn => "sdn",
            Self::Other(word) => word,
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "qemu" => Self::Qemu,
            "lxc" => Self::Lxc,
            "node" => Self::Node,
            "storage" => Self::Storage,
            "pool" => Self::Pool,
            "sdn" => Self::Sdn,
            _ => Self::Other(word.to_owned()),
        }
    }

    /// The kind of guest, if it is one.
    pub fn guest_kind(&self) -> Option<GuestKind> {
        match self {
            Self::Qemu => Some(GuestKind::Qemu),
            Self::Lxc => Some(GuestKind::Lxc),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for ResourceKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient::word(deserializer).map(|word| Self::of(&word))
    }
}

impl Serialize for ResourceKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One entry: a guest, node, storage, pool or SDN zone, told apart by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: ResourceKind,
    /// PVE's id of the entry, `qemu/100`, `storage/pve1/local`.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub id: Option<CompactString>,
    /// The node it is on.
    #[serde(default, deserialize_with = "lenient::opt_parsed")]
    pub node: Option<NodeName>,
    /// `running`, `online`, `available`, …; stale for up to five minutes after a node went down, then `unknown`.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub status: Option<CompactString>,
    /// Of a guest.
    #[serde(default, deserialize_with = "lenient::opt_parsed")]
    pub vmid: Option<Vmid>,
    /// Of a guest.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub name: Option<CompactString>,
    /// Of a guest: true for a template.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub template: bool,
    /// Of a guest, as PVE separates them.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub tags: Option<CompactString>,
    /// Of a guest: the lock that an operation holds.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub lock: Option<CompactString>,
    /// Of a guest or a pool.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub pool: Option<CompactString>,
    /// Of a guest or node under high availability.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub hastate: Option<CompactString>,
    /// Of a storage: its name.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub storage: Option<CompactString>,
    /// Of a storage: its type, `dir`, `lvmthin`, …
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub plugintype: Option<CompactString>,
    /// Of a storage: what it may hold.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub content: Option<CompactString>,
    /// Of a storage: true if all nodes see the same.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub shared: bool,
    /// Of an SDN zone: its name.
    #[serde(default, deserialize_with = "lenient::opt_name")]
    pub sdn: Option<CompactString>,
    /// The share of `maxcpu` in use, 0 to 1.
    #[serde(default, deserialize_with = "lenient::opt_f64")]
    pub cpu: Option<f64>,
    /// CPUs.
    #[serde(default, deserialize_with = "lenient::opt_f64")]
    pub maxcpu: Option<f64>,
    /// Bytes of memory in use.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub mem: Option<u64>,
    /// Bytes of memory.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub maxmem: Option<u64>,
    /// Bytes of disk in use; 0 for a VM, whose disks PVE cannot look into.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub disk: Option<u64>,
    /// Bytes of disk.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub maxdisk: Option<u64>,
    /// Seconds since the start.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub uptime: Option<u64>,
    /// Bytes received since the start.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub netin: Option<u64>,
    /// Bytes sent since the start.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub netout: Option<u64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_of_all_kinds_are_read() {
        let resources: Vec<Resource> = lenient::list(json!([
            {"type": "qemu", "id": "qemu/100", "vmid": "100", "node": "pve1", "template": "1", "cpu": "0.5", "maxmem": 1.0},
            {"type": "node", "id": "node/pve2", "node": "pve2", "status": "online", "level": ""},
            {"type": "network", "id": "network/x"},
            {"id": "no type"},
            "nonsense"
        ]))
        .unwrap();
        assert_eq!(resources.len(), 3);
        assert_eq!(resources[0].vmid.unwrap().get(), 100);
        assert!(resources[0].template);
        assert_eq!(resources[0].cpu, Some(0.5));
        assert_eq!(resources[2].kind, ResourceKind::Other("network".to_owned()));
    }
}
