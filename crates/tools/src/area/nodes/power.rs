//! What a node is told to do.

use pve::Method;

use super::MODIFY;
use super::bulk::{StartAll, StopAll};
use super::service::ManageService;
use super::stop_task::StopTask;
use crate::plain::{NODE, Need, Plain, an, change, flag};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Change, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &Change::<ManageService>::NEW,
    &Change::<StopTask>::NEW,
    &Change::<StartAll>::NEW,
    &Change::<StopAll>::NEW,
    &REFRESH,
    &WAKE,
];

const REFRESH: Plain = change(
    (Toolset::Nodes, Risk::Change),
    "run_apt_update",
    "Refresh the list of updates",
    Method::Post,
    "/nodes/{node}/apt/update",
)
.says(
    "Lets a node fetch the package lists anew, like apt update; nothing is installed.\n\nUse it before get_node_apt_update, which shows what is new. The node connects to its repositories; without a subscription the enterprise one fails. Needs Sys.Modify on /nodes/NAME. Undo: none, and nothing to undo.",
)
.takes(&[
    NODE,
    flag("notify", "Send a notification about new packages."),
])
.needs(MODIFY)
.starts(&["aptupdate"])
.does(
    "Refresh the list of updates of node {node}",
    an("node", &["node"]).not_undone("only the list of packages is newer"),
)
.examples(&[Example {
    ask: "Look for updates on pve1",
    args: r#"{"node": "pve1"}"#,
}]);

const WAKE: Plain = change(
    (Toolset::Nodes, Risk::Change),
    "wakeonlan_node",
    "Wake a node",
    Method::Post,
    "/nodes/{node}/wakeonlan",
)
.says(
    "Sends a wake-on-LAN packet to a node that is off; another node sends it, so that at least one must run.\n\nIts address has to be set before: get_node_config shows it as wakeonlan. Whether it wakes shows list_nodes after some minutes. Needs Sys.PowerMgmt on /nodes/NAME. Undo: none; a person shuts it down again.",
)
.takes(&[NODE])
.needs(Need::On("/nodes/{node}", "Sys.PowerMgmt"))
.even_offline()
.does(
    "Wake node {node} over the network",
    an("node", &["node"]).not_undone("a node that booted has to be shut down again by a person"),
)
.examples(&[Example {
    ask: "Wake pve3",
    args: r#"{"node": "pve3"}"#,
}]);
