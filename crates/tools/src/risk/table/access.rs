//! Users, groups, roles, ACLs, tokens, realms and logins: every change of these is a grant, but for what only describes
//! them.

use pve::Method::{Delete, Post, Put};

use crate::risk::row::{Row, Rule, UNSETS, is, row, safe};
use crate::spec::Risk::{Change, Grant};

/// The settings of a realm. Each decides who can log in, or with what.
const REALM: &[Rule] = &[safe(&[
    "acr-values",
    "audiences",
    "autocreate",
    "base_dn",
    "bind_dn",
    "capath",
    "case-sensitive",
    "cert",
    "certkey",
    "check-connection",
    "client-id",
    "client-key",
    "comment",
    "default",
    "digest",
    "domain",
    "filter",
    "group_classes",
    "group_dn",
    "group_filter",
    "group_name_attr",
    "groups-autocreate",
    "groups-claim",
    "groups-overwrite",
    "issuer-url",
    "mode",
    "password",
    "port",
    "prompt",
    "query-userinfo",
    "realm",
    "scopes",
    "secure",
    "server1",
    "server2",
    "sslversion",
    "sync-defaults-options",
    "sync_attributes",
    "tfa",
    "type",
    "user_attr",
    "user_classes",
    "username-claim",
    "verify",
])];

const USER: &[Rule] = &[safe(&[
    "append",
    "comment",
    "email",
    "enable",
    "expire",
    "firstname",
    "groups",
    "keys",
    "lastname",
    "password",
    "userid",
])];

/// Settings of a user that decide who can log in, with which privileges.
const CHANGED_USER: &[Rule] = &[
    is(
        &["append", "email", "enable", "expire", "groups", "keys"],
        Grant,
        "changes who can log in, or with which privileges",
    ),
    safe(&["comment", "firstname", "lastname"]),
];

const TOKEN: &[Rule] = &[safe(&["comment", "expire", "privsep"])];

const CHANGED_TOKEN: &[Rule] = &[
    is(
        &["expire", "privsep", "regenerate"],
        Grant,
        "changes what an API token may do, for how long, or its secret",
    ),
    safe(&["comment"]),
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Put, &["/access/acl"], (Grant, "changes who has which role on which objects"), &[
        &[safe(&["delete", "groups", "path", "propagate", "roles", "tokens", "users"])],
    ]),
    row(Post, &["/access/domains"], (Grant, "adds a realm whose users can log in"), &[REALM]),
    row(Put, &["/access/domains/{realm}"], (Grant, "changes how the users of a realm log in"), &[REALM, &[UNSETS]]),
    row(Delete, &["/access/domains/{realm}"], (Grant, "deletes a realm; its users can no longer log in"), &[]),
    row(Post, &["/access/domains/{realm}/sync"], (Grant, "creates and deletes users and groups as the realm's server lists them"), &[
        &[safe(&["dry-run", "enable-new", "full", "purge", "remove-vanished", "scope"])],
    ]),
    row(Post, &["/access/groups"], (Change, "creates an empty group of users"), &[&[safe(&["comment", "groupid"])]]),
    row(Put, &["/access/groups/{groupid}"], (Change, "describes a group of users"), &[&[safe(&["comment"])]]),
    row(Delete, &["/access/groups/{groupid}"], (Grant, "deletes a group of users and its permissions"), &[]),
    row(Post, &["/access/openid/auth-url"], (Grant, "begins a login"), &[&[safe(&["realm", "redirect-url"])]]),
    row(Post, &["/access/openid/login"], (Grant, "logs a user in"), &[&[safe(&["code", "redirect-url", "state"])]]),
    row(Put, &["/access/password"], (Grant, "changes a user's password"), &[
        &[safe(&["confirmation-password", "password", "userid"])],
    ]),
    row(Post, &["/access/roles"], (Grant, "creates a role"), &[&[safe(&["privs", "roleid"])]]),
    row(Put, &["/access/roles/{roleid}"], (Grant, "changes the privileges of everyone with this role"), &[
        &[safe(&["append", "privs"])],
    ]),
    row(Delete, &["/access/roles/{roleid}"], (Grant, "deletes a role; everyone with it loses its privileges"), &[]),
    row(Post, &["/access/tfa/{userid}"], (Grant, "adds a second factor for a user"), &[
        &[safe(&["challenge", "description", "password", "totp", "type", "value"])],
    ]),
    row(Put, &["/access/tfa/{userid}/{id}"], (Grant, "changes a user's second factor"), &[
        &[safe(&["description", "enable", "password"])],
    ]),
    row(Delete, &["/access/tfa/{userid}/{id}"], (Grant, "removes a user's second factor"), &[&[safe(&["password"])]]),
    row(Post, &["/access/ticket"], (Grant, "logs a user in"), &[
        &[safe(&["new-format", "otp", "password", "path", "privs", "realm", "tfa-challenge", "username"])],
    ]),
    row(Post, &["/access/vncticket"], (Grant, "checks a ticket for a console"), &[
        &[safe(&["authid", "path", "port", "privs", "vncticket"])],
    ]),
    row(Post, &["/access/users"], (Grant, "creates a user"), &[USER]),
    row(Put, &["/access/users/{userid}"], (Change, "changes a user"), &[CHANGED_USER]),
    row(Delete, &["/access/users/{userid}"], (Grant, "deletes a user with its tokens and permissions"), &[]),
    row(Put, &["/access/users/{userid}/unlock-tfa"], (Grant, "unlocks a user's second factors"), &[]),
    row(Post, &["/access/users/{userid}/token/{tokenid}"], (Grant, "creates an API token"), &[TOKEN]),
    row(Put, &["/access/users/{userid}/token/{tokenid}"], (Change, "changes an API token"), &[CHANGED_TOKEN, &[UNSETS]]),
    row(Delete, &["/access/users/{userid}/token/{tokenid}"], (Grant, "revokes an API token"), &[]),
];
