//! `/access/users`.

use serde_json::{Map, Value, json};

use super::USERID;
use crate::api::bit;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::access::{Subject, Token, User};
use crate::world::factor::Factor;

/// What may be told about a user.
const DETAILS: &[Param] = &[
    text("comment").longest(2048).optional(),
    text("email").longest(254).optional(),
    flag("enable").optional(),
    int("expire").min(0).optional(),
    text("firstname").longest(1024).optional(),
    text("groups").list_of(format::group_id).optional(),
    text("keys").matching(is_keys).optional(),
    text("lastname").longest(1024).optional(),
];

/// The routes of users.
pub const ROUTES: &[Route] = &[
    get("/access/users", list)
        .allow(Perm::User)
        .params(&[flag("enabled").optional(), flag("full").optional()]),
    post("/access/users", create)
        .allow(Perm::All(&[
            Perm::RealmOfUser,
            Perm::GroupsOfNewUser(&["User.Modify"]),
        ]))
        .params(&[USERID, text("password").shortest(8).longest(64).optional()])
        .and(DETAILS),
    get("/access/users/{userid}", read)
        .allow(Perm::GroupOfUser(&["User.Modify", "Sys.Audit"]))
        .params(&[USERID]),
    put("/access/users/{userid}", update)
        .allow(Perm::GroupsOfChangedUser(&["User.Modify"]))
        .params(&[USERID, flag("append").optional().requires("groups")])
        .and(DETAILS),
    delete("/access/users/{userid}", remove)
        .allow(Perm::All(&[
            Perm::RealmOfUser,
            Perm::GroupOfUser(&["User.Modify"]),
        ]))
        .params(&[USERID]),
    get("/access/users/{userid}/tfa", second_factors)
        .allow(Perm::Either(&[
            Perm::OwnUser,
            Perm::GroupOfUser(&["User.Modify", "Sys.Audit"]),
        ]))
        .params(&[USERID, flag("multiple").optional()]),
];

fn is_keys(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '!' | '=');
    text.len() <= 4096 && text.chars().all(word)
}

/// `GET /access/users`: those the caller may administer or audit, and always himself.
fn list(world: &mut World, call: &Call) -> Reply {
    let wanted = |user: &User| match call.text("enabled") {
        Some("1") => !user.disabled,
        Some(_) => user.disabled,
        None => true,
    };
    let users = world
        .access
        .users
        .iter()
        .filter(|(name, user)| wanted(user) && may_see(world, call, name));
    let entries = users.map(|(name, user)| entry(world, name, user, call.flag("full")));
    Ok(entries.collect::<Value>().into())
}

fn may_see(world: &World, call: &Call, user: &str) -> bool {
    let on = |path: &str| {
        let privs = ["User.Modify", "Sys.Audit"];
        privs.iter().any(|name| world.may(&call.who, path, name))
    };
    let groups = world.access.groups_of(user);
    call.who.to_string() == user
        || on("/access/groups")
        || groups
            .iter()
            .any(|group| on(&format!("/access/groups/{group}")))
}

fn details(user: &User) -> Value {
    let mut entry = json!({ "enable": bit(!user.disabled), "expire": user.expire });
    let texts = [
        ("comment", &user.comment),
        ("email", &user.email),
        ("firstname", &user.firstname),
        ("lastname", &user.lastname),
        ("keys", &user.keys),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            entry[key] = json!(value);
        }
    }
    entry
}

fn entry(world: &World, name: &str, user: &User, full: bool) -> Value {
    let mut entry = details(user);
    entry["userid"] = json!(name);
    // A user of a realm that does not exist has no realm type.
    let realm = name
        .rsplit_once('@')
        .and_then(|(_, realm)| world.access.realms.get(realm));
    if let Some(realm) = realm {
        entry["realm-type"] = json!(realm.kind);
    }
    if full {
        entry["groups"] = json!(world.access.groups_of(name).join(","));
        entry["tokens"] = if user.tokens.is_empty() {
            Value::Null
        } else {
            user.tokens
                .iter()
                .map(|(id, token)| token_entry(id, token))
                .collect()
        };
    }
    entry
}

/// A token as lists show it.
pub(super) fn token_entry(id: &str, token: &Token) -> Value {
    let mut entry = token_details(token);
    entry["tokenid"] = json!(id);
    entry
}

/// What may be told about a token: everything but its secret.
pub(super) fn token_details(token: &Token) -> Value {
    let mut entry = json!({ "expire": token.expire, "privsep": bit(token.privsep) });
    if let Some(comment) = &token.comment {
        entry["comment"] = json!(comment);
    }
    entry
}

