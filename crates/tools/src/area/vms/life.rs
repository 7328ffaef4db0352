//! VMs that come, go and move.

use crate::area::clone::CloneVm;
use crate::area::create::CreateVm;
use crate::area::delete::DeleteVm;
use crate::area::migrate::MigrateVm;
use crate::area::vms::template::ConvertVm;
use crate::plain::{Alias, Arg, NODE, VM, alias, choice, flag, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &CREATE,
    &CLONE,
    &MIGRATE,
    &Change::<ConvertVm>::NEW,
    &DELETE,
];

const POOL: Arg = text("pool", "The pool it goes into.");

const CREATE: Alias = alias(
    (Toolset::Qemu, Risk::Change),
    "create_vm",
    "Create a VM",
    &Change::<CreateVm>::NEW,
)
.says(
    "Creates one VM on a node with an empty disk, by PVE's own names of its settings.\n\ncreate_proxmox_vm does it with fewer ones, also from cloud-init templates; for a copy use clone_vm. What is left out is chosen, and the plan says why; a wrong storage, bridge or image is refused with the right ones. Needs VM.Allocate and VM.Config.* on /vms/VMID, Datastore.AllocateSpace, SDN.Use. Undo: delete_vm.",
)
.takes(&[
    NODE,
    whole("vmid", "The new VM's id.")
        .within(100, 999_999_999)
        .required(),
    text("name", "A DNS name.").required(),
    whole("memory", "MiB; default 2048.").within(16, 16_777_216),
    whole("cores", "Default 2.").within(1, 1024),
    whole("sockets", "Default 1.").within(1, 4),
    text("cpu", "CPU type; default x86-64-v2-AES.").sent_as("more.cpu"),
    text("ostype", "l26 (default), win11, other, ..."),
    text("scsihw", "Default virtio-scsi-single.").sent_as("more.scsihw"),
    text("scsi0", "Its disk, as local-lvm:32.").sent_as("more.scsi0"),
    text("cdrom", "An ISO image, as nas:iso/x.iso.").sent_as("iso"),
    text("net0", "Default virtio,bridge=vmbr0."),
    text("boot", "As order=scsi0;net0.").sent_as("more.boot"),
    choice("bios", &["seabios", "ovmf"], "Default seabios."),
    text("machine", "As q35.").sent_as("more.machine"),
    text("agent", "Guest agent: 1, or options.").sent_as("more.agent"),
    flag("start", "Start it."),
    flag("onboot", "Start it with its node.").sent_as("more.onboot"),
    text("description", "Notes.").sent_as("more.description"),
    POOL,
    text("tags", "Separated by semicolons."),
])
.examples(&[
    Example {
        ask: "A VM 300 on pve1 to install Debian on",
        args: r#"{"node": "pve1", "vmid": 300, "name": "app1", "memory": 4096, "scsi0": "local-lvm:32", "cdrom": "nas:iso/debian-13.1.0-amd64-netinst.iso", "net0": "virtio,bridge=vmbr0"}"#,
    },
    Example {
        ask: "VM 301 on pve2 with the node's own CPU, notes, and an agent, started with the node",
        args: r#"{"node": "pve2", "vmid": 301, "name": "app2", "cpu": "host", "scsihw": "virtio-scsi-pci", "scsi0": "tank:16,ssd=1", "machine": "q35", "boot": "order=scsi0;net0", "agent": "1", "onboot": true, "description": "builds", "tags": "lab"}"#,
    },
]);

const CLONE: Alias = alias(
    (Toolset::Qemu, Risk::Change),
    "clone_vm",
    "Clone a VM",
    &Change::<CloneVm>::NEW,
)
.says(
    "Clones one VM into a new one; the source runs on, unchanged.\n\nThe same as clone_proxmox_vm. A full clone copies every disk; a linked one is instant and keeps its template undeletable. The clone has the source's hostname and addresses inside. It waits for the copy. Needs VM.Clone and VM.Audit on the source, VM.Allocate on the new id or pool, Datastore.AllocateSpace, SDN.Use. Undo: delete_vm.",
)
.takes(&[
    VM,
    whole("newid", "The clone's id.")
        .within(100, 999_999_999)
        .required()
        .sent_as("new_vmid"),
    text("name", "The clone's name."),
    text("target", "Its node; another needs shared storage."),
    flag("full", "False: linked, of a template only.").otherwise("true"),
    text("storage", "For a full clone's disks."),
    text("description", "Notes for it."),
    POOL,
    text("snapname", "Clone from this snapshot.").sent_as("snapshot"),
])
.examples(&[Example {
    ask: "Make a full copy of staging as 300",
    args: r#"{"vmid": 105, "newid": 300, "name": "staging-copy"}"#,
}]);

const MIGRATE: Alias = alias(
    (Toolset::Qemu, Risk::Disrupt),
    "migrate_vm",
    "Move a VM to another node",
    &Change::<MigrateVm>::NEW,
)
.says(
    "Moves one VM to another node; a running one moves online, with a short pause.\n\nOne that cannot moves with restart and is down meanwhile. The same as migrate_proxmox_vm, which also chooses the node. Disks, devices, HA and replication that stand in the way are named beforehand. It waits until it is seen there; HA only queues it. Needs VM.Migrate and VM.Audit on /vms/VMID, with targetstorage VM.Config.Disk and Datastore.AllocateSpace. Undo: migrate_vm back.",
)
.takes(&[
    VM,
    text("target", "The node to move it to.").required(),
    flag("online", "Keep it running; the default if it runs."),
    flag("restart", "Stop it, move it, start it there."),
    flag("with_local_disks", "Copy a running VM's local disks."),
    text("targetstorage", "For copied disks, there.").sent_as("target_storage"),
])
.examples(&[
    Example {
        ask: "Move staging to pve2",
        args: r#"{"vmid": 105, "target": "pve2"}"#,
    },
    Example {
        ask: "Shut the desktop down, move it to pve1, start it there",
        args: r#"{"vmid": 110, "target": "pve1", "restart": true}"#,
    },
]);

const DELETE: Alias = alias(
    (Toolset::Qemu, Risk::Destroy),
    "delete_vm",
    "Delete a VM",
    &Change::<DeleteVm>::NEW,
)
.says(
    "Deletes one VM with all its disks and snapshots, for good; backups stay, and so do disks that its settings do not name.\n\nThe same as delete_proxmox_vm; delete_proxmox_vm_preview shows what goes. Refused: a running VM unless stop is true, a protected one, a template with linked clones. It asks for a confirmation. Needs VM.Allocate and VM.Audit on /vms/VMID, VM.PowerMgmt with stop. Undo: none but a backup.",
)
.takes(&[
    VM,
    flag("purge", "Also from backup jobs, replication and HA."),
    flag("stop", "Switch it off first if it runs."),
])
.examples(&[Example {
    ask: "Delete staging, off or not, and take it out of the backup jobs",
    args: r#"{"vmid": 105, "purge": true, "stop": true}"#,
}]);
