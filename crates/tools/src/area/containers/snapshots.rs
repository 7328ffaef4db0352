//! Snapshots of a container.

use crate::area::rollback::RollbackVm;
use crate::area::snapshot::{DeleteSnapshot, SnapshotVm};
use crate::plain::{Alias, Arg, CONTAINER, Need, Plain, alias, flag, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(super) const TOOLS: &[&dyn Tool] = &[&LIST, &CREATE, &DELETE, &ROLLBACK];

const NAME: Arg = text("snapname", "The snapshot's name.").required();

const LIST: Plain = read(
    Toolset::Lxc,
    "list_container_snapshots",
    "List a container's snapshots",
    "/nodes/{node}/lxc/{vmid}/snapshot",
)
.says(
    "Lists the snapshots of one container with time, parent and notes; the row \"current\" is its present state.\n\nUse it before rollback_container_snapshot or delete_container_snapshot; list_proxmox_resources with resource_type snapshot lists those of all guests. Needs VM.Audit.",
)
.takes(&[CONTAINER])
.needs(Need::On("/vms/{vmid}", "VM.Audit"))
.rows(&["name", "snaptime|time", "parent", "description"])
.examples(&[Example {
    ask: "Which snapshots has git?",
    args: r#"{"vmid": 202}"#,
}]);

const CREATE: Alias = alias(
    (Toolset::Lxc, Risk::Change),
    "create_container_snapshot",
    "Take a snapshot of a container",
    &Change::<SnapshotVm>::NEW,
)
.says(
    "Takes a snapshot of a container's disks and settings; it runs on, frozen for a moment.\n\nUse it before a risky change. It lies on the container's own storage and is no backup: that is backup_proxmox_vm. Disks that cannot have snapshots are named beforehand. Needs VM.Snapshot. Undo: delete_container_snapshot.",
)
.takes(&[
    CONTAINER,
    NAME.sent_as("name"),
    text("description", "Notes for it."),
])
.examples(&[Example {
    ask: "Snapshot git before the upgrade",
    args: r#"{"vmid": 202, "snapname": "before-13", "description": "before Forgejo 13"}"#,
}]);

const DELETE: Alias = alias(
    (Toolset::Lxc, Risk::Destroy),
    "delete_container_snapshot",
    "Delete a snapshot of a container",
    &Change::<DeleteSnapshot>::NEW,
)
.says(
    "Deletes one snapshot of a container for good; the present state and other snapshots stay.\n\nTo go back to it use rollback_container_snapshot first. Refused: locked and protected containers. A person confirms. Needs VM.Snapshot. Undo: none.",
)
.takes(&[
    CONTAINER,
    NAME.sent_as("snapshot"),
    flag("force", "Forget a broken one even if parts stay."),
])
.examples(&[Example {
    ask: "Drop last night's snapshot of git",
    args: r#"{"vmid": 202, "snapname": "nightly"}"#,
}]);

const ROLLBACK: Alias = alias(
    (Toolset::Lxc, Risk::Destroy),
    "rollback_container_snapshot",
    "Take a container back to a snapshot",
    &Change::<RollbackVm>::NEW,
)
.says(
    "Takes a container back to a snapshot: what was written since is lost, and the settings of then return.\n\nA running one is switched off, and starts again only with start. rollback_proxmox_vm restores backups, too; list_container_snapshots has the names. Refused: locked and protected containers. A person confirms. Needs VM.Snapshot.Rollback, VM.PowerMgmt with start. Undo: none.",
)
.takes(&[
    CONTAINER,
    NAME.sent_as("snapshot"),
    flag("start", "Start it afterwards."),
])
.examples(&[Example {
    ask: "Take git back to last night",
    args: r#"{"vmid": 202, "snapname": "nightly", "start": true}"#,
}]);
