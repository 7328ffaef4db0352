//! Snapshots of VMs.

use super::AUDIT;
use crate::area::rollback::RollbackVm;
use crate::area::snapshot::{DeleteSnapshot, SnapshotVm};
use crate::plain::{Alias, Arg, Plain, VM, alias, flag, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &CREATE, &DELETE, &ROLLBACK, &CONFIG];

const SNAPSHOT: Arg = text("snapname", "The snapshot's name.").required();

const LIST: Plain = read(
    Toolset::Qemu,
    "list_vm_snapshots",
    "List a VM's snapshots",
    "/nodes/{node}/qemu/{vmid}/snapshot",
)
.says(
    "Lists the snapshots of one VM: when each was taken, which it builds on, whether it holds memory. The row current is the VM as it is now.\n\nlist_proxmox_resources with resource_type snapshot lists those of all guests. Needs VM.Audit on /vms/VMID.",
)
.takes(&[VM])
.needs(AUDIT)
.rows(&["name", "snaptime|time", "parent", "vmstate", "description"])
.examples(&[Example {
    ask: "Which snapshots does VM 100 have?",
    args: r#"{"vmid": 100}"#,
}]);

const CREATE: Alias = alias(
    (Toolset::Qemu, Risk::Change),
    "create_vm_snapshot",
    "Take a snapshot of a VM",
    &Change::<SnapshotVm>::NEW,
)
.says(
    "Takes a snapshot of one VM, disks and settings, with vmstate also the memory of a running one.\n\nThe same as snapshot_proxmox_vm. It lies beside the disks and is no backup; the VM runs on. A disk that cannot have snapshots is named beforehand. Needs VM.Snapshot and VM.Audit on /vms/VMID. Undo: delete_vm_snapshot.",
)
.takes(&[
    VM,
    text("snapname", "The new snapshot's name.")
        .required()
        .sent_as("name"),
    text("description", "Notes for it."),
    flag("vmstate", "Save the memory too."),
])
.examples(&[Example {
    ask: "Snapshot the web server before its upgrade",
    args: r#"{"vmid": 100, "snapname": "before-nginx", "description": "before nginx 1.29"}"#,
}]);

const DELETE: Alias = alias(
    (Toolset::Qemu, Risk::Destroy),
    "delete_vm_snapshot",
    "Delete a VM's snapshot",
    &Change::<DeleteSnapshot>::NEW,
)
.says(
    "Deletes one snapshot of a VM for good; the VM runs on as it is, and later snapshots stay.\n\nThe same as delete_proxmox_vm_snapshot. list_vm_snapshots has the names. Locked and protected VMs are refused. It asks for a confirmation. Needs VM.Snapshot and VM.Audit on /vms/VMID. Undo: none.",
)
.takes(&[
    VM,
    SNAPSHOT.sent_as("snapshot"),
    flag("force", "Forget it even if parts stay on disk."),
])
.examples(&[Example {
    ask: "The upgrade of web went well, drop the snapshot before it",
    args: r#"{"vmid": 100, "snapname": "before-upgrade"}"#,
}]);

const ROLLBACK: Alias = alias(
    (Toolset::Qemu, Risk::Destroy),
    "rollback_vm_snapshot",
    "Take a VM back to a snapshot",
    &Change::<RollbackVm>::NEW,
)
.says(
    "Takes one VM back to a snapshot: what was written since is lost, and the settings of then return. A running VM is switched off, and runs again only with start or saved memory.\n\nThe same as rollback_proxmox_vm, which also restores backups. Protected VMs are refused. It asks for a confirmation. Needs VM.Snapshot.Rollback and VM.Audit on /vms/VMID. Undo: none.",
)
.takes(&[
    VM,
    SNAPSHOT.sent_as("snapshot"),
    flag("start", "Start it afterwards."),
])
.examples(&[Example {
    ask: "The upgrade broke web, go back to the weekly snapshot",
    args: r#"{"vmid": 100, "snapname": "weekly"}"#,
}]);

const CONFIG: Plain = read(
    Toolset::Qemu,
    "get_vm_snapshot_config",
    "Show the settings of a snapshot",
    "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config",
)
.says(
    "Shows the settings that one VM had when a snapshot was taken, and that rollback_vm_snapshot brings back. Passwords are not shown.\n\nlist_vm_snapshots has the names, get_vm_config the settings of now. Needs VM.Audit on /vms/VMID.",
)
.takes(&[VM, SNAPSHOT])
.needs(AUDIT)
.item(&[
    "description",
    "snaptime|time",
    "parent",
    "name",
    "cores",
    "memory",
    "scsi0",
    "net0",
])
.examples(&[Example {
    ask: "How was the web server configured before its upgrade?",
    args: r#"{"vmid": 100, "snapname": "before-upgrade"}"#,
}]);
