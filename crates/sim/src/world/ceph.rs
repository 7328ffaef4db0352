//! Ceph on the nodes, as far as PVE shows and changes it.

use std::collections::{BTreeMap, BTreeSet};

/// A Ceph cluster. Every node has a monitor and a manager.
#[derive(Clone, Debug)]
pub struct Ceph {
    /// Its id.
    pub fsid: String,
    /// The release that every daemon runs: `19.2.3`.
    pub version: String,
    /// What that release is called: `squid`.
    pub release: String,
    /// Disks in service, by number.
    pub osds: BTreeMap<u32, Osd>,
    /// Pools by name.
    pub pools: BTreeMap<String, CephPool>,
    /// The flags that are set, as Ceph calls them: `pauserd` and `pausewr` for `pause`.
    pub flags: BTreeSet<String>,
}

/// A disk in Ceph's service.
#[derive(Clone, Debug)]
pub struct Osd {
    /// The node that it is in.
    pub host: String,
    /// Its name below `/dev`.
    pub device: String,
    /// The other devices that hold its database and its log.
    pub beside: Vec<String>,
}

/// A pool.
#[derive(Clone, Debug)]
pub struct CephPool {
    /// Its number.
    pub id: u32,
    /// How many copies are kept.
    pub size: u64,
    /// How many must be there for writing.
    pub min_size: u64,
    /// Placement groups.
    pub pg_num: u64,
    /// `rbd`, `cephfs`, `rgw`.
    pub application: String,
    /// `on`, `off`, `warn`.
    pub autoscale: String,
}

impl Ceph {
    /// The disk of a node that is in service under this number.
    pub fn osd_on(&self, host: &str, device: &str) -> Option<u32> {
        let mut osds = self.osds.iter();
        osds.find(|(_, osd)| osd.host == host && osd.device == device)
            .map(|(id, _)| *id)
    }

    /// Whether a device of a node belongs to Ceph already.
    pub fn has_device(&self, host: &str, device: &str) -> bool {
        self.osds.values().any(|osd| {
            osd.host == host && (osd.device == device || osd.beside.iter().any(|it| it == device))
        })
    }

    /// Sets or clears a flag by PVE's name.
    pub fn flag(&mut self, name: &str, on: bool) {
        let names: &[&str] = match name {
            "pause" => &["pauserd", "pausewr"],
            _ => &[name],
        };
        for name in names {
            if on {
                self.flags.insert((*name).to_owned());
            } else {
                self.flags.remove(*name);
            }
        }
    }

    /// Whether a flag is set, by PVE's name.
    pub fn is_set(&self, name: &str) -> bool {
        let real = if name == "pause" { "pauserd" } else { name };
        self.flags.contains(real)
    }
}
