//! The firewall of single nodes.

use pve::Method;

use super::{LEVELS, RULE};
use crate::plain::{NODE, Need, Plain, UNSET, an, change, choice, flag, read, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] =
    &[&GET_OPTIONS, &SET_OPTIONS, &LIST_RULES, &GET_LOG];

const AUDIT: Need = Need::On("/nodes/{node}", "Sys.Audit");
const MODIFY: Need = Need::All(&[AUDIT, Need::On("/nodes/{node}", "Sys.Modify")]);

const GET_OPTIONS: Plain = read(
    Toolset::Firewall,
    "get_node_firewall_options",
    "Show a node's firewall options",
    "/nodes/{node}/firewall/options",
)
.says(
    "Shows the firewall options of one node that differ from PVE's defaults: on or off, log levels, connection tracking.\n\nA node's firewall is on unless it says enable 0, and works only if get_cluster_firewall_options says enable 1. Needs Sys.Audit on /nodes/NODE.",
)
.takes(&[NODE])
.needs(AUDIT)
.item(&["enable", "log_level_in", "log_level_out", "ndp", "nf_conntrack_max"])
.examples(&[Example {
    ask: "Is the firewall of pve1 on?",
    args: r#"{"node": "pve1"}"#,
}]);

const SET_OPTIONS: Plain = change(
    (Toolset::Firewall, Risk::Grant),
    "set_node_firewall_options",
    "Change a node's firewall options",
    Method::Put,
    "/nodes/{node}/firewall/options",
)
.says(
    "Switches the firewall of one node on or off, or sets what it logs and tracks.\n\nIt holds for the node itself, not for its guests; set_cluster_firewall_options is the switch for all nodes. A person must approve what opens the node; the rest can cut it off and returns a `confirm` value first. Needs Sys.Modify and Sys.Audit on /nodes/NODE. Undo: the same call with the old values.",
)
.takes(&[
    NODE,
    flag("enable", "Whether it is on."),
    choice("log_level_in", LEVELS, "Log incoming packets at this level."),
    choice("log_level_out", LEVELS, "Log outgoing packets at this level."),
    flag("ndp", "Let IPv6 neighbour discovery through."),
    whole("nf_conntrack_max", "Most tracked connections.").within(32_768, 1_000_000_000),
    UNSET,
])
.needs(MODIFY)
.edits(an("firewall options", &[]))
.examples(&[Example {
    ask: "Log what pve1 turns away",
    args: r#"{"node": "pve1", "log_level_in": "info"}"#,
}]);

const LIST_RULES: Plain = read(
    Toolset::Firewall,
    "list_node_firewall_rules",
    "List a node's firewall rules",
    "/nodes/{node}/firewall/rules",
)
.says(
    "Lists the firewall rules of one node, in the order in which they are tried; those of list_cluster_firewall_rules hold there too.\n\nRules of guests on it: list_vm_firewall_rules, list_container_firewall_rules. Needs Sys.Audit on /nodes/NODE.",
)
.takes(&[NODE])
.needs(AUDIT)
.rows(RULE)
.examples(&[Example {
    ask: "Which firewall rules does pve1 have of its own?",
    args: r#"{"node": "pve1"}"#,
}]);

const GET_LOG: Plain = read(
    Toolset::Firewall,
    "get_node_firewall_log",
    "Read a node's firewall log",
    "/nodes/{node}/firewall/log",
)
.says(
    "Shows lines of a node's firewall log: packets that rules with a log level fitted, of the node and its guests.\n\nIt is empty unless logging is on: set_node_firewall_options with log_level_in, or log in a rule. The oldest lines come first. Needs Sys.Syslog on /nodes/NODE.",
)
.takes(&[NODE, whole("limit", "How many lines at most.").within(1, 500).otherwise("50")])
.needs(Need::On("/nodes/{node}", "Sys.Syslog"))
.lines()
.examples(&[Example {
    ask: "What did the firewall of pve1 turn away?",
    args: r#"{"node": "pve1"}"#,
}]);
