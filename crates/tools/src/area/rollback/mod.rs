//! rollback_proxmox_vm

mod back;
mod difference;
mod landing;
mod over;
mod restore;
mod saved;

use pve::{NodeName, SnapName, StorageId, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::Context;
use crate::deed::{Deed, When};
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::Plan;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Takes a VM or container back to a snapshot, or restores one of its backups, over it or as a new guest.
///
/// With snapshot, what was written since is lost and the settings of then return, protection included; a running guest
/// is switched off, and runs again only with start or saved memory. With backup, disks and snapshots are replaced and
/// it must be off (stop_proxmox_vm), unless new_vmid makes a new guest. Refused: locked and protected guests. Needs
/// VM.Snapshot.Rollback, or VM.Backup and Datastore.AllocateSpace, VM.Allocate for a new guest. Waits and reads back.
/// Undo: delete_proxmox_vm for a new guest; else none, and a person confirms.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RollbackVm {
    /// The guest's id.
    vmid: Vmid,
    /// Go back to this snapshot.
    snapshot: Option<SnapName>,
    /// Restore this backup: a volid or "latest".
    backup: Option<String>,
    /// Restore as a new guest.
    new_vmid: Option<Vmid>,
    /// For restored disks; where they were if left out.
    storage: Option<StorageId>,
    /// Start it afterwards.
    #[serde(default)]
    start: bool,
    /// Needed for a deleted guest only.
    node: Option<NodeName>,
}

impl Changes for RollbackVm {
    const SPEC: Spec = Spec {
        name: "rollback_proxmox_vm",
        title: "Go back to a snapshot, or restore a backup",
        toolset: Toolset::Core,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::NONE,
        needs: Need::AtLeastOne(&[
            Need::All(&[
                need::SEES_GUEST,
                Need::Any(&[
                    need::guest("VM.Snapshot.Rollback"),
                    need::guest("VM.Snapshot"),
                ]),
                Need::If("start", &need::guest("VM.PowerMgmt")),
            ]),
            Need::All(&[
                need::SEES_GUEST,
                need::guest("VM.Backup"),
                need::storage("Datastore.AllocateSpace"),
                Need::May(&[
                    need::guest("VM.Allocate"),
                    need::guest("VM.PowerMgmt"),
                    Need::At(Risk::Grant, &Need::On("/", "Sys.Modify")),
                    need::NETWORK,
                ]),
            ]),
        ]),
        examples: &[
            Example {
                ask: "The upgrade broke web, go back to the weekly snapshot",
                args: r#"{"vmid": 100, "snapshot": "weekly"}"#,
            },
            Example {
                ask: "Take git back to last night",
                args: r#"{"vmid": 202, "snapshot": "nightly"}"#,
            },
            Example {
                ask: "Restore staging from its last backup and start it",
                args: r#"{"vmid": 105, "backup": "nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst", "start": true}"#,
            },
            Example {
                ask: "Restore yesterday's git beside the present one, as 310",
                args: r#"{"vmid": 202, "backup": "vault:backup/ct/202/2026-11-14T01:00:05Z", "new_vmid": 310, "storage": "local-lvm"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[
        Deed::post("/nodes/{}/{guest}/snapshot/{}/rollback"),
        Deed::post("/nodes/{}/qemu").when(When::Has("archive")),
        Deed::post("/nodes/{}/lxc").when(When::Has("restore")),
    ];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        match (&self.snapshot, &self.backup) {
            (Some(_), None) if self.new_vmid.is_some() || self.storage.is_some() => {
                Err(Fault::bad_input("new_vmid and storage go with backup only")
                    .hint("leave them out; clone_proxmox_vm makes a new guest from a snapshot"))
            }
            (Some(snapshot), None) => back::plan(&self, snapshot, cx).await,
            (None, Some(backup)) => restore::plan(&self, backup, cx).await,
            (Some(_), Some(_)) => Err(Fault::bad_input(
                "a guest goes back to a snapshot or to a backup, not to both",
            )
            .hint("send one of snapshot and backup")),
            (None, None) => Err(Fault::bad_input("it is not said what to go back to").hint(format!(
                "send snapshot: NAME, or backup: \"latest\"; get_proxmox_vm_status with vmid {} and include [\"snapshots\", \"backups\"] shows them",
                self.vmid
            ))),
        }
    }
}
