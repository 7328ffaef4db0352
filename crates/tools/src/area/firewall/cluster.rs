//! The firewall of the cluster as a whole: its options and its rules, which hold on every node.

use pve::Method;

use super::{
    ACTION, AUDIT, COMMENT, DEST, DPORT, ENABLE, LEVELS, MACRO, MODIFY, POLICIES, POS, PROTO, RULE,
    SOURCE, SPORT, TYPE, adding, rule_of,
};
use crate::plain::{Entry, Plain, UNSET, an, change, choice, flag, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &GET_OPTIONS,
    &SET_OPTIONS,
    &LIST_RULES,
    &GET_RULE,
    &CREATE_RULE,
    &UPDATE_RULE,
    &DELETE_RULE,
];

const RULES: &str = "/cluster/firewall/rules";
const ONE_RULE: &str = "/cluster/firewall/rules/{pos}";
const THE_RULE: Entry = rule_of(RULES, &["pos"]);

const GET_OPTIONS: Plain = read(
    Toolset::Firewall,
    "get_cluster_firewall_options",
    "Show the cluster's firewall options",
    "/cluster/firewall/options",
)
.says(
    "Shows whether the firewall of the whole cluster is on, and what happens to packets that no rule fits.\n\nWithout enable 1 here no firewall of a node or guest works. list_cluster_firewall_rules has the rules; get_node_firewall_options and get_vm_firewall_options the rest. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.item(&["enable", "policy_in", "policy_out", "policy_forward", "log_ratelimit", "ebtables"])
.examples(&[Example {
    ask: "Is the cluster's firewall on?",
    args: "{}",
}]);

const SET_OPTIONS: Plain = change(
    (Toolset::Firewall, Risk::Grant),
    "set_cluster_firewall_options",
    "Change the cluster's firewall options",
    Method::Put,
    "/cluster/firewall/options",
)
.says(
    "Switches the firewall of the whole cluster on or off, or sets its policies.\n\nSwitching it on with policy_in DROP cuts off everything that no rule accepts, this connection included; PVE itself only keeps ports 8006 and 22 open from the nodes' own network. Put rules in first with create_cluster_firewall_rule. A person must approve what switches it off or accepts more; the rest returns a `confirm` value first. Needs Sys.Modify and Sys.Audit on /. Undo: the same call with the old values.",
)
.takes(&[
    whole("enable", "1 switches it on, 0 off.").within(0, 1),
    choice("policy_in", POLICIES, "For incoming packets that no rule fits."),
    choice("policy_out", POLICIES, "For outgoing packets that no rule fits."),
    text("log_ratelimit", "As enable=1,rate=1/second,burst=5."),
    flag("ebtables", "Whether bridges are filtered by ebtables."),
    UNSET,
])
.needs(MODIFY)
.edits(an("the cluster's firewall options", &[]))
.examples(&[Example {
    ask: "Answer what no rule fits instead of dropping it",
    args: r#"{"policy_in": "REJECT"}"#,
}]);

const LIST_RULES: Plain = read(
    Toolset::Firewall,
    "list_cluster_firewall_rules",
    "List the cluster's firewall rules",
    RULES,
)
.says(
    "Lists the firewall rules that hold on every node, in the order in which they are tried: the first that fits decides.\n\nUse it before any change, since rules are known by their place. Rules of one node: list_node_firewall_rules; of a guest: list_vm_firewall_rules. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(RULE)
.examples(&[Example {
    ask: "Which firewall rules hold in the whole cluster?",
    args: "{}",
}]);

const GET_RULE: Plain = read(
    Toolset::Firewall,
    "get_cluster_firewall_rule",
    "Show a firewall rule of the cluster",
    ONE_RULE,
)
.says(
    "Shows one rule of the cluster's firewall by its place in the list.\n\nlist_cluster_firewall_rules shows all of them with their places in one call and is the better choice unless the place is known. Needs Sys.Audit on /.",
)
.takes(&[POS])
.needs(AUDIT)
.item(RULE)
.examples(&[Example {
    ask: "What does the first rule of the cluster say?",
    args: r#"{"pos": 0}"#,
}]);

const CREATE_RULE: Plain = adding(
    "create_cluster_firewall_rule",
    "Add a firewall rule to the cluster",
    RULES,
)
.says(
    "Adds a rule to the cluster's firewall, in force on every node at once and in first place, before all others.\n\nPVE takes no other place: update_cluster_firewall_rule with moveto moves it. A person must approve a rule that accepts; one that drops or rejects can cut the nodes off and returns a `confirm` value first. For one guest use create_vm_firewall_rule or create_container_firewall_rule. Needs Sys.Modify and Sys.Audit on /. Undo: delete_cluster_firewall_rule with pos 0.",
)
.takes(&[
    ACTION.required(),
    TYPE.required(),
    ENABLE.otherwise("1"),
    SOURCE,
    DEST,
    PROTO,
    SPORT,
    DPORT,
    text("iface", "Interface of the node, as vmbr0."),
    MACRO,
    COMMENT,
    choice("log", LEVELS, "Log what it fits, at this level."),
])
.needs(MODIFY)
.adds(THE_RULE.undone_by("delete_cluster_firewall_rule"))
.examples(&[
    Example {
        ask: "Let the admins reach the web interface of every node",
        args: r#"{"action": "ACCEPT", "type": "in", "source": "+admins", "proto": "tcp", "dport": "8006", "comment": "web interface"}"#,
    },
    Example {
        ask: "Drop everything that comes from that printer",
        args: r#"{"action": "DROP", "type": "in", "source": "old-printer"}"#,
    },
]);

const UPDATE_RULE: Plain = change(
    (Toolset::Firewall, Risk::Grant),
    "update_cluster_firewall_rule",
    "Change a firewall rule of the cluster",
    Method::Put,
    ONE_RULE,
)
.says(
    "Changes a rule of the cluster's firewall, or with moveto alone moves it before the rule that is at that place now.\n\nAll nodes take it up at once; a wrong one can open them or cut them off. A person must approve all but a comment. If the list changed since it was looked at, nothing is sent. list_cluster_firewall_rules has the places. Needs Sys.Modify and Sys.Audit on /. Undo: the same call with the old values.",
)
.takes(&[
    POS,
    ACTION,
    ENABLE,
    SOURCE,
    DEST,
    PROTO,
    SPORT,
    DPORT,
    MACRO,
    COMMENT,
    whole("moveto", "Move it here; goes alone.").within(0, 9_999).alone(),
    UNSET,
])
.needs(MODIFY)
.edits(THE_RULE)
.examples(&[
    Example {
        ask: "Switch the second rule off for now",
        args: r#"{"pos": 1, "enable": 0}"#,
    },
    Example {
        ask: "Try the second rule first",
        args: r#"{"pos": 1, "moveto": 0}"#,
    },
]);

const DELETE_RULE: Plain = change(
    (Toolset::Firewall, Risk::Destroy),
    "delete_cluster_firewall_rule",
    "Delete a firewall rule of the cluster",
    Method::Delete,
    ONE_RULE,
)
.says(
    "Deletes the rule at this place from the cluster's firewall; all nodes forget it at once and later rules move up.\n\nTo try it without, use update_cluster_firewall_rule with enable 0. Deleting what lets you in can cut the nodes off: it asks for a confirmation, and sends nothing if the list changed meanwhile. Needs Sys.Modify and Sys.Audit on /. Undo: create_cluster_firewall_rule, which puts it first.",
)
.takes(&[POS])
.needs(MODIFY)
.removes(THE_RULE.undone_by("create_cluster_firewall_rule"))
.examples(&[Example {
    ask: "Remove the third rule",
    args: r#"{"pos": 2}"#,
}]);
