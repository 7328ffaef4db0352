//! Storage definitions and the volumes on them.

use std::collections::BTreeMap;

use crate::clock::Time;
use crate::world::World;

/// One storage definition.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Its type: `dir`, `lvmthin`, `zfspool`, `nfs`, `pbs`, ...
    pub kind: String,
    /// The properties of its section, except those below.
    pub props: BTreeMap<String, String>,
    /// What it may hold.
    pub content: Vec<String>,
    /// The nodes that have it; empty for all.
    pub nodes: Vec<String>,
    /// One storage seen from all nodes, not one per node.
    pub shared: bool,
    /// Bytes it holds.
    pub capacity: u64,
}

impl Storage {
    /// Whether the node has it.
    pub fn is_on(&self, node: &str) -> bool {
        self.nodes.is_empty() || self.nodes.iter().any(|name| name == node)
    }
}

/// One volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// `local:100/vm-100-disk-0.qcow2`.
    pub volid: String,
    /// The node that has it; `None` on shared storage.
    pub node: Option<String>,
    /// `images`, `rootdir`, `iso`, `vztmpl`, `backup`, `snippets`, `import`.
    pub content: String,
    /// `raw`, `qcow2`, `subvol`, `iso`, `tzst`, `tar.zst`, `vma.zst`, `pbs-vm`, ...
    pub format: String,
    /// Bytes as the guest sees it.
    pub size: u64,
    /// Bytes it takes up.
    pub used: u64,
    /// The guest it belongs to.
    pub vmid: Option<u32>,
    /// When it was made.
    pub created: Time,
    /// The base image of a linked clone, without the storage: `base-900-disk-0`.
    pub parent: Option<String>,
    /// The notes of a backup.
    pub notes: Option<String>,
    /// A backup that must not be removed.
    pub protected: bool,
}

impl Volume {
    /// The storage it is on.
    pub fn storage(&self) -> &str {
        self.volid.split(':').next().unwrap_or_default()
    }

    /// Its name below the storage.
    pub fn name(&self) -> &str {
        self.volid.split_once(':').map_or("", |(_, name)| name)
    }
}

impl World {
    /// The volume, as seen from a node.
    pub fn volume<'a>(&'a self, node: &'a str, volid: &str) -> Option<&'a Volume> {
        self.volumes_on(node).find(|volume| volume.volid == volid)
    }

    /// All volumes that a node can see.
    pub fn volumes_on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a Volume> {
        let visible =
            move |volume: &&Volume| volume.node.as_deref().is_none_or(|owner| owner == node);
        self.volumes.iter().filter(visible)
    }

    /// Bytes in use on a storage, as seen from a node.
    pub fn used_space(&self, node: &str, storage: &str) -> u64 {
        let there = self
            .volumes_on(node)
            .filter(|volume| volume.storage() == storage);
        there.map(|volume| volume.used).sum()
    }
}
