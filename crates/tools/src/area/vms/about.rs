//! What there is to see of VMs.

use super::AUDIT;
use crate::area::guest_status::GetVmStatus;
use crate::area::ops::GetMetrics;
use crate::plain::{Alias, NODE, Need, Plain, TIMEFRAME, VM, alias, choice, flag, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Read, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] =
    &[&LIST, &STATUS, &CONFIG, &PENDING, &FEATURE, &RRDDATA];

const LIST: Plain = read(
    Toolset::Qemu,
    "list_vms",
    "List a node's VMs",
    "/nodes/{node}/qemu",
)
.says(
    "Lists the VMs of one node with their state, load and memory.\n\nlist_proxmox_resources lists those of all nodes, with containers, filters and sorting; get_vm_status tells more about one. VMs that the token may not see are left out. Needs VM.Audit on /vms/VMID.",
)
.takes(&[NODE])
.needs(Need::On("/vms", "VM.Audit"))
.filtered()
.rows(&[
    "vmid",
    "name",
    "status",
    "cpus",
    "cpu",
    "mem|bytes",
    "maxmem|bytes",
    "uptime|duration",
    "template",
    "lock",
    "tags",
])
.examples(&[Example {
    ask: "Which VMs are on pve1?",
    args: r#"{"node": "pve1"}"#,
}]);

const STATUS: Alias = alias(
    (Toolset::Qemu, Risk::Read),
    "get_vm_status",
    "Show a VM's state",
    &Read::<GetVmStatus>::NEW,
)
.says(
    "Shows how one VM is: state, load, memory, disks, network cards, lock, protection.\n\nThe same as get_proxmox_vm_status, which can show snapshots, backups, tasks and addresses besides. On an offline node it is shown as last known. list_vms has the ids, get_vm_config the settings. Needs VM.Audit on /vms/VMID.",
)
.takes(&[VM])
.idempotent()
.examples(&[Example {
    ask: "How is VM 100?",
    args: r#"{"vmid": 100}"#,
}]);

const CONFIG: Plain = read(
    Toolset::Qemu,
    "get_vm_config",
    "Show a VM's settings",
    "/nodes/{node}/qemu/{vmid}/config",
)
.says(
    "Shows all settings of one VM as it runs now: hardware, disks, network cards, boot, tags, notes. Passwords are not shown.\n\nget_vm_pending shows what waits for a restart, get_vm_snapshot_config the settings of a snapshot, update_vm_config changes them. Needs VM.Audit on /vms/VMID.",
)
.takes(&[
    VM,
    flag("current", "False: as after the next restart.").otherwise("true"),
])
.needs(AUDIT)
.item(&[
    "name",
    "cores",
    "sockets",
    "cpu",
    "memory",
    "boot",
    "scsihw",
    "scsi0",
    "net0",
    "onboot",
    "tags",
])
.examples(&[
    Example {
        ask: "How is the web server configured?",
        args: r#"{"vmid": 100}"#,
    },
    Example {
        ask: "And with what waits for its restart?",
        args: r#"{"vmid": 100, "current": false}"#,
    },
]);

const PENDING: Plain = read(
    Toolset::Qemu,
    "get_vm_pending",
    "Show a VM's pending changes",
    "/nodes/{node}/qemu/{vmid}/pending",
)
.says(
    "Shows every setting of one VM with what it becomes at the next start: pending is the new value, delete means that it goes.\n\nUse it after update_vm_config on a running VM; get_proxmox_vm_status with include pending shows only what waits. reboot_vm makes it take effect. Needs VM.Audit on /vms/VMID.",
)
.takes(&[VM])
.needs(AUDIT)
.rows(&["key", "value", "pending", "delete"])
.examples(&[Example {
    ask: "What does VM 100 take over when it restarts?",
    args: r#"{"vmid": 100}"#,
}]);

const FEATURE: Plain = read(
    Toolset::Qemu,
    "get_vm_feature",
    "Ask what a VM's disks can do",
    "/nodes/{node}/qemu/{vmid}/feature",
)
.says(
    "Tells whether one VM can have snapshots, be cloned as a linked clone, or be copied in full, by what its disks are on, and which nodes see all its disks.\n\nUse it before create_vm_snapshot or clone_vm; those say themselves which disk is in the way. Needs VM.Audit on /vms/VMID.",
)
.takes(&[
    VM,
    choice(
        "feature",
        &["snapshot", "clone", "copy"],
        "clone is a linked clone, copy a full one.",
    )
    .required(),
    text("snapname", "Of this snapshot instead."),
])
.needs(AUDIT)
.item(&["hasFeature", "nodes"])
.examples(&[Example {
    ask: "Can VM 100 have snapshots?",
    args: r#"{"vmid": 100, "feature": "snapshot"}"#,
}]);

const RRDDATA: Alias = alias(
    (Toolset::Qemu, Risk::Read),
    "get_vm_rrddata",
    "Show a VM's history",
    &Read::<GetMetrics>::NEW,
)
.says(
    "Shows how one VM did over the last hour, day, week, month or year: least, average, most, last and trend of CPU, memory, disk and network, without a chart.\n\nThe same as get_proxmox_metrics, which draws one and takes nodes and storages too. For the present get_vm_status. Needs VM.Audit on /vms/VMID.",
)
.takes(&[
    VM,
    TIMEFRAME.otherwise("\"hour\""),
])
.with(&[("chart", "false")])
.idempotent()
.examples(&[Example {
    ask: "How busy was VM 100 this week?",
    args: r#"{"vmid": 100, "timeframe": "week"}"#,
}]);
