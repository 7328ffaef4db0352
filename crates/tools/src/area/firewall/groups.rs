//! Security groups: named lists of rules that the rules of nodes and guests can refer to.

use pve::Method;

use super::{
    ACTION, AUDIT, COMMENT, DEST, DPORT, ENABLE, MACRO, MODIFY, PROTO, RULE, SOURCE, SPORT, adding,
    rule_of,
};
use crate::plain::{Arg, Need, Plain, an, change, choice, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &RULES, &CREATE, &CREATE_RULE];

const GROUPS: &str = "/cluster/firewall/groups";
const ONE_GROUP: &str = "/cluster/firewall/groups/{group}";
const GROUP: Arg = text("group", "The group's name, up to 18 characters.").required();

const LIST: Plain = read(
    Toolset::Firewall,
    "list_firewall_groups",
    "List security groups",
    GROUPS,
)
.says(
    "Lists the security groups: named lists of firewall rules that many guests can share.\n\nget_firewall_group_rules shows what is in one; create_vm_firewall_rule with type group puts one to use. Any login may see them.",
)
.rows(&["group", "comment"])
.examples(&[Example {
    ask: "Which security groups are there?",
    args: "{}",
}]);

const RULES: Plain = read(
    Toolset::Firewall,
    "get_firewall_group_rules",
    "List the rules of a security group",
    ONE_GROUP,
)
.says(
    "Lists the firewall rules of one security group, in the order in which they are tried.\n\nThey hold only where a rule of type group names it. list_firewall_groups has the names, list_cluster_firewall_rules the rules of the cluster itself. Needs Sys.Audit on /.",
)
.takes(&[GROUP])
.needs(AUDIT)
.rows(RULE)
.examples(&[Example {
    ask: "What does the group webserver let through?",
    args: r#"{"group": "webserver"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Firewall, Risk::Change),
    "create_firewall_group",
    "Create a security group",
    Method::Post,
    GROUPS,
)
.says(
    "Creates an empty security group, a list of firewall rules to share.\n\nFill it with create_firewall_group_rule, then put it to use with create_vm_firewall_rule or create_cluster_firewall_rule, type group and its name as action. By itself it changes nothing. Needs Sys.Modify on /. Undo: write_proxmox_api with DELETE on /cluster/firewall/groups/GROUP while it is empty.",
)
.takes(&[GROUP, COMMENT])
// The list of groups is open to every login.
.needs(Need::On("/", "Sys.Modify"))
.creates(
    an("security group", &["group"])
        .listed(GROUPS, "group")
        .undone_at("/cluster/firewall/groups/{group}"),
)
.examples(&[Example {
    ask: "Make a security group for the databases",
    args: r#"{"group": "database", "comment": "only from inside"}"#,
}]);

const CREATE_RULE: Plain = adding(
    "create_firewall_group_rule",
    "Add a rule to a security group",
    ONE_GROUP,
)
.says(
    "Adds a rule to a security group, in first place; it is in force at once wherever the group is used.\n\nget_firewall_group_rules shows what is there. A person must approve a rule that accepts; one that drops or rejects can cut guests off and returns a `confirm` value first. For one guest alone use create_vm_firewall_rule. Needs Sys.Modify and Sys.Audit on /. Undo: write_proxmox_api with DELETE on /cluster/firewall/groups/GROUP/0.",
)
.takes(&[
    GROUP,
    ACTION.required(),
    choice("type", &["in", "out", "forward"], "Direction.").required(),
    ENABLE.otherwise("1"),
    SOURCE,
    DEST,
    PROTO,
    SPORT,
    DPORT,
    MACRO,
    COMMENT,
])
.needs(MODIFY)
.adds(
    rule_of(ONE_GROUP, &["group"])
        .undone_at("/cluster/firewall/groups/{group}/0"),
)
.examples(&[Example {
    ask: "Let the web servers be reached by HTTP too",
    args: r#"{"group": "webserver", "action": "ACCEPT", "type": "in", "macro": "HTTP"}"#,
}]);
