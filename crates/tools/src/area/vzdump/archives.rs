//! Single backups: making one, and what is in one.

use crate::area::backup::BackupVm;
use crate::area::storage::file_restore::ListFileRestore;
use crate::plain::{Alias, NODE, Need, Plain, alias, choice, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Read, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&CREATE, &DEFAULTS, &CONFIG, &FILES];

const CREATE: Alias = alias(
    (Toolset::Backup, Risk::Disrupt),
    "create_vzdump",
    "Back up a guest",
    &Change::<BackupVm>::NEW,
)
.says(
    "Backs up one VM or container now; another name of backup_proxmox_vm, which can also prune and write notes.\n\nMode snapshot keeps the guest running; suspend and stop interrupt it and ask for a confirmation. For several guests make a call for each, or create_backup_job. Needs VM.Backup on the guest and Datastore.AllocateSpace on the storage. Waits until the storage lists it. Undo: none.",
)
.takes(&[
    whole("vmid", "The guest's id.").within(100, 999_999_999).required(),
    text("storage", "Where to; the roomiest if left out."),
    choice("mode", &["snapshot", "suspend", "stop"], "How it is held still."),
])
.examples(&[Example {
    ask: "Dump staging to the NAS",
    args: r#"{"vmid": 105, "storage": "nas", "mode": "snapshot"}"#,
}]);

const DEFAULTS: Plain = read(
    Toolset::Backup,
    "get_vzdump_defaults",
    "Show backup defaults",
    "/nodes/{node}/vzdump/defaults",
)
.says(
    "Shows what holds for backups on a node where neither a job nor a call says otherwise: mode, compression, limits, what is kept.\n\nget_backup_job shows what a job says itself. Needs Datastore.Audit on the storage (local if none is named), Sys.Audit on the node for some fields.",
)
.takes(&[NODE, text("storage", "With this storage's own rules.")])
.needs(Need::All(&[
    Need::If("storage", &Need::On("/storage/{storage}", "Datastore.Audit")),
    Need::On("/nodes/{node}", "Sys.Audit"),
]))
.item(&["mode", "storage", "compress", "prune-backups"])
.examples(&[Example {
    ask: "What does a backup to the NAS do by default?",
    args: r#"{"node": "pve1", "storage": "nas"}"#,
}]);

const CONFIG: Plain = read(
    Toolset::Backup,
    "get_vzdump_extractconfig",
    "Show the configuration in a backup",
    "/nodes/{node}/vzdump/extractconfig",
)
.says(
    "Shows the guest's configuration as it is kept in a backup: what a restore would bring back. Passwords in it are blanked.\n\nlist_storage_content has the volumes; get_proxmox_vm_status shows how the guest is now, rollback_proxmox_vm restores it. Needs VM.Backup on the guest and Datastore.AllocateSpace on the storage.",
)
.takes(&[
    NODE,
    text("volume", "The backup, as nas:backup/vzdump-qemu-105-….vma.zst.").required(),
])
.needs(Need::On("/vms", "VM.Backup"))
.lines()
.examples(&[Example {
    ask: "How was staging set up when it was last backed up?",
    args: r#"{"node": "pve1", "volume": "nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst"}"#,
}]);

const FILES: Alias = alias(
    (Toolset::Backup, Risk::Read),
    "list_backup_file_restore",
    "List files in a backup",
    &Read::<ListFileRestore>::NEW,
)
.says(
    "Lists the files in a backup on PBS storage, one directory at a time; another name of list_file_restore.\n\nBegin at / and go on with the paths that it shows. For a VM it starts a small machine on the node, which takes some seconds. download_file_restore gets one file out, rollback_proxmox_vm restores a whole guest. Needs Datastore.AllocateSpace on /storage/NAME and VM.Backup on the guest.",
)
.takes(&[
    NODE,
    text("storage", "A storage of type pbs.").required(),
    text("volume", "The backup, as storages list it.").required(),
    text("filepath", "The directory, as this tool shows it; /."),
])
.idempotent()
.looks_inside()
.examples(&[Example {
    ask: "What is in the last backup of git?",
    args: r#"{"node": "pve1", "storage": "vault", "volume": "vault:backup/ct/202/2026-11-15T01:00:04Z"}"#,
}]);
