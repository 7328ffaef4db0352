//! `/access`: login, permissions, users, roles, rules, realms.

pub mod acl;
mod factors;
pub mod groups;
mod password;
mod permissions;
pub mod roles;
mod sync;
mod ticket;
pub mod tokens;
pub mod users;

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post, put};
use crate::schema::{Param, flag, format, int, text};
use crate::world::access::Realm;
use crate::world::{World, digest_of};

pub(super) const USERID: Param = text("userid").is(format::user_id).longest(64);

/// The routes below `/access` that have no table of their own.
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
    post("/access/vncticket", ticket::verify_vnc)
        .allow(Perm::World)
        .params(&[
            text("authid").longest(64),
            text("path").longest(64),
            text("privs").list_of(format::privilege).longest(64),
            text("vncticket"),
            int("port").optional(),
        ]),
    get("/access/permissions", permissions::show)
        .allow(Perm::User)
        .params(&[
            text("path").optional(),
            text("userid")
                .matching(permissions::is_user_or_token)
                .optional(),
        ]),
    put("/access/password", password::change)
        .allow(Perm::Either(&[
            Perm::OwnUser,
            Perm::All(&[Perm::RealmOfUser, Perm::GroupOfUser(&["User.Modify"])]),
        ]))
        .params(&[
            USERID,
            text("password").shortest(8).longest(64),
            text("confirmation-password")
                .shortest(5)
                .longest(64)
                .optional(),
        ])
        .no_token(),
    get("/access/domains", domains).allow(Perm::World),
    get("/access/domains/{realm}", domain)
        .allow(Perm::AnyOn(
            "/access/realm",
            &["Realm.Allocate", "Sys.Audit"],
        ))
        .params(&[text("realm").is(format::realm).longest(32)]),
    post("/access/domains/{realm}/sync", sync::start)
        .allow(Perm::All(&[
            Perm::On("/access/realm/{realm}", &["Realm.AllocateUser"]),
            Perm::On("/access/groups", &["User.Modify"]),
        ]))
        .params(&[
            text("realm").is(format::realm).longest(32),
            flag("dry-run").optional(),
            flag("enable-new").optional(),
            flag("full").optional(),
            flag("purge").optional(),
            text("remove-vanished").optional(),
            text("scope")
                .one_of(&["users", "groups", "both"])
                .optional(),
        ]),
    get("/access/openid", openid).allow(Perm::User),
    get("/access/tfa", factors::list).allow(Perm::User),
    get("/access/tfa/{userid}", factors::of_user)
        .allow(Perm::Either(&[
            Perm::OwnUser,
            Perm::GroupOfUser(&["User.Modify", "Sys.Audit"]),
        ]))
        .params(&[USERID]),
];

fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "users", "groups", "roles", "acl", "domains", "openid", "tfa", "ticket", "password",
    ];
    index("subdir", &names)
}

fn domains(world: &mut World, _: &Call) -> Reply {
    let entry = |(name, realm): (&String, &Realm)| {
        let mut entry = json!({ "realm": name, "type": realm.kind });
        if let Some(comment) = &realm.comment {
            entry["comment"] = json!(comment);
        }
        entry
    };
    let realms = world.access.realms.iter();
    Ok(realms.map(entry).collect::<Value>().into())
}

fn domain(world: &mut World, call: &Call) -> Reply {
    let name = call.text("realm").unwrap_or_default();
    let Some(realm) = world.access.realms.get(name) else {
        return Err(ApiError::fail(format!("domain '{name}' does not exist")));
    };
    let digest = digest_of(&format!("{:?}", world.access.realms));
    let mut entry = json!({ "type": realm.kind, "digest": digest });
    if let Some(comment) = &realm.comment {
        entry["comment"] = json!(comment);
    }
    for (key, value) in &realm.settings {
        entry[key] = json!(value);
    }
    Ok(entry.into())
}

fn openid(_: &mut World, _: &Call) -> Reply {
    index("subdir", &["auth-url", "login"])
}
