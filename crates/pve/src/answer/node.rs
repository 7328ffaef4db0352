//! One node and its storages.

use serde::{Deserialize, Serialize};

use crate::lenient;

/// How much of something is used, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// In use.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub used: Option<u64>,
    /// All of it.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub total: Option<u64>,
    /// Free; for memory without what caches could give back.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub free: Option<u64>,
}

/// `/nodes/{node}/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Seconds since it started.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub uptime: Option<u64>,
    /// The share of all CPUs in use, 0 to 1.
    #[serde(default, deserialize_with = "lenient::opt_f64")]
    pub cpu: Option<f64>,
    /// The share of time spent waiting for disks, 0 to 1.
    #[serde(default, deserialize_with = "lenient::opt_f64")]
    pub wait: Option<f64>,
    /// The load over 1, 5 and 15 minutes, as PVE writes it.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub loadavg: Option<Vec<String>>,
    /// Memory.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub memory: Option<Usage>,
    /// Swap.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub swap: Option<Usage>,
    /// The root file system.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub rootfs: Option<Usage>,
    /// `pve-manager/9.1.8/…`.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub pveversion: Option<String>,
    /// The kernel.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub kversion: Option<String>,
    /// The processors, as PVE describes them.
    #[serde(default, deserialize_with = "lenient::opt")]
    pub cpuinfo: Option<CpuInfo>,
}

/// The processors of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuInfo {
    /// Its name.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub model: Option<String>,
    /// Threads, over all sockets.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub cpus: Option<u64>,
    /// Sockets.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub sockets: Option<u64>,
}

/// An entry of `/nodes/{node}/storage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageStatus {
    /// Its name.
    #[serde(deserialize_with = "lenient::text")]
    pub storage: String,
    /// `dir`, `lvmthin`, …
    #[serde(rename = "type", default, deserialize_with = "lenient::opt_text")]
    pub kind: Option<String>,
    /// What it may hold, separated by commas.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub content: Option<String>,
    /// True if it works now.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub active: bool,
    /// False if it was switched off.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub enabled: bool,
    /// True if all nodes see the same.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub shared: bool,
    /// Bytes in use.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub used: Option<u64>,
    /// Bytes left.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub avail: Option<u64>,
    /// Bytes in all.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub total: Option<u64>,
}

impl StorageStatus {
    /// True if it may hold a kind of content: `images`, `rootdir`, `backup`, `iso`, …
    pub fn holds(&self, content: &str) -> bool {
        let kinds = self.content.as_deref().unwrap_or_default();
        kinds.split(',').any(|kind| kind.trim() == content)
    }
}
