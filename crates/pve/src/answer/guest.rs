//! The state and the snapshots of one guest.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::Vmid;
use crate::lenient;

/// `…/status/current` of a VM or container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuestStatus {
    /// The guest.
    #[serde(default, deserialize_with = "lenient::opt_parsed")]
    pub vmid: Option<Vmid>,
    /// `running` or `stopped`; a paused VM is running.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub status: Option<String>,
    /// A VM's own word: `paused`, `prelaunch`, …
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub qmpstatus: Option<String>,
    /// Its name.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub name: Option<String>,
    /// The lock that an operation holds; `suspended` for a hibernated VM.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub lock: Option<String>,
    /// Its tags, as PVE separates them.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub tags: Option<String>,
    /// True if the VM's configuration offers a guest agent.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub agent: bool,
    /// True for a template.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub template: bool,
    /// The process id on its node.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub pid: Option<u64>,
    /// Seconds since the start.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub uptime: Option<u64>,
    /// The share of `cpus` in use, 0 to 1.
    #[serde(default, deserialize_with = "lenient::opt_f64")]
    pub cpu: Option<f64>,
    /// CPUs.
    #[serde(default, deserialize_with = "lenient::opt_f64")]
    pub cpus: Option<f64>,
    /// Bytes of memory in use.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub mem: Option<u64>,
    /// Bytes of memory.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub maxmem: Option<u64>,
    /// Bytes of disk in use; 0 for a VM.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub disk: Option<u64>,
    /// Bytes of disk.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub maxdisk: Option<u64>,
    /// Bytes received since the start.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub netin: Option<u64>,
    /// Bytes sent since the start.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub netout: Option<u64>,
    /// High availability, as PVE tells it.
    #[serde(default)]
    pub ha: Option<Value>,
}

impl GuestStatus {
    /// True if it runs, paused included.
    pub fn is_running(&self) -> bool {
        self.status.as_deref() == Some("running")
    }

    /// True if it is under high availability, whose manager then carries out start, stop and migrate.
    pub fn is_ha_managed(&self) -> bool {
        let managed = self.ha.as_ref().and_then(|ha| ha.get("managed"));
        managed.and_then(lenient::as_bool).unwrap_or(false)
    }
}

/// An entry of `…/snapshot`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotEntry {
    /// Its name; `current` is the present state and no snapshot.
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    /// The snapshot it builds on.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub parent: Option<String>,
    /// What somebody wrote about it.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub description: Option<String>,
    /// When it was taken, in Unix seconds.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub snaptime: Option<u64>,
    /// True if the memory was saved too.
    #[serde(default, deserialize_with = "lenient::flag")]
    pub vmstate: bool,
    /// `prepare` or `delete` while it is being made or removed, or since that broke off.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub snapstate: Option<String>,
}

impl SnapshotEntry {
    /// True for PVE's entry of the present state.
    pub fn is_current(&self) -> bool {
        self.name == "current"
    }
}
