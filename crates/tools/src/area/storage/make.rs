//! Making storage of a node's unused disks: create_lvm, create_lvmthin, create_zfs_pool, create_directory_storage and
//! initialize_gpt. All of them overwrite disks, so all of them go through one plan that names these.

use pve::{NodeName, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::making::{By, Making};
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Expect, Plan};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Change, Changes, Tool};
use crate::words;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &Change::<CreateLvm>::NEW,
    &Change::<CreateLvmThin>::NEW,
    &Change::<CreateZfsPool>::NEW,
    &Change::<CreateDirectory>::NEW,
    &Change::<InitializeGpt>::NEW,
];

const NEEDS: Need = Need::All(&[
    Need::On("/", "Sys.Modify"),
    Need::Any(&[need::node("Sys.Audit"), Need::On("/", "Sys.Audit")]),
    Need::May(&[Need::On("/storage", "Datastore.Allocate")]),
]);

const fn spec(name: &'static str, title: &'static str, examples: &'static [Example]) -> Spec {
    Spec {
        name,
        title,
        toolset: Toolset::Storage,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::NONE,
        needs: NEEDS,
        examples,
    }
}

/// Makes an LVM volume group of an unused disk, and a storage on it; the disk is overwritten.
///
/// get_node_disks with type unused lists the disks; one in use is refused. For thin disks and snapshots create_lvmthin.
/// For a group that exists create_storage. A person confirms. Needs Sys.Modify and Sys.Audit on /, and for the storage
/// Datastore.Allocate on /storage. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
struct CreateLvm {
    /// The node.
    node: NodeName,
    /// Name of the group and the storage.
    name: String,
    /// The disk, like /dev/sdb.
    device: String,
    /// Define a storage too; true.
    #[serde(default = "yes")]
    add_to_storage: bool,
}

/// Makes an LVM thin pool of an unused disk, and a storage on it; the disk is overwritten.
///
/// Good for guests on one node: thin disks, snapshots. get_node_disks with type unused lists the disks; one in use is
/// refused. Without thin disks create_lvm, with redundancy create_zfs_pool. A person confirms. Needs Sys.Modify and
/// Sys.Audit on /, and for the storage Datastore.Allocate on /storage. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
struct CreateLvmThin {
    /// The node.
    node: NodeName,
    /// Name of group, pool and storage.
    name: String,
    /// The disk, like /dev/sdb.
    device: String,
    /// Define a storage too; true.
    #[serde(default = "yes")]
    add_to_storage: bool,
}

