//! Groups of users.

use pve::Method;

use crate::plain::{Arg, Entry, Need, Plain, an, change, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &CREATE, &UPDATE, &DELETE];

const GROUP: Arg = text("groupid", "The group's name.").required();
const COMMENT: Arg = text("comment", "What it is for.");
const THE_GROUP: Entry = an("group", &["groupid"]).listed("/access/groups", "groupid");
const ALLOCATE: Need = Need::On("/access/groups", "Group.Allocate");
const SEE: Need = Need::Any(&[Need::On("/access/groups", "Sys.Audit"), ALLOCATE]);

const LIST: Plain = read(Toolset::Access, "list_groups", "List groups", "/access/groups")
    .says(
        "Lists the groups of users with their members and comments.\n\nRights given to a group hold for all its members: get_acl shows them. update_user puts a user into a group. Groups that the token may not see are left out. Needs Sys.Audit, User.Modify or Group.Allocate on /access/groups.",
    )
    .needs(SEE)
    .rows(&["groupid", "users", "comment"])
    .examples(&[Example {
        ask: "Which groups of users are there?",
        args: "{}",
    }]);

const GET: Plain = read(Toolset::Access, "get_group", "Show a group", "/access/groups/{groupid}")
    .says(
        "Shows the members and the comment of one group of users.\n\nUse it before delete_group; list_groups has the names, and get_acl shows the rights that the group has. Needs Sys.Audit or Group.Allocate on /access/groups.",
    )
    .takes(&[GROUP])
    .needs(SEE)
    .item(&["comment", "members"])
    .examples(&[Example {
        ask: "Who is in the family group?",
        args: r#"{"groupid": "family"}"#,
    }]);

const CREATE: Plain = change(
    (Toolset::Access, Risk::Change),
    "create_group",
    "Create a group",
    Method::Post,
    "/access/groups",
)
.says(
    "Creates a group of users, empty and without rights.\n\nThen update_user with groups and append puts users in, and update_acl gives the group roles on paths; list_groups shows those there are. Nothing else changes. Needs Group.Allocate on /access/groups. Undo: delete_group.",
)
.takes(&[GROUP, COMMENT])
.needs(ALLOCATE)
.creates(THE_GROUP.undone_by("delete_group"))
.examples(&[Example {
    ask: "Make a group for the people who run the lab",
    args: r#"{"groupid": "operators", "comment": "run the lab"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Access, Risk::Change),
    "update_group",
    "Change a group",
    Method::Put,
    "/access/groups/{groupid}",
)
.says(
    "Changes the comment of a group of users; nothing else of it can be changed here.\n\nMembers come and go with update_user, rights with update_acl; list_groups has the names. Needs Group.Allocate on /access/groups. Undo: the same call with the old comment.",
)
.takes(&[GROUP, COMMENT])
.needs(ALLOCATE)
.edits(THE_GROUP.read_at("/access/groups/{groupid}").emptied())
.examples(&[Example {
    ask: "Say what the family group is for",
    args: r#"{"groupid": "family", "comment": "may look at everything"}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "delete_group",
    "Delete a group",
    Method::Delete,
    "/access/groups/{groupid}",
)
.says(
    "Deletes a group of users with all rights that it was given. Its members stay, but lose what they had through it at once.\n\nget_group shows who that is, get_acl the rights. It asks for a confirmation. Needs Group.Allocate on /access/groups. Undo: none; create_group makes it anew without members and rights.",
)
.takes(&[GROUP])
.needs(ALLOCATE)
.removes(THE_GROUP.not_undone("its members and rights are gone with it"))
.examples(&[Example {
    ask: "Remove the family group",
    args: r#"{"groupid": "family"}"#,
}]);
