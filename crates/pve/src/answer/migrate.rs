//! What PVE says beforehand of a guest's way to another node.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::id::NodeName;
use crate::lenient;

/// `…/migrate` of a VM or container. A container's answer has no disks and devices; 8.4 has none for containers at all,
/// and names nodes for stopped VMs only.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct MigratePreconditions {
    /// The nodes that nothing speaks against, offline ones included; `None` where PVE does not say.
    #[serde(default, alias = "allowed-nodes", deserialize_with = "lenient::opt")]
    pub allowed_nodes: Option<Vec<NodeName>>,
    /// What speaks against the others.
    #[serde(
        default,
        alias = "not-allowed-nodes",
        deserialize_with = "lenient::opt"
    )]
    pub not_allowed_nodes: Option<BTreeMap<String, NodeObstacles>>,
    /// Volumes that only the guest's node sees: disks, CD images, states of snapshots.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub local_disks: Option<Vec<LocalVolume>>,
    /// Configuration keys of devices that are the node's.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub local_resources: Option<Vec<String>>,
    /// Configuration keys of devices that a mapping gives, with what is known of it.
    #[serde(
        default,
        rename = "mapped-resource-info",
        deserialize_with = "lenient::opt"
    )]
    pub mapped: Option<BTreeMap<String, MappedDevice>>,
    /// HA resources (`ct:200`) that HA moves along.
    #[serde(
        default,
        rename = "dependent-ha-resources",
        deserialize_with = "lenient::opt"
    )]
    pub dependents: Option<Vec<String>>,
}

/// Why a node cannot take the guest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct NodeObstacles {
    /// Storages of the guest that the node does not have.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub unavailable_storages: Option<Vec<String>>,
    /// Mapped devices that the node does not have.
    #[serde(
        default,
        rename = "unavailable-resources",
        deserialize_with = "lenient::opt"
    )]
    pub unavailable_devices: Option<Vec<String>>,
    /// HA resources that must not be on the same node.
    #[serde(
        default,
        rename = "blocking-ha-resources",
        deserialize_with = "lenient::opt"
    )]
    pub blocking: Option<Vec<BlockingResource>>,
}

/// An HA resource that keeps a guest from a node.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BlockingResource {
    /// `vm:102`
    #[serde(deserialize_with = "lenient::text")]
    pub sid: String,
    /// `node-affinity` or `resource-affinity`.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub cause: Option<String>,
}

/// A device that a mapping gives to a VM.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct MappedDevice {
    /// The mapping's name.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub name: Option<String>,
    /// Whether somebody has marked it as one that moves with a running VM.
    #[serde(
        default,
        rename = "is-marked-for-live-migration",
        deserialize_with = "lenient::flag"
    )]
    pub moves_live: bool,
}

/// A volume that only the guest's node sees.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of PVE's answer"
)]
pub struct LocalVolume {
    /// Which; a path or `cdrom` for what is no volume.
    #[serde(deserialize_with = "lenient::text")]
    pub volid: String,
    /// The configuration key that it is attached as.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub drivename: Option<String>,
    /// True for an image in a CD drive, cloud-init's included.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub cdrom: bool,
    /// True for the image that cloud-init reads, which PVE makes anew.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub is_cloudinit: bool,
    /// True for a volume that is attached nowhere.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub is_unused: bool,
    /// True for a saved memory.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub is_vmstate: bool,
    /// Its size in bytes.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub size: Option<u64>,
    /// The snapshots that it is part of.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub referenced_in_snapshot: Option<BTreeMap<String, Value>>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_kinds_and_spellings_are_read() {
        let vm: MigratePreconditions = serde_json::from_value(json!({
            "running": 1, "allowed_nodes": ["pve2"],
            "not_allowed_nodes": {"pve2": {}, "pve3": {"unavailable_storages": ["tank"], "blocking-ha-resources": [{"sid": "vm:1", "cause": "resource-affinity"}]}},
            "local_disks": [{"volid": "tank:vm-1-disk-0", "cdrom": "", "size": "5", "drivename": "scsi0", "referenced_in_snapshot": {"a": 1}}],
            "local_resources": ["usb0"], "mapped-resource-info": {"hostpci0": {"name": "gpu"}}
        }))
        .unwrap();
        assert_eq!(vm.allowed_nodes.unwrap()[0], "pve2");
        let tank = &vm.not_allowed_nodes.unwrap()["pve3"];
        assert_eq!(tank.unavailable_storages.as_deref().unwrap(), ["tank"]);
        assert_eq!(tank.blocking.as_ref().unwrap()[0].sid, "vm:1");
        let disk = &vm.local_disks.unwrap()[0];
        assert_eq!((disk.cdrom, disk.size), (false, Some(5)));
        assert!(!vm.mapped.unwrap()["hostpci0"].moves_live);
        let container: MigratePreconditions = serde_json::from_value(
            json!({"running": 0, "allowed-nodes": ["pve3"], "not-allowed-nodes": {}}),
        )
        .unwrap();
        assert_eq!(container.allowed_nodes.unwrap()[0], "pve3");
        assert!(container.local_disks.is_none());
    }
}
