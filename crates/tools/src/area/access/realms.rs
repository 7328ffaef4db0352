//! Realms: where users and their passwords come from.

use pve::Method;

use super::MODIFY_USERS;
use crate::plain::{Arg, Need, Plain, an, change, choice, flag, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &SYNC];

const REALM: Arg = text("realm", "The realm's name.").required();

const LIST: Plain = read(
    Toolset::Access,
    "list_auth_domains",
    "List realms",
    "/access/domains",
)
.says(
    "Lists the realms that users log in through: pam for the nodes' own users, pve for PVE's, and directories such as LDAP.\n\nUse it to find the realm of a userid; get_auth_domain shows the settings of one. Needs nothing: the login page shows the same.",
)
.rows(&["realm", "type", "tfa", "default", "comment"])
.examples(&[Example {
    ask: "Through which realms can one log in?",
    args: "{}",
}]);

const GET: Plain = read(
    Toolset::Access,
    "get_auth_domain",
    "Show a realm",
    "/access/domains/{realm}",
)
.says(
    "Shows the settings of one realm: its type, its servers and what is taken over from them. Passwords of directories are not among them.\n\nlist_auth_domains has the names; sync_auth_domain fetches users. Needs Sys.Audit or Realm.Allocate on /access/realm.",
)
.takes(&[REALM])
.needs(Need::Any(&[
    Need::On("/access/realm", "Sys.Audit"),
    Need::On("/access/realm", "Realm.Allocate"),
]))
.item(&["type", "comment", "default"])
.examples(&[Example {
    ask: "How is the home directory realm set up?",
    args: r#"{"realm": "home"}"#,
}]);

const SYNC: Plain = change(
    (Toolset::Access, Risk::Grant),
    "sync_auth_domain",
    "Sync a realm",
    Method::Post,
    "/access/domains/{realm}/sync",
)
.says(
    "Fetches users and groups of an LDAP or AD realm into PVE, as a task. New users get what their groups may do; remove_vanished deletes what is gone from the directory, with rights.\n\nTry dry_run first and read its log with get_proxmox_task; realms pam and pve cannot be synced. It asks for a confirmation. Needs Realm.AllocateUser on /access/realm/REALM and User.Modify on /access/groups. Undo: none.",
)
.takes(&[
    REALM,
    flag("dry_run", "Only say what would be done.").sent_as("dry-run"),
    choice("scope", &["users", "groups", "both"], "What; the realm's setting if left out."),
    flag("full", "Old: use remove_vanished.").not_kept(),
    flag("enable_new", "Let new users log in (default).").sent_as("enable-new"),
    text("remove_vanished", "none, or of acl;entry;properties what to remove.")
        .sent_as("remove-vanished"),
])
.needs(Need::All(&[
    Need::On("/access/realm/{realm}", "Realm.AllocateUser"),
    MODIFY_USERS,
]))
.does(
    "Sync users and groups of realm {realm}",
    an("realm", &["realm"])
        .listed("/access/domains", "realm")
        .not_undone("users that came with it stay until delete_user"),
)
.examples(&[
    Example {
        ask: "What would a sync of the home directory change?",
        args: r#"{"realm": "home", "scope": "both", "dry_run": true}"#,
    },
    Example {
        ask: "Fetch the users of the home directory",
        args: r#"{"realm": "home", "scope": "users", "enable_new": true}"#,
    },
]);
