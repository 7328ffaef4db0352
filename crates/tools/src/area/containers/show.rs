//! Containers as they are.

use crate::area::guest_status::GetVmStatus;
use crate::plain::{Alias, CONTAINER, NODE, Need, Plain, TIMEFRAME, alias, choice, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Read, Tool};

/// The tools of this subject.
pub(super) const TOOLS: &[&dyn Tool] = &[
    &LIST,
    &STATUS,
    &CONFIG,
    &PENDING,
    &INTERFACES,
    &FIGURES,
    &FEATURE,
];

const AUDIT: Need = Need::On("/vms/{vmid}", "VM.Audit");

const LIST: Plain = read(
    Toolset::Lxc,
    "list_containers",
    "List a node's containers",
    "/nodes/{node}/lxc",
)
.says(
    "Lists the containers of one node with their state, load and memory.\n\nlist_proxmox_resources lists those of all nodes, with VMs, filters and sorting; get_container_status tells more about one. Containers that the token may not see are left out. Needs VM.Audit on /vms/VMID.",
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
    "maxdisk|bytes",
    "uptime|duration",
    "template",
    "lock",
    "tags",
])
.examples(&[Example {
    ask: "Which containers are on pve1?",
    args: r#"{"node": "pve1"}"#,
}]);

const STATUS: Alias = alias(
    (Toolset::Lxc, Risk::Read),
    "get_container_status",
    "Show a container",
    &Read::<GetVmStatus>::NEW,
)
.says(
    "Shows one container: state, uptime, CPU, memory, disks, network cards, lock and protection.\n\nThe same as get_proxmox_vm_status, which also shows snapshots, backups and tasks. For its settings use get_container_config, to find one list_containers. Needs VM.Audit.",
)
.takes(&[CONTAINER])
.idempotent()
.examples(&[Example {
    ask: "How is the DNS container?",
    args: r#"{"vmid": 200}"#,
}]);

const CONFIG: Plain = read(
    Toolset::Lxc,
    "get_container_config",
    "Show a container's settings",
    "/nodes/{node}/lxc/{vmid}/config",
)
.says(
    "Shows all settings of one container by PVE's names, as after its next start: disks, network cards, features, tags, notes. Environment variables are blanked.\n\nUse it before update_container_config; get_container_pending tells what waits for that start. Needs VM.Audit.",
)
.takes(&[CONTAINER])
.needs(AUDIT)
.item(&[
    "hostname", "ostype", "cores", "memory", "swap", "rootfs", "net0", "onboot", "tags",
])
.examples(&[Example {
    ask: "How is the git container configured?",
    args: r#"{"vmid": 202}"#,
}]);

const PENDING: Plain = read(
    Toolset::Lxc,
    "get_container_pending",
    "Show a container's pending settings",
    "/nodes/{node}/lxc/{vmid}/pending",
)
.says(
    "Lists a container's settings with those that wait for its next start: pending is the new value, delete means removal.\n\nreboot_container brings them into force; update_container_config changes them; get_container_config shows the values alone. Needs VM.Audit.",
)
.takes(&[CONTAINER])
.needs(AUDIT)
.rows(&["key", "value", "pending", "delete"])
.examples(&[Example {
    ask: "What waits for a restart of dns?",
    args: r#"{"vmid": 200}"#,
}]);

const INTERFACES: Plain = read(
    Toolset::Lxc,
    "get_container_interfaces",
    "Show a container's addresses",
    "/nodes/{node}/lxc/{vmid}/interfaces",
)
.says(
    "Lists the network interfaces inside a running container with their MAC and IP addresses; nothing for a stopped one.\n\nUse it to learn what DHCP gave it; get_container_config shows what is configured. For a VM use get_proxmox_vm_status with include addresses. Needs VM.Audit.",
)
.takes(&[CONTAINER])
.needs(AUDIT)
.rows(&["name", "hwaddr", "inet", "inet6"])
.examples(&[Example {
    ask: "Which address has the proxy?",
    args: r#"{"vmid": 201}"#,
}]);

const FIGURES: Plain = read(
    Toolset::Lxc,
    "get_container_rrddata",
    "Show a container's history",
    "/nodes/{node}/lxc/{vmid}/rrddata",
)
.says(
    "Lists what a container used over the last hour, day, week, month or year: CPU share, memory, disk, network, a row a step.\n\nget_proxmox_metrics draws and sums up the same for guests, nodes and storages; get_container_status has the present. Needs VM.Audit.",
)
.takes(&[
    CONTAINER,
    TIMEFRAME.otherwise("\"hour\""),
])
.needs(AUDIT)
.rows(&[
    "time|time",
    "cpu",
    "mem|bytes",
    "disk|bytes",
    "netin",
    "netout",
])
.examples(&[Example {
    ask: "What did grafana use today?",
    args: r#"{"vmid": 207, "timeframe": "day"}"#,
}]);

const FEATURE: Plain = read(
    Toolset::Lxc,
    "get_container_feature",
    "Ask what a container's disks can do",
    "/nodes/{node}/lxc/{vmid}/feature",
)
.says(
    "Tells whether a container's disks can have snapshots, be cloned as links, or be copied, which depends on their storages.\n\nclone is yes for templates only; copy is a full clone. create_container_snapshot and clone_container check it by themselves. Needs VM.Audit.",
)
.takes(&[
    CONTAINER,
    choice("feature", &["snapshot", "clone", "copy"], "Which ability.").required(),
    text("snapname", "Of this snapshot instead."),
])
.needs(AUDIT)
.item(&["hasFeature"])
.examples(&[Example {
    ask: "Can git have snapshots?",
    args: r#"{"vmid": 202, "feature": "snapshot"}"#,
}]);
