//! `/access/permissions`: what somebody may do, path by path.

use serde_json::{Map, Value};

use crate::api::bit;
use crate::call::{Call, Identity};
use crate::error::Reply;
use crate::permission;
use crate::schema::format::{is_token_name, is_user_id};
use crate::world::World;
use crate::world::access::Privileges;

/// Paths that are shown even if no rule names them.
const GENERAL: [&str; 8] = [
    "/",
    "/access",
    "/access/groups",
    "/nodes",
    "/pool",
    "/sdn",
    "/storage",
    "/vms",
];

/// Whether the text names a user, or a token with its user.
pub(super) fn is_user_or_token(text: &str) -> bool {
    match text.split_once('!') {
        Some((user, token)) => is_user_id(user) && is_token_name(token),
        None => is_user_id(text),
    }
}

/// `GET /access/permissions`: one's own, or with `Sys.Audit` on `/access` those of others.
pub(super) fn show(world: &mut World, call: &Call) -> Reply {
    let subject = call
        .text("userid")
        .map_or_else(|| call.who.clone(), Identity::parse);
    let own = subject == call.who || (call.who.token.is_none() && subject.user == call.who.user);
    if !own {
        permission::require(world, &call.who, "/access", &["Sys.Audit"])?;
    }
    let mut shown = Map::new();
    if let Some(path) = call.text("path") {
        shown.insert(path.to_owned(), entry(&world.privileges(&subject, path)));
    } else {
        let rules = world.access.acl.iter().map(|rule| rule.path.as_str());
        for path in GENERAL.into_iter().chain(rules) {
            let privs = world.privileges(&subject, path);
            if !privs.is_empty() {
                shown.insert(path.to_owned(), entry(&privs));
            }
        }
    }
    Ok(Value::Object(shown).into())
}

fn entry(privs: &Privileges) -> Value {
    privs
        .iter()
        .map(|(name, propagate)| (name.clone(), bit(*propagate)))
        .collect::<Map<_, _>>()
        .into()
}
