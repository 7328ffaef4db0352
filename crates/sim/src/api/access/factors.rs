//! `/access/tfa`: who has a second factor. Adding and removing them is not modelled.

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::access::User;

/// Everybody's for those who may see users, else one's own.
pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    let seen = |name: &str| {
        let privs = ["User.Modify", "Sys.Audit"];
        name == call.who.user
            || (privs.iter()).any(|privilege| world.may(&call.who, "/access/groups", privilege))
    };
    let users = world.access.users.iter();
    let having = users.filter(|(name, user)| !user.factors.is_empty() && seen(name));
    let entries = having.map(|(name, user)| json!({ "userid": name, "entries": entries(user) }));
    Ok(entries.collect::<Value>().into())
}

pub(super) fn of_user(world: &mut World, call: &Call) -> Reply {
    let name = call.text("userid").unwrap_or_default();
    let user = world.access.users.get(name);
    Ok(user.map_or_else(|| json!([]), entries).into())
}

fn entries(user: &User) -> Value {
    let entry = |factor: &crate::world::factor::Factor| {
        let kind = factor.kind();
        json!({ "id": format!("{kind}:0"), "type": kind, "description": kind, "created": 0, "enable": 1 })
    };
    user.factors.iter().map(entry).collect()
}
