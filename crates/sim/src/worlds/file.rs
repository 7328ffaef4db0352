//! The form of a world file (TOML).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;

use crate::clock::Time;

/// A whole file.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorldFile {
    pub(super) cluster: ClusterPart,
    pub(super) node: Vec<NodePart>,
    pub(super) storage: BTreeMap<String, StoragePart>,
    #[serde(default)]
    pub(super) guest: Vec<GuestPart>,
    #[serde(default)]
    pub(super) volume: Vec<VolumePart>,
    #[serde(default)]
    pub(super) pool: BTreeMap<String, PoolPart>,
    #[serde(default)]
    pub(super) user: BTreeMap<String, UserPart>,
    #[serde(default)]
    pub(super) realm: BTreeMap<String, RealmPart>,
    #[serde(default)]
    pub(super) group: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) role: BTreeMap<String, BTreeSet<String>>,
    #[serde(default)]
    pub(super) acl: Vec<RulePart>,
    #[serde(default)]
    pub(super) backup_job: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) replication_job: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) ha_resource: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) ha_rule: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) metric_server: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) acme_account: BTreeMap<String, AccountPart>,
    #[serde(default)]
    pub(super) sdn_zone: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) sdn_vnet: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) sdn_subnet: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) sdn_controller: BTreeMap<String, SectionPart>,
    #[serde(default)]
    pub(super) firewall: Vec<FirewallPart>,
    pub(super) ceph: Option<CephPart>,
    #[serde(default)]
    pub(super) option: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) task: Vec<TaskPart>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClusterPart {
    pub(super) name: String,
    /// Seconds since the epoch.
    pub(super) now: u64,
    /// Container templates that can be downloaded.
    #[serde(default)]
    pub(super) appliances: Vec<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodePart {
    pub(super) name: String,
    pub(super) ip: String,
    pub(super) cpus: u64,
    pub(super) memory: String,
    pub(super) disk: String,
    pub(super) uptime_hours: u64,
    #[serde(default)]
    pub(super) search: String,
    #[serde(default)]
    pub(super) dns: Vec<String>,
    /// What is set in its `config`.
    #[serde(default)]
    pub(super) option: BTreeMap<String, String>,
    /// Services that are enabled and broke down.
    #[serde(default)]
    pub(super) failed_services: Vec<String>,
    #[serde(default)]
    pub(super) update: Vec<UpdatePart>,
    #[serde(default)]
    pub(super) drive: Vec<DrivePart>,
}

/// A realm beside those that every installation has.
#[derive(Clone, Deserialize)]
pub(super) struct RealmPart {
    pub(super) r#type: String,
    pub(super) comment: Option<String>,
    #[serde(default)]
    pub(super) people: BTreeSet<String>,
    /// Everything else that stands in its section.
    #[serde(flatten)]
    pub(super) settings: BTreeMap<String, String>,
}

/// An account at Let's Encrypt.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountPart {
    pub(super) contact: Vec<String>,
    pub(super) terms: String,
}

/// A package with an update.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdatePart {
    pub(super) package: String,
    pub(super) title: String,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) origin: String,
}

