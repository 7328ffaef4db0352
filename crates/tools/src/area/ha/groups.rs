//! HA groups: the nodes that guests run on, up to PVE 8. PVE 9 has turned them into rules and refuses these calls.

use pve::Method;

use super::{AUDIT, MANAGE};
use crate::plain::{Arg, Entry, Plain, UNSET, an, change, content, flag, list, read, text};
use crate::spec::{Example, Risk, Toolset, Wants};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &CREATE, &UPDATE, &DELETE];

const GROUP: Arg = text("group", "The group's name.").required();
const NODES: Arg = list("nodes", "Nodes with priorities: pve1:2,pve2:1.");
const STAY: Arg = flag("nofailback", "Stay when a better node comes back.");
const RESTRICTED: Arg = flag("restricted", "Never run on other nodes.");
const COMMENT: Arg = text("comment", "What it is for.");
const THE_GROUP: Entry = an("HA group", &["group"]).listed("/cluster/ha/groups", "group");

const LIST: Plain = read(Toolset::Ha, "list_ha_groups", "List HA groups", "/cluster/ha/groups")
    .says(
        "Lists the HA groups of a cluster before PVE 9: the nodes that guests under HA prefer.\n\nPVE 9 answers that groups have become rules: read /cluster/ha/rules with read_proxmox_api there. list_ha_resources shows which guest is in which group. Needs Sys.Audit on /.",
    )
    .needs(AUDIT)
.wants(&[Wants::Before9])
    .rows(&["group", "nodes", "restricted", "nofailback", "comment"])
    .examples(&[Example {
        ask: "Which HA groups are there?",
        args: "{}",
    }]);

const GET: Plain = read(
    Toolset::Ha,
    "get_ha_group",
    "Show an HA group",
    "/cluster/ha/groups/{group}",
)
.says(
    "Shows one HA group of a cluster before PVE 9: its nodes with their priorities, and whether its guests may run elsewhere.\n\nPVE 9 has rules instead, under /cluster/ha/rules. list_ha_groups has the names. Needs Sys.Audit on /.",
)
.takes(&[GROUP])
.needs(AUDIT)
.wants(&[Wants::Before9])
.item(&["group", "nodes", "restricted", "nofailback", "comment"])
.examples(&[Example {
    ask: "On which nodes does the group big run?",
    args: r#"{"group": "big"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Ha, Risk::Change),
    "create_ha_group",
    "Create an HA group",
    Method::Post,
    "/cluster/ha/groups",
)
.says(
    "Creates an HA group before PVE 9: nodes that guests under HA run on, the highest priority first.\n\nPVE 9 refuses it: make a rule under /cluster/ha/rules with write_proxmox_api there. update_ha_resource then puts a guest in. Nothing moves yet. Needs Sys.Console and Sys.Audit on /. Undo: delete_ha_group.",
)
.takes(&[GROUP, NODES.required(), STAY, RESTRICTED, COMMENT])
.needs(MANAGE)
.wants(&[Wants::Before9])
.creates(THE_GROUP.undone_by("delete_ha_group"))
.examples(&[Example {
    ask: "Make a group of the two big nodes",
    args: r#"{"group": "pair", "nodes": "pve1:2,pve2:1", "nofailback": true}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Ha, Risk::Disrupt),
    "update_ha_group",
    "Change an HA group",
    Method::Put,
    "/cluster/ha/groups/{group}",
)
.says(
    "Changes an HA group before PVE 9. New nodes or restrictions make HA move the guests of the group at once, and return a `confirm` value first.\n\nPVE 9 has rules instead, under /cluster/ha/rules. list_ha_resources shows whom it concerns. Needs Sys.Console and Sys.Audit on /. Undo: the same call with the old values.",
)
.takes(&[GROUP, NODES, STAY, RESTRICTED, COMMENT, UNSET])
.needs(MANAGE)
.wants(&[Wants::Before9])
.edits(THE_GROUP.read_at("/cluster/ha/groups/{group}"))
.examples(&[Example {
    ask: "Say what the group big is for",
    args: r#"{"group": "big", "comment": "nodes with room"}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Ha, Risk::Destroy),
    "delete_ha_group",
    "Delete an HA group",
    Method::Delete,
    "/cluster/ha/groups/{group}",
)
.says(
    "Deletes an HA group before PVE 9; PVE refuses while a guest is in it.\n\nTake its guests out first with update_ha_resource; list_ha_resources shows them. PVE 9 has rules instead, under /cluster/ha/rules. It asks for a confirmation. Needs Sys.Console and Sys.Audit on /. Undo: create_ha_group with the same nodes.",
)
.takes(&[GROUP])
.needs(MANAGE)
.wants(&[Wants::Before9])
.removes(THE_GROUP.undone_by("create_ha_group").only_without(&[content(
    "/cluster/ha/resources",
    &[("sid", "guest")],
    "take them out of it first with update_ha_resource and delete: group",
)
.naming("group")]))
.examples(&[Example {
    ask: "Remove the group big",
    args: r#"{"group": "big"}"#,
}]);
