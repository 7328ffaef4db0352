//! Settings of a container, and disks that grow.

use crate::area::update::UpdateVm;
use crate::plain::{Alias, CONTAINER, UNSET, alias, flag, number, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(super) const TOOLS: &[&dyn Tool] = &[&UPDATE, &RESIZE];

const UPDATE: Alias = alias(
    (Toolset::Lxc, Risk::Grant),
    "update_container_config",
    "Change a container's settings",
    &Change::<UpdateVm>::NEW,
)
.says(
    "Changes settings of a container; the answer says what waits for reboot_container.\n\nupdate_proxmox_vm changes any setting, disks too; resize_container_disk makes one larger; get_container_config shows what is set. A changed card keeps its MAC; features other than nesting are root's. Asks first if it interrupts or destroys. Needs VM.Config.* for what it changes, VM.Allocate for features. Undo: this tool with the old values.",
)
.takes(&[
    CONTAINER,
    text("hostname", "A DNS name.").sent_as("set.hostname"),
    whole("memory", "In MiB.").within(16, 16_777_216).sent_as("set.memory"),
    whole("swap", "In MiB.").within(0, 16_777_216).sent_as("set.swap"),
    whole("cores", "CPU cores.").within(1, 8192).sent_as("set.cores"),
    number("cpulimit", "Cores' worth of time; 0 is all.").at_least(0).sent_as("set.cpulimit"),
    text("net0", "As name=eth0,bridge=vmbr0,ip=dhcp.").sent_as("set.net0"),
    text("nameserver", "DNS servers.").sent_as("set.nameserver"),
    text("searchdomain", "DNS domain.").sent_as("set.searchdomain"),
    flag("onboot", "Start with the node.").sent_as("set.onboot"),
    text("description", "Notes.").sent_as("set.description"),
    text("features", "As nesting=1.").sent_as("set.features"),
    text("tags", "All of them, split by \";\".").sent_as("set.tags"),
    UNSET,
])
.examples(&[
    Example {
        ask: "Give the DNS container 1 GiB, notes, and no start order",
        args: r#"{"vmid": 200, "memory": 1024, "description": "bind and dnsmasq", "delete": "startup"}"#,
    },
    Example {
        ask: "Two cores, half a core's time and its own DNS server for media",
        args: r#"{"vmid": 203, "cores": 2, "cpulimit": 0.5, "nameserver": "192.168.1.1", "onboot": true, "tags": "home"}"#,
    },
    Example {
        ask: "Put media into VLAN 20",
        args: r#"{"vmid": 203, "net0": "name=eth0,bridge=vmbr0,tag=20,ip=dhcp"}"#,
    },
]);

const RESIZE: Alias = alias(
    (Toolset::Lxc, Risk::Change),
    "resize_container_disk",
    "Make a container's disk larger",
    &Change::<UpdateVm>::NEW,
)
.says(
    "Makes a disk of a container larger, with the file system on it, while it runs.\n\nget_container_config has the names: rootfs, mp0 and so on. A disk never shrinks. update_proxmox_vm grows several at once. Needs VM.Config.Disk and VM.Config.Options, Datastore.AllocateSpace on its storage. Undo: none.",
)
.takes(&[
    CONTAINER,
    text("disk", "rootfs or mpN.").required(),
    text("size", "New size, or what to add, as +8G.")
        .required()
        .sent_as("grow.{disk}"),
])
.examples(&[
    Example {
        ask: "4 GiB more for the DNS container",
        args: r#"{"vmid": 200, "disk": "rootfs", "size": "+4G"}"#,
    },
    Example {
        ask: "Make the data disk of backup-helper 40 GiB",
        args: r#"{"vmid": 208, "disk": "mp0", "size": "40G"}"#,
    },
]);
