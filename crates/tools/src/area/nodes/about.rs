//! What a node is and how it is set up.

use super::{AUDIT, AUDIT_ALL, MODIFY};
use crate::area::inventory::ListResources;
use crate::area::node_status::GetNodeStatus;
use crate::plain::{Alias, NODE, Plain, alias, read};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Read, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &LIST,
    &STATUS,
    &CONFIG,
    &TIME,
    &VERSION,
    &SUBSCRIPTION,
    &CERTIFICATES,
    &SERVICES,
    &UPDATES,
    &REPORT,
];

const LIST: Alias = alias(
    (Toolset::Nodes, Risk::Read),
    "list_nodes",
    "List nodes",
    &Read::<ListResources>::NEW,
)
.says(
    "Lists the nodes with their state, CPU, memory, root disk and uptime.\n\nUse it for the nodes' names and which are online; get_node_status tells more about one, list_proxmox_resources shows guests and storages too. Figures of a node need Sys.Audit on /nodes/NAME.",
)
.with(&[("resource_type", "\"node\"")])
.idempotent()
.examples(&[Example {
    ask: "Which nodes are there?",
    args: "{}",
}]);

const STATUS: Alias = alias(
    (Toolset::Nodes, Risk::Read),
    "get_node_status",
    "Show a node",
    &Read::<GetNodeStatus>::NEW,
)
.says(
    "Shows one node's load: CPU, memory, root disk, uptime, kernel and version.\n\nThe same as get_proxmox_node_status, which also shows services, updates, disks and tasks in one answer on request. An offline node is answered as offline. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE])
.idempotent()
.examples(&[Example {
    ask: "How busy is pve1?",
    args: r#"{"node": "pve1"}"#,
}]);

const CONFIG: Plain = read(
    Toolset::Nodes,
    "get_node_config",
    "Show a node's options",
    "/nodes/{node}/config",
)
.says(
    "Shows the options kept for a node: notes, ACME domains, the wake-on-LAN address, the delay before guests start at boot.\n\nUse it before wakeonlan_node. Nothing is shown where none is set; get_node_status shows how the node does. Needs Sys.Audit on /.",
)
.takes(&[NODE])
.needs(AUDIT_ALL)
.item(&["description", "wakeonlan", "startall-onboot-delay", "acme"])
.examples(&[Example {
    ask: "Can pve3 be woken over the network?",
    args: r#"{"node": "pve3"}"#,
}]);

const TIME: Plain = read(
    Toolset::Nodes,
    "get_node_time",
    "Show a node's clock",
    "/nodes/{node}/time",
)
.says(
    "Shows a node's time and time zone.\n\nUse it to compare clocks, which a cluster and tickets depend on, or to read schedules and retention in the node's own zone; get_node_status shows its uptime. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE])
.needs(AUDIT)
.item(&["timezone", "time|time", "localtime"])
.examples(&[Example {
    ask: "Which time zone is pve1 in?",
    args: r#"{"node": "pve1"}"#,
}]);

const VERSION: Plain = read(
    Toolset::Nodes,
    "get_node_version",
    "Show a node's PVE version",
    "/nodes/{node}/version",
)
.says(
    "Shows which release of Proxmox VE a node runs.\n\nUse it before an upgrade or a migration between nodes of different versions; get_node_apt_update lists what could be updated. Any login may see it.",
)
.takes(&[NODE])
.item(&["version", "release", "repoid"])
.examples(&[Example {
    ask: "Which PVE version runs on pve3?",
    args: r#"{"node": "pve3"}"#,
}]);

const SUBSCRIPTION: Plain = read(
    Toolset::Nodes,
    "get_node_subscription",
    "Show a node's subscription",
    "/nodes/{node}/subscription",
)
.says(
    "Shows whether a node has a Proxmox subscription, of which level and until when.\n\nUse it where updates from the enterprise repository fail; get_node_apt_update lists the updates themselves. Any login may see its state, the key only who has Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE])
.item(&["status", "productname", "level", "nextduedate", "message"])
.examples(&[Example {
    ask: "Is pve1 subscribed?",
    args: r#"{"node": "pve1"}"#,
}]);

const CERTIFICATES: Plain = read(
    Toolset::Nodes,
    "get_node_certificates",
    "List a node's certificates",
    "/nodes/{node}/certificates/info",
)
.says(
    "Lists the TLS certificates of a node with their names, issuers, fingerprints and ends.\n\nUse it to find one that runs out, or the fingerprint that a client has to pin; get_node_config shows the domains that it renews by ACME. Any login may see them.",
)
.takes(&[NODE])
.rows(&["filename", "subject", "san", "issuer", "notafter|time", "fingerprint"])
.examples(&[Example {
    ask: "When does the certificate of pve1 run out?",
    args: r#"{"node": "pve1"}"#,
}]);

const SERVICES: Plain = read(
    Toolset::Nodes,
    "list_node_services",
    "List a node's services",
    "/nodes/{node}/services",
)
.says(
    "Lists the daemons that PVE depends on, each with its state: running, dead or failed.\n\nUse it when a node misbehaves; manage_node_service restarts one, get_node_syslog with service shows why it failed. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE])
.needs(AUDIT)
.rows(&["service", "state", "active-state", "unit-state", "desc"])
.examples(&[Example {
    ask: "Does every service of pve2 run?",
    args: r#"{"node": "pve2"}"#,
}]);

const UPDATES: Plain = read(
    Toolset::Nodes,
    "get_node_apt_update",
    "List pending updates",
    "/nodes/{node}/apt/update",
)
.says(
    "Lists the packages of a node that have a newer version, as its last refresh found them.\n\nUse it to see what an upgrade would bring; run_apt_update refreshes the list. Installing them is for a person, on the node. Needs Sys.Modify on /nodes/NAME.",
)
.takes(&[NODE])
.needs(MODIFY)
.rows(&["Package", "OldVersion", "Version", "Origin", "Title"])
.examples(&[Example {
    ask: "Which updates wait on pve1?",
    args: r#"{"node": "pve1"}"#,
}]);

const REPORT: Plain = read(
    Toolset::Nodes,
    "get_node_report",
    "Show a node's system report",
    "/nodes/{node}/report",
)
.says(
    "Shows the end of a node's system report: versions, configuration, storages, network and hardware in one text.\n\nUse it for a support request; it takes a while, and get_node_status answers most questions sooner. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[NODE])
.needs(AUDIT)
.lines()
.examples(&[Example {
    ask: "Make a system report of pve1",
    args: r#"{"node": "pve1"}"#,
}]);
