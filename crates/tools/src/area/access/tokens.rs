//! API tokens.

use pve::Method;

use super::{MODIFY_USERS, USER};
use crate::plain::{Arg, Entry, Plain, an, change, flag, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &CREATE, &DELETE];

const TOKEN: Arg = text("tokenid", "The token's name: ci of bob@pve!ci.")
    .required()
    .shaped(is_name);
const THE_TOKEN: Entry =
    an("API token", &["userid", "tokenid"]).listed("/access/users/{userid}/token", "tokenid");

fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.chars().next().is_some_and(|c| c.is_ascii_alphabetic()) && text.chars().all(word)
}

const LIST: Plain = read(
    Toolset::Access,
    "list_user_tokens",
    "List API tokens",
    "/access/users/{userid}/token",
)
.says(
    "Lists the API tokens of a user: their names, when they end, and whether they have rights of their own (privsep 1) or all of the user's. Secrets are never shown.\n\nget_permissions with bob@pve!ci tells what a token may do. Needs User.Modify on /access/groups, except for oneself.",
)
.takes(&[USER])
.needs(MODIFY_USERS)
.rows(&["tokenid", "privsep", "expire", "comment"])
.examples(&[Example {
    ask: "Which tokens does bob have?",
    args: r#"{"userid": "bob@pve"}"#,
}]);

const GET: Plain = read(
    Toolset::Access,
    "get_user_token",
    "Show an API token",
    "/access/users/{userid}/token/{tokenid}",
)
.says(
    "Shows one API token of a user: its comment, when it ends, and whether it has rights of its own (privsep). Its secret is never shown.\n\nlist_user_tokens lists all of them; get_permissions with bob@pve!ci tells what it may do. Needs User.Modify on /access/groups, except for oneself.",
)
.takes(&[USER, TOKEN])
.needs(MODIFY_USERS)
.item(&["comment", "expire", "privsep"])
.examples(&[Example {
    ask: "When does bob's power token end?",
    args: r#"{"userid": "bob@pve", "tokenid": "power"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "create_user_token",
    "Create an API token",
    Method::Post,
    "/access/users/{userid}/token/{tokenid}",
)
.says(
    "Creates an API token of a user. PVE tells its secret once: it is put into a file on the machine that runs oxmox, readable by oxmox's owner alone; the answer names the file.\n\nKeep privsep and give it few rights with update_acl; without privsep it may do all that its user may. It asks for a confirmation. Needs User.Modify on /access/groups. Undo: delete_user_token.",
)
.takes(&[
    USER,
    TOKEN,
    text("comment", "What it is for."),
    flag("privsep", "Rights of its own (default), not the user's."),
    whole("expire", "Unix time it ends at; 0 for never.").within(0, 253_402_300_799),
])
.needs(MODIFY_USERS)
.confides()
.creates(THE_TOKEN.undone_by("delete_user_token"))
.examples(&[Example {
    ask: "Make a token for bob's CI",
    args: r#"{"userid": "bob@pve", "tokenid": "ci", "comment": "builds at night"}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "delete_user_token",
    "Delete an API token",
    Method::Delete,
    "/access/users/{userid}/token/{tokenid}",
)
.says(
    "Deletes an API token and its rights; whatever uses it is shut out at once.\n\nlist_user_tokens has the names. Never delete the token that oxmox itself uses. It asks for a confirmation. Needs User.Modify on /access/groups. Undo: none; create_user_token gives a new one of the same name another secret and no rights.",
)
.takes(&[USER, TOKEN])
.needs(MODIFY_USERS)
.removes(THE_TOKEN.not_undone("a new token of that name gets another secret"))
.examples(&[Example {
    ask: "Withdraw bob's power token",
    args: r#"{"userid": "bob@pve", "tokenid": "power"}"#,
}]);
