//! Users, their passwords and second factors, and what they may do.

use pve::Method;

use super::{ALLOCATE_USER, MODIFY_USERS, SEE_USERS, USER};
use crate::plain::{Arg, Entry, Need, Plain, an, change, flag, list, read, text, whole};
use crate::spec::{Example, Risk, Toolset, Wants};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &LIST,
    &GET,
    &CREATE,
    &UPDATE,
    &DELETE,
    &PASSWORD,
    &PERMISSIONS,
    &FACTORS,
];

const THE_USER: Entry = an("user", &["userid"]).listed("/access/users", "userid");
const EMAIL: Arg = text("email", "Where PVE writes to.");
const FIRST: Arg = text("firstname", "First name.");
const LAST: Arg = text("lastname", "Last name.");
const COMMENT: Arg = text("comment", "What it is for.");
const ENABLE: Arg = flag("enable", "Whether it can log in.");
const EXPIRE: Arg =
    whole("expire", "Unix time it ends at; 0 for never.").within(0, 253_402_300_799);

const LIST: Plain = read(Toolset::Access, "list_users", "List users", "/access/users")
    .says(
        "Lists the users of a cluster: whether they can log in, until when, and what they are for.\n\nUse it to find a userid; get_user tells more of one, get_permissions what it may do. Users that the token may not see are left out. Needs User.Modify or Sys.Audit on /access/groups.",
    )
    .takes(&[
        flag("enabled", "Only those that can log in, or cannot."),
        flag("full", "With their groups and tokens."),
    ])
    .needs(SEE_USERS)
    .rows(&[
        "userid", "enable", "expire", "groups", "tokens", "email", "firstname", "lastname", "comment", "realm-type",
    ])
    .examples(&[
        Example {
            ask: "Who has an account on the cluster?",
            args: "{}",
        },
        Example {
            ask: "Which users are in which groups, and who has tokens?",
            args: r#"{"full": true}"#,
        },
    ]);

const GET: Plain = read(Toolset::Access, "get_user", "Show a user", "/access/users/{userid}")
    .says(
        "Shows one user: its name, groups, API tokens by name, and whether and until when it can log in.\n\nUse get_permissions for what it may do, list_tfa for its second factors, list_users to find it. Needs User.Modify or Sys.Audit on /access/groups or on a group of the user.",
    )
    .takes(&[USER])
    .needs(SEE_USERS)
    .item(&["enable", "expire", "groups", "tokens", "comment"])
    .examples(&[Example {
        ask: "What is known about bob's account?",
        args: r#"{"userid": "bob@pve"}"#,
    }]);

