//! move_vm_disk: a disk goes [to another storage](to_storage), or [to another VM](to_vm).

mod to_storage;
mod to_vm;

use pve::{Disk, GuestConfig, Request, StorageId, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vm;
use crate::area::disk_moves::snapshots_holding;
use crate::area::power::{State, locked};
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{Blocker, Needs, Plan};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// Moves one disk of a VM to another storage, also while it runs, or gives it to another VM on its node.
///
/// The original stays as an unused disk unless delete_original destroys it after the copy; snapshots stay with it. To
/// be given away, the disk must be unused or its VM off. Destroying and giving away ask for a confirmation. migrate_vm
/// moves whole VMs. Needs VM.Config.Disk and VM.Audit on each VM, Datastore.AllocateSpace on the storage. Undo: move it
/// back.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct MoveDisk {
    /// The VM's id.
    vmid: Vmid,
    /// Which, such as scsi0.
    disk: String,
    /// The storage it goes to.
    storage: Option<StorageId>,
    /// Or the VM that gets it.
    #[schemars(range(min = 100))]
    target_vmid: Option<Vmid>,
    /// As which disk there; the same if left out.
    target_disk: Option<String>,
    /// Destroy the original after the copy.
    #[serde(default)]
    delete_original: bool,
    /// The copy's format; as it is if left out.
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Format {
    Raw,
    Qcow2,
    Vmdk,
}

impl Format {
    /// That of a volume, which its name ends in where it is not raw.
    fn of(volume: &str) -> Self {
        match volume.rsplit_once('.') {
            Some((_, "qcow2")) => Self::Qcow2,
            Some((_, "vmdk")) => Self::Vmdk,
            _ => Self::Raw,
        }
    }
}

impl Changes for MoveDisk {
    const SPEC: Spec = Spec {
        name: "move_vm_disk",
        title: "Move a VM's disk",
        toolset: Toolset::Qemu,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[
            need::SEES_GUEST,
            need::guest("VM.Config.Disk"),
            need::storage("Datastore.AllocateSpace"),
        ]),
        examples: &[
            Example {
                ask: "Move staging's disk to tank",
                args: r#"{"vmid": 105, "disk": "scsi0", "storage": "tank"}"#,
            },
            Example {
                ask: "Move the build VM's disk to the NAS and free local-lvm",
                args: r#"{"vmid": 106, "disk": "scsi0", "storage": "nas", "delete_original": true}"#,
            },
            Example {
                ask: "Give the disk of staging to the web server as its second one",
                args: r#"{"vmid": 105, "disk": "scsi0", "target_vmid": 100, "target_disk": "scsi1"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/qemu/{}/move_disk")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let source = Source::of(cx, self.vmid, &self.disk).await?;
        match (&self.storage, self.target_vmid) {
            (Some(_), None) if self.target_disk.is_some() => {
                Err(Fault::bad_input("target_disk goes with target_vmid only")
                    .hint("leave it out; on another storage the disk keeps its key"))
            }
            (Some(storage), None) => to_storage::plan(&self, storage, &source).await,
            (None, Some(_)) if self.delete_original || self.format.is_some() => Err(
                Fault::bad_input("delete_original and format go with storage only")
                    .hint("leave them out; a disk that is given away is not copied"),
            ),
            (None, Some(target)) => {
                let target = vm(cx, target, Self::SPEC.name).await?;
                to_vm::plan(&self, &source, &target).await
            }
            _ => Err(Fault::bad_input(
                "a disk goes to a storage or to a VM, and it must be said which",
            )
            .hint("send one of storage and target_vmid")),
        }
    }
}

/// The disk, its VM, and what has to be known of it.
struct Source {
    guest: Guest,
    config: GuestConfig,
    state: State,
    disk: Disk,
    /// The snapshots that need the volume.
    snapshots: Vec<String>,
}

impl Source {
    async fn of(cx: &Context, vmid: Vmid, key: &str) -> Result<Self, Fault> {
        let guest = vm(cx, vmid, MoveDisk::SPEC.name).await?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let disk = find(&guest, &config, key)?;
        let snapshots = snapshots_holding(&guest, &disk.volume).await?;
        Ok(Self {
            guest,
            config,
            state,
            disk,
            snapshots,
        })
    }

    /// "scsi0 of VM 105 (staging)"
    fn label(&self) -> String {
        format!("{} of {}", self.disk.key, self.guest.label())
    }

    fn blockers(&self) -> Vec<Blocker> {
        let lock = self.config.lock();
        lock.iter().map(|lock| locked(&self.guest, lock)).collect()
    }

    /// Only what is on this storage can be worked with.
    fn needs(&self, storage: &str) -> Vec<Needs> {
        let path = self.guest.at.acl_path();
        vec![
            Needs::on(&path, "VM.Audit"),
            Needs::on(&path, "VM.Config.Disk"),
            Needs::on(format!("/storage/{storage}"), "Datastore.AllocateSpace"),
        ]
    }

    /// The request that moves it, but for where to.
    fn request(&self) -> Request {
        Request::post(self.guest.at.path("move_disk"))
            .with("disk", &self.disk.key)
            .maybe("digest", self.config.digest())
    }
}

/// The disk of this key, on a storage; or a fault that names those there are.
fn find(guest: &Guest, config: &GuestConfig, key: &str) -> Result<Disk, Fault> {
    let mut disks = config.disks();
    disks.retain(|disk| disk.storage.is_some());
    if let Some(at) = disks.iter().position(|disk| disk.key == key) {
        return Ok(disks.swap_remove(at));
    }
    let keys: Vec<_> = disks.iter().map(|disk| disk.key.as_str()).collect();
    let message = format!("{} has no disk {}", guest.label(), words::clip(key, 40));
    Err(
        Fault::new(Kind::NotFound, message).hint(match keys.as_slice() {
            [] => "it has none on a storage".to_owned(),
            keys => format!("its disks are {}", words::list(keys)),
        }),
    )
}
