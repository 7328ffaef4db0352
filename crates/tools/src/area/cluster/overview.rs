//! How the cluster stands: its version, nodes, resources, tasks and log.

use super::AUDIT;
use crate::area::inventory::ListResources;
use crate::plain::{Alias, Need, Plain, alias, choice, read, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Read, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] =
    &[&VERSION, &STATUS, &RESOURCES, &TASKS, &LOG, &NEXT_ID];

const VERSION: Plain = read(Toolset::Cluster, "get_version", "Show the version of PVE", "/version")
    .says(
        "Shows which version of Proxmox VE answers here.\n\nNodes can differ for a while during an upgrade: get_proxmox_node_status shows the version of one node and its pending updates. Any login may see it.",
    )
    .item(&["version", "release", "repoid"])
    .examples(&[Example {
        ask: "Which version of Proxmox is this?",
        args: "{}",
    }]);

const STATUS: Plain = read(
    Toolset::Cluster,
    "get_cluster_status",
    "Show the cluster's membership",
    "/cluster/status",
)
.says(
    "Shows the cluster's name, whether it is quorate, and for each node its address and whether it is online.\n\nWithout quorum nothing can be changed. For load and memory use list_proxmox_resources with resource_type node, for one node get_proxmox_node_status, for what is wrong list_proxmox_findings. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["type", "name", "nodeid", "ip", "online", "local", "quorate", "nodes", "version"])
.examples(&[Example {
    ask: "Does the cluster have quorum?",
    args: "{}",
}]);

const RESOURCES: Alias = alias(
    (Toolset::Cluster, Risk::Read),
    "get_cluster_resources",
    "List the cluster's resources",
    &Read::<ListResources>::NEW,
)
.says(
    "Lists guests, nodes, storages and pools with their state and load.\n\nlist_proxmox_resources is the same with filters, sorting and more kinds, and the better choice. What the token may not see is left out (VM.Audit, Datastore.Audit, Sys.Audit, Pool.Audit); a note says where.",
)
.takes(&[choice("type", &["vm", "node", "storage", "pool", "all"], "Which of them.")
    .sent_as("resource_type")
    .otherwise("\"all\"")])
.idempotent()
.examples(&[Example {
    ask: "What is in the cluster?",
    args: "{}",
}]);

const TASKS: Plain = read(
    Toolset::Cluster,
    "get_cluster_tasks",
    "List recent tasks",
    "/cluster/tasks",
)
.says(
    "Lists the newest tasks of all nodes: what was started, by whom, and how it ended.\n\nget_proxmox_task shows one with its log; list_proxmox_findings tells which failures matter. Each node keeps about 25 here; older ones are in the node's own list. Only one's own are shown without Sys.Audit on the node.",
)
.takes(&[whole("limit", "Tasks at most.").within(1, 500).otherwise("50").limit()])
.needs(Need::On("/nodes", "Sys.Audit"))
.rows(&["starttime|time", "endtime|time", "node", "type", "id", "user", "status", "upid"])
.newest_by("starttime")
.filtered()
.examples(&[Example {
    ask: "What happened in the cluster lately?",
    args: r#"{"limit": 10}"#,
}]);

const LOG: Plain = read(Toolset::Cluster, "get_cluster_log", "Read the cluster's log", "/cluster/log")
    .says(
        "Shows the newest lines of the cluster's log: logins, starts and ends of tasks, warnings of its services.\n\nget_cluster_tasks lists tasks alone and get_proxmox_task the log of one. Only one's own lines are shown without Sys.Syslog on /.",
    )
    .takes(&[whole("max_entries", "Lines at most.")
        .within(1, 500)
        .sent_as("max")
        .otherwise("50")])
    .needs(Need::On("/", "Sys.Syslog"))
    .rows(&["time|time", "node", "user", "tag", "pri", "msg"])
    .filtered()
    .examples(&[Example {
        ask: "Show me the last lines of the cluster's log",
        args: r#"{"max_entries": 20}"#,
    }]);

const NEXT_ID: Plain = read(
    Toolset::Cluster,
    "get_next_vmid",
    "Find a free guest id",
    "/cluster/nextid",
)
.says(
    "Tells the next free id for a VM or container, or with vmid whether that one is free.\n\nNothing is reserved. create_proxmox_vm, create_proxmox_lxc and clone_proxmox_vm find a free id by themselves, so it is rarely needed. Any login may ask.",
)
.takes(&[whole("vmid", "Is this one free? Otherwise it fails.").within(100, 999_999_999)])
.value("vmid")
.examples(&[
    Example {
        ask: "Which id would a new guest get?",
        args: "{}",
    },
    Example {
        ask: "Is 4711 free?",
        args: r#"{"vmid": 4711}"#,
    },
]);