/// Makes a ZFS pool of unused disks, and a storage on it; the disks are overwritten.
///
/// Mirror and raid10 suit guests, raidz backups and files; single survives no broken disk. get_node_disks with type unused
/// lists the disks; one in use is refused. A person confirms. Needs Sys.Modify and Sys.Audit on /, and for the storage
/// Datastore.Allocate on /storage. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
struct CreateZfsPool {
    /// The node.
    node: NodeName,
    /// Name of the pool and the storage.
    name: String,
    /// How the disks secure each other.
    raidlevel: Raid,
    /// The disks, separated by commas.
    devices: String,
    /// Define a storage too; true.
    #[serde(default = "yes")]
    add_to_storage: bool,
    /// Sector size, as a power of two; 12.
    #[schemars(range(min = 9, max = 16))]
    ashift: Option<u8>,
    /// On by default.
    compression: Option<Compression>,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Raid {
    Single,
    Mirror,
    Raid10,
    Raidz,
    Raidz2,
    Raidz3,
    Draid,
    Draid2,
    Draid3,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Compression {
    On,
    Off,
    Gzip,
    Lz4,
    Lzjb,
    Zle,
    Zstd,
}

/// Makes a file system on an unused disk, mounts it and defines a directory storage on it; the disk is overwritten.
///
/// For backups, ISO images and templates; for guests' disks create_lvmthin or create_zfs_pool. get_node_disks with type
/// unused lists the disks; one in use is refused. A person confirms. Needs Sys.Modify and Sys.Audit on /, and for the
/// storage Datastore.Allocate on /storage. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
struct CreateDirectory {
    /// The node.
    node: NodeName,
    /// Name of the storage and of /mnt/pve/NAME.
    name: String,
    /// The disk, like /dev/sdb.
    device: String,
    /// ext4 unless said.
    filesystem: Option<Filesystem>,
    /// Define a storage too; true.
    #[serde(default = "yes")]
    add_to_storage: bool,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Filesystem {
    Ext4,
    Xfs,
}

/// Writes an empty GPT partition table on an unused disk; whatever was on it is lost.
///
/// Rarely needed: create_zfs_pool, create_lvm and the like prepare a disk themselves. get_node_disks with type unused lists
/// the disks; one in use is refused. A person confirms. Needs Sys.Modify and Sys.Audit on /. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
struct InitializeGpt {
    /// The node.
    node: NodeName,
    /// The disk, like /dev/sdb.
    disk: String,
}

fn yes() -> bool {
    true
}

fn is_used() -> Expect {
    Expect::Not("used".to_owned(), json!(""))
}

/// One disk that becomes something that a storage can lie on.
struct Disk {
    node: NodeName,
    device: String,
    name: String,
    add_to_storage: bool,
}

impl Disk {
    /// What is made of it, with the last word of the path that makes it and the task that PVE starts.
    fn becomes(
        self,
        what: String,
        (path, task): (&str, &'static str),
        spec: &'static Spec,
    ) -> Making {
        let request = Request::post(format!("/nodes/{}/disks/{path}", self.node))
            .with("name", self.name)
            .with("device", self.device.as_str())
            .with("add_storage", self.add_to_storage);
        Making {
            spec,
            what,
            disks: vec![self.device],
            node: self.node,
            request,
            task,
            by: By::adding(self.add_to_storage),
            then: is_used(),
        }
    }
}

impl Changes for CreateLvm {
    const SPEC: Spec = spec(
        "create_lvm",
        "Make an LVM volume group",
        &[Example {
            ask: "Make a volume group of the new disk in pve3",
            args: r#"{"node": "pve3", "name": "fast", "device": "/dev/sdb"}"#,
        }],
    );

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/disks/lvm")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let what = format!("LVM volume group {}", self.name);
        let disk = Disk {
            node: self.node,
            device: self.device,
            name: self.name,
            add_to_storage: self.add_to_storage,
        };
        let making = disk.becomes(what, ("lvm", "lvmcreate"), &Self::SPEC);
        making.plan(cx).await
    }
}

impl Changes for CreateLvmThin {
    const SPEC: Spec = spec(
        "create_lvmthin",
        "Make an LVM thin pool",
        &[Example {
            ask: "Make a thin pool of the new disk in pve3",
            args: r#"{"node": "pve3", "name": "fast", "device": "/dev/sdb"}"#,
        }],
    );

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/disks/lvmthin")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let what = format!("LVM thin pool {}", self.name);
        let disk = Disk {
            node: self.node,
            device: self.device,
            name: self.name,
            add_to_storage: self.add_to_storage,
        };
        let making = disk.becomes(what, ("lvmthin", "lvmthincreate"), &Self::SPEC);
        making.plan(cx).await
    }
}

impl Changes for CreateZfsPool {
    const SPEC: Spec = spec(
        "create_zfs_pool",
        "Make a ZFS pool",
        &[Example {
            ask: "Make a ZFS pool of the new disk in pve3",
            args: r#"{"node": "pve3", "name": "flash", "raidlevel": "single", "devices": "/dev/sdb", "compression": "lz4"}"#,
        }],
    );

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/disks/zfs")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let disks: Vec<String> = self
            .devices
            .split([',', ';', ' '])
            .filter(|device| !device.is_empty())
            .map(str::to_owned)
            .collect();
        let request = Request::post(format!("/nodes/{}/disks/zfs", self.node))
            .with("name", self.name.as_str())
            .with("raidlevel", words::word(&self.raidlevel))
            .with("devices", disks.join(","))
            .with("add_storage", self.add_to_storage)
            .maybe("ashift", self.ashift.map(i64::from))
            .maybe(
                "compression",
                self.compression.map(|word| words::word(&word)),
            );
        Making {
            spec: &Self::SPEC,
            what: format!("ZFS pool {} ({})", self.name, words::word(&self.raidlevel)),
            disks,
            node: self.node,
            request,
            task: "zfscreate",
            by: By::adding(self.add_to_storage),
            then: is_used(),
        }
        .plan(cx)
        .await
    }
}

impl Changes for CreateDirectory {
    const SPEC: Spec = spec(
        "create_directory_storage",
        "Make a directory storage",
        &[Example {
            ask: "Use the new disk in pve3 for backups",
            args: r#"{"node": "pve3", "name": "dumps", "device": "/dev/sdb", "filesystem": "xfs"}"#,
        }],
    );

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/disks/directory")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let what = format!("file system /mnt/pve/{}", self.name);
        let disk = Disk {
            node: self.node,
            device: self.device,
            name: self.name,
            add_to_storage: self.add_to_storage,
        };
        let mut making = disk.becomes(what, ("directory", "dircreate"), &Self::SPEC);
        let filesystem = self.filesystem.map(|word| words::word(&word));
        making.request = making.request.maybe("filesystem", filesystem);
        making.plan(cx).await
    }
}

impl Changes for InitializeGpt {
    const SPEC: Spec = spec(
        "initialize_gpt",
        "Write an empty partition table",
        &[Example {
            ask: "Clear the new disk in pve3",
            args: r#"{"node": "pve3", "disk": "/dev/sdb"}"#,
        }],
    );

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/disks/initgpt")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let path = format!("/nodes/{}/disks/initgpt", self.node);
        Making {
            spec: &Self::SPEC,
            what: "empty partition table".to_owned(),
            request: Request::post(path).with("disk", self.disk.as_str()),
            disks: vec![self.disk],
            node: self.node,
            task: "diskinit",
            by: By::Admin,
            then: Expect::Is("gpt".to_owned(), json!(1)),
        }
        .plan(cx)
        .await
    }
}