/// Ceph, with the disks that are in its service.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CephPart {
    pub(super) fsid: String,
    pub(super) version: String,
    pub(super) release: String,
    pub(super) osd: Vec<OsdPart>,
    pub(super) pool: BTreeMap<String, CephPoolPart>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OsdPart {
    pub(super) node: String,
    pub(super) device: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CephPoolPart {
    pub(super) size: u64,
    pub(super) min_size: u64,
    pub(super) pg_num: u64,
    pub(super) application: String,
}

/// A physical disk.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DrivePart {
    pub(super) device: String,
    pub(super) model: String,
    #[serde(default = "unknown")]
    pub(super) vendor: String,
    pub(super) serial: String,
    pub(super) size: String,
    pub(super) kind: DriveKindPart,
    #[serde(default = "passed")]
    pub(super) health: String,
    pub(super) life_left: Option<u64>,
    pub(super) used: Option<String>,
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn passed() -> String {
    "PASSED".to_owned()
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DriveKindPart {
    Nvme,
    Ssd,
    Hdd,
}

#[derive(Clone, Deserialize)]
pub(super) struct StoragePart {
    pub(super) r#type: String,
    pub(super) content: String,
    pub(super) capacity: String,
    #[serde(default)]
    pub(super) nodes: Vec<String>,
    #[serde(default)]
    pub(super) shared: bool,
    /// Everything else that stands in its section.
    #[serde(flatten)]
    pub(super) props: BTreeMap<String, String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GuestPart {
    pub(super) vmid: u32,
    pub(super) kind: KindPart,
    pub(super) node: String,
    #[serde(default)]
    pub(super) state: StatePart,
    #[serde(default)]
    pub(super) inside: InsidePart,
    #[serde(default)]
    pub(super) agent: AgentPart,
    pub(super) config: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub(super) snapshot: Vec<SnapshotPart>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KindPart {
    Qemu,
    Lxc,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StatePart {
    #[default]
    Stopped,
    Running,
    Paused,
}

/// What is inside a guest: a blank disk, an operating system, one with the guest agent running.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum InsidePart {
    #[default]
    Nothing,
    Os,
    Agent,
}

/// What the guest agent sees.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentPart {
    /// Addresses with their networks, by network card.
    #[serde(default)]
    pub(super) addresses: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// Users beside root.
    #[serde(default)]
    pub(super) users: Vec<String>,
    /// Commands that the settings of the agent forbid.
    #[serde(default)]
    pub(super) blocked: Vec<String>,
    #[serde(default)]
    pub(super) program: Vec<ProgramPart>,
}

/// A command line and what comes of it. A character of the output is a byte.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramPart {
    pub(super) line: String,
    #[serde(default)]
    pub(super) out: String,
    #[serde(default)]
    pub(super) err: String,
    #[serde(default)]
    pub(super) code: u8,
    #[serde(default)]
    pub(super) seconds: u64,
}

#[derive(Clone, Deserialize)]
pub(super) struct SnapshotPart {
    pub(super) name: String,
    pub(super) parent: Option<String>,
    #[serde(default)]
    pub(super) description: String,
    #[serde(flatten)]
    pub(super) taken: When,
    pub(super) vmstate: Option<String>,
    /// Keys that differ from the guest's config of today; an empty text removes one.
    #[serde(default)]
    pub(super) config: BTreeMap<String, toml::Value>,
}

/// A moment: absolute, or so many hours before the world begins.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct When {
    pub(super) at: Option<u64>,
    pub(super) hours_ago: Option<u64>,
}

impl When {
    pub(super) fn time(self, now: Time) -> Time {
        match (self.at, self.hours_ago) {
            (Some(secs), _) => Time::from_secs(secs),
            (None, Some(hours)) => now - Duration::from_secs(hours * 3600),
            (None, None) => now,
        }
    }
}

#[derive(Clone, Deserialize)]
pub(super) struct VolumePart {
    pub(super) volid: String,
    pub(super) node: Option<String>,
    pub(super) content: String,
    pub(super) format: String,
    pub(super) size: String,
    pub(super) vmid: Option<u32>,
    pub(super) notes: Option<String>,
    #[serde(default)]
    pub(super) protected: bool,
    #[serde(flatten)]
    pub(super) made: When,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolPart {
    pub(super) comment: Option<String>,
    #[serde(default)]
    pub(super) guests: BTreeSet<u32>,
    #[serde(default)]
    pub(super) storages: BTreeSet<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UserPart {
    pub(super) password: Option<String>,
    pub(super) comment: Option<String>,
    pub(super) email: Option<String>,
    #[serde(default)]
    pub(super) token: BTreeMap<String, TokenPart>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenPart {
    pub(super) secret: String,
    #[serde(default)]
    pub(super) privsep: bool,
    pub(super) comment: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RulePart {
    pub(super) path: String,
    pub(super) user: Option<String>,
    pub(super) group: Option<String>,
    pub(super) token: Option<String>,
    pub(super) role: String,
    #[serde(default = "yes")]
    pub(super) propagate: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Deserialize)]
pub(super) struct SectionPart {
    pub(super) r#type: String,
    #[serde(flatten)]
    pub(super) props: BTreeMap<String, toml::Value>,
}

/// The firewall of a guest, of a node, of a security group, or else of the cluster.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FirewallPart {
    pub(super) guest: Option<u32>,
    pub(super) node: Option<String>,
    pub(super) group: Option<String>,
    pub(super) comment: Option<String>,
    #[serde(default)]
    pub(super) options: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) rules: Vec<BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) aliases: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) ipsets: BTreeMap<String, Vec<String>>,
}

/// A task that ended before the world began, or still hangs.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskPart {
    pub(super) node: String,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) id: String,
    pub(super) user: String,
    pub(super) hours_ago: u64,
    #[serde(default)]
    pub(super) seconds: u64,
    #[serde(default = "ok")]
    pub(super) status: String,
    /// It hangs until somebody stops it.
    #[serde(default)]
    pub(super) hangs: bool,
    #[serde(default)]
    pub(super) log: Vec<String>,
}

fn ok() -> String {
    "OK".to_owned()
}
