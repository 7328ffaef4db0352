//! What cloud-init tells the system inside a VM at its start.

use super::AUDIT;
use crate::area::update::UpdateVm;
use crate::plain::{Alias, Plain, VM, alias, choice, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&GET, &UPDATE, &DUMP];

const GET: Plain = read(
    Toolset::Qemu,
    "get_vm_cloudinit",
    "Show a VM's cloud-init settings",
    "/nodes/{node}/qemu/{vmid}/cloudinit",
)
.says(
    "Shows the cloud-init settings of one VM: value is what its cloud-init drive says, pending what it says once written anew, delete what goes then. Passwords are not shown.\n\ndump_vm_cloudinit shows the file that the system inside reads; update_vm_cloudinit changes the settings. Needs VM.Audit on /vms/VMID.",
)
.takes(&[VM])
.needs(AUDIT)
.rows(&["key", "value", "pending", "delete"])
.examples(&[Example {
    ask: "What does cloud-init tell the CI runner?",
    args: r#"{"vmid": 111}"#,
}]);

const UPDATE: Alias = alias(
    (Toolset::Qemu, Risk::Grant),
    "update_vm_cloudinit",
    "Change a VM's cloud-init settings",
    &Change::<UpdateVm>::NEW,
)
.says(
    "Changes the cloud-init settings of one VM and writes its cloud-init drive anew; the system inside reads it at its next start.\n\nThe same as update_proxmox_vm with regenerate_cloudinit. The VM must have such a drive. User, password and keys let somebody in and ask for a confirmation. Needs VM.Config.Cloudinit and VM.Audit on /vms/VMID. Undo: the same call with the old values; an old password is not known.",
)
.takes(&[
    VM,
    text("ciuser", "The user to make.").sent_as("set.ciuser"),
    text("cipassword", "Its password.")
        .secret()
        .sent_as("set.cipassword"),
    text("sshkeys", "Public keys, one a line.").sent_as("set.sshkeys"),
    text("ipconfig0", "As ip=dhcp, or ip=CIDR,gw=ADDRESS.").sent_as("set.ipconfig0"),
    text("nameserver", "DNS servers.").sent_as("set.nameserver"),
    text("searchdomain", "DNS search domain.").sent_as("set.searchdomain"),
])
.with(&[("regenerate_cloudinit", "true")])
.examples(&[Example {
    ask: "Give the CI runner a fixed address and a new user",
    args: r#"{"vmid": 111, "ciuser": "deploy", "ipconfig0": "ip=192.168.1.30/24,gw=192.168.1.1"}"#,
}]);

const DUMP: Plain = read(
    Toolset::Qemu,
    "dump_vm_cloudinit",
    "Show what cloud-init reads",
    "/nodes/{node}/qemu/{vmid}/cloudinit/dump",
)
.says(
    "Shows a file of one VM's cloud-init drive as PVE would write it now: user data, network, or metadata. Passwords are not shown.\n\nUse it to see why a new VM has no address or user; get_vm_cloudinit has the settings behind it. Needs VM.Audit on /vms/VMID.",
)
.takes(&[
    VM,
    choice("type", &["user", "network", "meta"], "Which file.").otherwise("\"user\""),
])
.needs(AUDIT)
.lines()
.examples(&[Example {
    ask: "Which network does cloud-init set up on the CI runner?",
    args: r#"{"vmid": 111, "type": "network"}"#,
}]);
