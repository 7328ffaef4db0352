//! `/access`: login, permissions, users, roles, rules, realms.

mod permissions;
mod ticket;
mod users;

use serde_json::{Value, json};

use crate::api::{bit, index};
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::{flag, format, text};
use crate::world::World;
use crate::world::access::Subject;

/// The routes below `/access`.
pub const ROUTES: &[Route] = &[
    get("/access", root).allow(Perm::User),
    get("/access/ticket", ticket::form).allow(Perm::World),
    post("/access/ticket", ticket::login)
        .no_token()
        .allow(Perm::World)
        .params(&[
            text("username").longest(64),
            text("password"),
            text("realm").is(format::realm).longest(32).optional(),
            text("otp").optional(),
            text("path").longest(64).optional().requires("privs"),
            text("privs")
                .list_of(format::privilege)
                .longest(64)
                .optional()
                .requires("path"),
            flag("new-format").optional(),
            text("tfa-challenge").optional(),
        ]),
    get("/access/permissions", permissions::show)
        .allow(Perm::User)
        .params(&[
            text("path").optional(),
            text("userid")
                .matching(permissions::is_user_or_token)
                .optional(),
        ]),
    get("/access/users", users::list)
        .allow(Perm::User)
        .params(&[flag("enabled").optional(), flag("full").optional()]),
    get("/access/roles", roles).allow(Perm::User),
    get("/access/acl", acl).allow(Perm::User),
    get("/access/domains", domains).allow(Perm::World),
];

fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "users", "groups", "roles", "acl", "domains", "openid", "tfa", "ticket", "password",
    ];
    index("subdir", &names)
}

fn roles(world: &mut World, _: &Call) -> Reply {
    let entry = |(name, role): (&String, &crate::world::access::Role)| {
        let privs: Vec<&str> = role.privs.iter().map(String::as_str).collect();
        json!({ "roleid": name, "privs": privs.join(","), "special": bit(role.special) })
    };
    Ok(world
        .access
        .roles
        .iter()
        .map(entry)
        .collect::<Value>()
        .into())
}

/// Only the rules on paths whose permissions the caller may modify.
fn acl(world: &mut World, call: &Call) -> Reply {
    let visible = world
        .access
        .acl
        .iter()
        .filter(|rule| world.may(&call.who, &rule.path, "Permissions.Modify"));
    let entries = visible.map(|rule| {
        let (kind, ugid) = match &rule.subject {
            Subject::User(name) => ("user", name),
            Subject::Group(name) => ("group", name),
            Subject::Token(name) => ("token", name),
        };
        json!({
            "path": rule.path,
            "type": kind,
            "ugid": ugid,
            "roleid": rule.role,
            "propagate": bit(rule.propagate),
        })
    });
    Ok(entries.collect::<Value>().into())
}

fn domains(world: &mut World, _: &Call) -> Reply {
    let entry = |(name, realm): (&String, &crate::world::access::Realm)| {
        let mut entry = json!({ "realm": name, "type": realm.kind });
        if let Some(comment) = &realm.comment {
            entry["comment"] = json!(comment);
        }
        entry
    };
    Ok(world
        .access
        .realms
        .iter()
        .map(entry)
        .collect::<Value>()
        .into())
}