/// The user in the path.
///
/// # Errors
/// 500 if there is none.
pub(super) fn need<'a>(world: &'a mut World, name: &str) -> Result<&'a mut User, ApiError> {
    let user = world.access.users.get_mut(name);
    user.ok_or_else(|| ApiError::fail(format!("no such user ('{name}')")))
}

fn read(world: &mut World, call: &Call) -> Reply {
    let name = call.text("userid").unwrap_or_default();
    let groups = json!(world.access.groups_of(name));
    let user = need(world, name)?;
    let mut entry = details(user);
    let tokens = user.tokens.iter();
    let tokens: Map<_, _> = tokens
        .map(|(id, token)| (id.clone(), token_details(token)))
        .collect();
    entry["groups"] = groups;
    entry["tokens"] = if tokens.is_empty() {
        Value::Null
    } else {
        tokens.into()
    };
    Ok(entry.into())
}

fn create(world: &mut World, call: &Call) -> Reply {
    let action = "create user failed";
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    let name = call.text("userid").unwrap_or_default();
    let fail = |text: String| Err(ApiError::fail(format!("{action}: {text}")));
    if world.access.users.contains_key(name) {
        return fail(format!("user '{name}' already exists"));
    }
    let (_, realm) = name.rsplit_once('@').unwrap_or_default();
    let password = call.text("password").map(str::to_owned);
    if password.is_some() && !world.access.realms.contains_key(realm) {
        return fail(format!("auth domain '{realm}' does not exist"));
    }
    known_groups(world, call).map_err(|error| error.during(action))?;
    let mut user = User {
        password,
        ..User::default()
    };
    change(&mut user, call);
    world.access.users.insert(name.to_owned(), user);
    join_groups(world, call, name);
    done()
}

fn update(world: &mut World, call: &Call) -> Reply {
    let action = "update user failed";
    let name = call.text("userid").unwrap_or_default();
    world.lock_file(&format!("{action}: "), "user_cfg")?;
    need(world, name).map_err(|error| error.during(action))?;
    known_groups(world, call).map_err(|error| error.during(action))?;
    change(need(world, name)?, call);
    if call.params.has("groups") && !call.flag("append") {
        for group in world.access.groups.values_mut() {
            group.members.remove(name);
        }
    }
    join_groups(world, call, name);
    done()
}

fn known_groups(world: &World, call: &Call) -> Result<(), ApiError> {
    let groups = call.params.list("groups");
    let unknown = groups
        .iter()
        .find(|group| !world.access.groups.contains_key(**group));
    match unknown {
        Some(group) => Err(ApiError::fail(format!("no such group '{group}'"))),
        None => Ok(()),
    }
}

fn join_groups(world: &mut World, call: &Call, name: &str) {
    for group in call.params.list("groups") {
        if let Some(group) = world.access.groups.get_mut(group) {
            group.members.insert(name.to_owned());
        }
    }
}

/// Takes over what was sent; an empty text removes a detail.
fn change(user: &mut User, call: &Call) {
    if let Some(enable) = call.text("enable") {
        user.disabled = enable == "0";
    }
    if let Some(expire) = call.int("expire") {
        user.expire = expire;
    }
    let texts = [
        ("comment", &mut user.comment),
        ("email", &mut user.email),
        ("firstname", &mut user.firstname),
        ("lastname", &mut user.lastname),
        ("keys", &mut user.keys),
    ];
    for (key, value) in texts {
        if let Some(sent) = call.text(key) {
            *value = Some(sent.to_owned()).filter(|text| !text.is_empty());
        }
    }
}

/// Removes a user with its tokens, memberships and rules.
fn remove(world: &mut World, call: &Call) -> Reply {
    let name = call.text("userid").unwrap_or_default();
    world.lock_file("delete user failed: ", "user_cfg")?;
    let access = &mut world.access;
    access.users.remove(name);
    for group in access.groups.values_mut() {
        group.members.remove(name);
    }
    let prefix = format!("{name}!");
    access.remove_rules(|subject| match subject {
        Subject::User(user) => user == name,
        Subject::Token(token) => token.starts_with(&prefix),
        Subject::Group(_) => false,
    });
    done()
}

fn second_factors(world: &mut World, call: &Call) -> Reply {
    let name = call.text("userid").unwrap_or_default();
    let (_, realm) = name.rsplit_once('@').unwrap_or_default();
    if !world.access.realms.contains_key(realm) {
        return Err(ApiError::fail(format!(
            "auth domain '{realm}' does not exist"
        )));
    }
    let user = world.access.users.get(name);
    let kinds = user
        .into_iter()
        .flat_map(|user| &user.factors)
        .map(Factor::kind);
    let factors = if call.flag("multiple") {
        json!({ "user": kinds.collect::<Vec<_>>() })
    } else {
        json!({})
    };
    Ok(factors.into())
}
