//! Roles: sets of privileges under a name.

use pve::Method;

use crate::plain::{Arg, Entry, Need, Plain, an, change, flag, list, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &CREATE, &UPDATE, &DELETE];

const ROLE: Arg = text("roleid", "The role's name.").required();
const PRIVILEGES: Arg = list("privs", "Privileges, separated by commas.").required();
const THE_ROLE: Entry = an("role", &["roleid"]).listed("/access/roles", "roleid");
const MODIFY: Need = Need::On("/access", "Sys.Modify");

const LIST: Plain = read(Toolset::Access, "list_roles", "List roles", "/access/roles")
    .says(
        "Lists the roles, built-in ones (special 1) and own ones, with their privileges.\n\nA role allows nothing until update_acl gives it to somebody on a path; get_acl shows where that is so. Use it to find the narrowest role that is enough. Any login may see roles.",
    )
    .rows(&["roleid", "special", "privs"])
    .examples(&[Example {
        ask: "Which roles are there?",
        args: "{}",
    }]);

const GET: Plain = read(Toolset::Access, "get_role", "Show a role", "/access/roles/{roleid}")
    .says(
        "Shows the privileges of one role, built in or own.\n\nUse it before update_acl gives the role to somebody; list_roles has the names. Any login may see roles.",
    )
    .takes(&[ROLE])
    .item(&[])
    .examples(&[Example {
        ask: "What does the role PowerUser allow?",
        args: r#"{"roleid": "PowerUser"}"#,
    }]);

const CREATE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "create_role",
    "Create a role",
    Method::Post,
    "/access/roles",
)
.says(
    "Creates a role: a set of privileges under a name, which must not begin with PVE.\n\nIt allows nothing until update_acl gives it to somebody on a path; see list_roles first, a built-in role may be enough. It asks for a confirmation. Needs Sys.Modify on /access. Undo: delete_role.",
)
.takes(&[ROLE, PRIVILEGES])
.needs(MODIFY)
.creates(THE_ROLE.undone_by("delete_role"))
.examples(&[Example {
    ask: "Make a role that may look at guests and snapshot them",
    args: r#"{"roleid": "Snapshotter", "privs": "VM.Audit,VM.Snapshot"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "update_role",
    "Change a role",
    Method::Put,
    "/access/roles/{roleid}",
)
.says(
    "Sets the privileges of an own role, or adds to them with append. All who have the role gain or lose these at once, so that it asks for a confirmation.\n\nWithout append what is not named is taken away. Built-in roles cannot be changed; get_acl shows who has it. Needs Sys.Modify on /access. Undo: the same call with the old privileges.",
)
.takes(&[
    ROLE,
    PRIVILEGES,
    flag("append", "Add to them instead of replacing them.").not_kept(),
])
.needs(MODIFY)
.edits(THE_ROLE.by_row())
.examples(&[Example {
    ask: "Let power users open consoles too",
    args: r#"{"roleid": "PowerUser", "privs": "VM.Console", "append": true}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "delete_role",
    "Delete a role",
    Method::Delete,
    "/access/roles/{roleid}",
)
.says(
    "Deletes an own role. All who have it lose what it allowed at once, and the rules that gave it go too.\n\nget_acl shows who has it. Built-in roles cannot be deleted. It asks for a confirmation. Needs Sys.Modify on /access. Undo: create_role with the same privileges, then update_acl for each rule.",
)
.takes(&[ROLE])
.needs(MODIFY)
.removes(THE_ROLE.undone_by("create_role"))
.examples(&[Example {
    ask: "Remove the role PowerUser",
    args: r#"{"roleid": "PowerUser"}"#,
}]);