const CREATE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "create_user",
    "Create a user",
    Method::Post,
    "/access/users",
)
.says(
    "Creates a user in a realm that exists. Alone it may do nothing: rights come from its groups, or from update_acl.\n\nOnly realm pve takes a password here; pam users must exist on the nodes, those of LDAP come with sync_auth_domain. It asks for a confirmation. Needs Realm.AllocateUser on /access/realm/REALM and User.Modify on /access/groups. Undo: delete_user.",
)
.takes(&[
    USER,
    text("password", "For realm pve: 8 to 64 characters.").secret(),
    EMAIL,
    FIRST,
    LAST,
    list("groups", "Groups to join, separated by commas."),
    COMMENT,
    ENABLE,
    EXPIRE,
])
.needs(ALLOCATE_USER)
.creates(THE_USER.undone_by("delete_user"))
.examples(&[Example {
    ask: "Give carol an account in the family group",
    args: r#"{"userid": "carol@pve", "password": "chosen-by-carol", "groups": "family", "comment": "from next door"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "update_user",
    "Change a user",
    Method::Put,
    "/access/users/{userid}",
)
.says(
    "Changes a user's details, groups, or whether and until when it can log in; an empty text clears a detail.\n\ngroups replaces all its groups unless append is true. Groups carry rights, and enable false shuts out its tokens too: these ask for a confirmation. change_password sets a password, update_acl gives rights. Needs User.Modify on /access/groups. Undo: the same call with the old values.",
)
.takes(&[
    USER,
    EMAIL,
    FIRST,
    LAST,
    list("groups", "Its groups, separated by commas."),
    flag("append", "Add to its groups instead of replacing them.").not_kept(),
    COMMENT,
    ENABLE,
    EXPIRE,
])
.needs(MODIFY_USERS)
.edits(THE_USER.read_at("/access/users/{userid}").emptied())
.examples(&[
    Example {
        ask: "Note that alice is the neighbour",
        args: r#"{"userid": "alice@pve", "comment": "the neighbour"}"#,
    },
    Example {
        ask: "Put bob into the family group",
        args: r#"{"userid": "bob@pve", "groups": "family", "append": true}"#,
    },
]);

const DELETE: Plain = change(
    (Toolset::Access, Risk::Grant),
    "delete_user",
    "Delete a user",
    Method::Delete,
    "/access/users/{userid}",
)
.says(
    "Deletes a user with its password, API tokens, second factors, group memberships and rights. What uses its tokens stops working at once.\n\nTo shut somebody out for a while use update_user with enable false. Never delete the user that oxmox itself logs in with. It asks for a confirmation. Needs Realm.AllocateUser on /access/realm/REALM and User.Modify on /access/groups. Undo: none.",
)
.takes(&[USER])
.needs(ALLOCATE_USER)
.removes(THE_USER.not_undone("its password, tokens and rights are gone with it"))
.examples(&[Example {
    ask: "Bob has moved out: remove his account",
    args: r#"{"userid": "bob@pve"}"#,
}]);

const PASSWORD: Plain = change(
    (Toolset::Access, Risk::Grant),
    "change_password",
    "Change a user's password",
    Method::Put,
    "/access/password",
)
.says(
    "Sets a user's password; for realm pam only on the node that answers.\n\nPVE lets no API token do this: the cluster must be configured with user and password, and all but root confirm with their own. For a guest's user see vm_agent_set_password. It asks for a confirmation. Needs Realm.AllocateUser on /access/realm/REALM and User.Modify on /access/groups. Undo: none; the old password is not known.",
)
.takes(&[
    USER,
    text("password", "The new one, 8 to 64 characters.").secret().required(),
    text("confirmation_password", "The password of oxmox's own login.")
        .sent_as("confirmation-password")
        .secret(),
])
.wants(&[Wants::Login])
.needs(ALLOCATE_USER)
.does(
    "Set a new password for user {userid}",
    THE_USER.not_undone("the old password is not known"),
)
.examples(&[Example {
    ask: "Set a new password for bob",
    args: r#"{"userid": "bob@pve", "password": "bobs-new-choice"}"#,
}]);

const PERMISSIONS: Plain = read(
    Toolset::Access,
    "get_permissions",
    "Show what somebody may do",
    "/access/permissions",
)
.says(
    "Shows the privileges that a user or API token has, path by path: 1 if they reach below the path, 0 if not.\n\nWithout userid those of oxmox's own token: what it may do here. get_acl shows the rules that they come from. Those of others need Sys.Audit on /access.",
)
.takes(&[
    text("userid", "A user, or a token as bob@pve!ci."),
    text("path", "Only on this path, such as /vms/105."),
])
.needs(Need::On("/access", "Sys.Audit"))
.item(&[])
.examples(&[Example {
    ask: "What may bob do to VM 105?",
    args: r#"{"userid": "bob@pve", "path": "/vms/105"}"#,
}]);

const FACTORS: Plain = read(
    Toolset::Access,
    "list_tfa",
    "List second factors",
    "/access/tfa/{userid}",
)
.says(
    "Lists a user's second factors: their kind, when they were added and what they are called. Never their secrets.\n\nAn empty list means that a password alone is enough; list_auth_domains shows realms that want more. Factors are added by their user in PVE. Needs Sys.Audit or User.Modify on /access/groups for others than oneself.",
)
.takes(&[USER])
.needs(SEE_USERS)
.rows(&["id", "type", "description", "created|time", "enable"])
.examples(&[Example {
    ask: "Does alice use two factors?",
    args: r#"{"userid": "alice@pve"}"#,
}]);
