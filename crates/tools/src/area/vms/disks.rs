//! Disks of VMs.

use super::transfer::MoveDisk;
use crate::area::update::UpdateVm;
use crate::plain::{Alias, VM, alias, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&RESIZE, &Change::<MoveDisk>::NEW];

const RESIZE: Alias = alias(
    (Toolset::Qemu, Risk::Change),
    "resize_vm_disk",
    "Grow a VM's disk",
    &Change::<UpdateVm>::NEW,
)
.says(
    "Makes one disk of a VM larger, also while it runs; partitions and file systems inside have to be grown there.\n\nThe same as update_proxmox_vm with grow. A disk never gets smaller. get_vm_config shows the disks. Needs VM.Config.Disk and VM.Audit on /vms/VMID, Datastore.AllocateSpace on the disk's storage. Undo: none.",
)
.takes(&[
    VM,
    text("disk", "Which, such as scsi0.").required(),
    text("size", "New size (40G), or what to add (+8G).")
        .required()
        .sent_as("grow.{disk}"),
])
.examples(&[Example {
    ask: "Add 8 GiB to the web server's disk",
    args: r#"{"vmid": 100, "disk": "scsi0", "size": "+8G"}"#,
}]);
