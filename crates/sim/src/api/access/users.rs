//! `/access/users`.

use serde_json::{Value, json};

use crate::api::bit;
use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::access::{Token, User};

/// `GET /access/users`: those the caller may administer or audit, and always himself.
pub(super) fn list(world: &mut World, call: &Call) -> Reply {
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

fn entry(world: &World, name: &str, user: &User, full: bool) -> Value {
    let mut entry = json!({ "userid": name, "enable": bit(!user.disabled), "expire": user.expire });
    let texts = [
        ("comment", &user.comment),
        ("email", &user.email),
        ("firstname", &user.firstname),
        ("lastname", &user.lastname),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            entry[key] = json!(value);
        }
    }
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

fn token_entry(id: &str, token: &Token) -> Value {
    let mut entry = json!({ "tokenid": id, "expire": token.expire, "privsep": bit(token.privsep) });
    if let Some(comment) = &token.comment {
        entry["comment"] = json!(comment);
    }
    entry
}
