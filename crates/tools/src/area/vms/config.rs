//! Settings of VMs.

use crate::area::update::UpdateVm;
use crate::plain::{Alias, UNSET, VM, alias, flag, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&UPDATE];

const UPDATE: Alias = alias(
    (Toolset::Qemu, Risk::Grant),
    "update_vm_config",
    "Change a VM's settings",
    &Change::<UpdateVm>::NEW,
)
.says(
    "Changes settings of one VM; the answer says what waits for a restart.\n\nThe same as update_proxmox_vm, which takes every other setting too; cloud-init is update_vm_cloudinit, disks grow with resize_vm_disk. Deleting a disk's key detaches it, deleting unusedN destroys that volume: these ask for a confirmation. A changed card keeps its MAC. Needs VM.Config.* for what it changes and VM.Audit on /vms/VMID. Undo: the same call with the old values.",
)
.takes(&[
    VM,
    text("name", "Its name.").sent_as("set.name"),
    whole("memory", "In MiB.").within(16, 16_777_216).sent_as("set.memory"),
    whole("cores", "Per socket.").within(1, 1024).sent_as("set.cores"),
    whole("sockets", "CPU sockets.").within(1, 4).sent_as("set.sockets"),
    text("cpu", "CPU type, such as host.").sent_as("set.cpu"),
    text("net0", "As virtio,bridge=vmbr0,tag=20.").sent_as("set.net0"),
    text("description", "Notes.").sent_as("set.description"),
    flag("onboot", "Start it with its node.").sent_as("set.onboot"),
    text("agent", "Guest agent: 1, or options.").sent_as("set.agent"),
    text("boot", "As order=scsi0;net0.").sent_as("set.boot"),
    text("tags", "All its tags; semicolons between.").sent_as("set.tags"),
    text("hotplug", "As disk,network,usb.").sent_as("set.hotplug"),
    UNSET,
])
.examples(&[
    Example {
        ask: "Give staging 4 GiB and 4 cores",
        args: r#"{"vmid": 105, "memory": 4096, "cores": 4}"#,
    },
    Example {
        ask: "Tag the web server public, and take its notes away",
        args: r#"{"vmid": 100, "tags": "prod;web;public", "delete": "description"}"#,
    },
]);
