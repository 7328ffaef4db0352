//! `/cluster/ha/resources`: the guests that HA looks after.

use serde_json::{Value, json};

use crate::api::section;
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::text;
use crate::world::{Section, World};

/// The routes of HA resources.
pub const ROUTES: &[Route] = &[get("/cluster/ha/resources", list)
    .allow(Perm::On("/", &["Sys.Audit"]))
    .params(&[text("type").one_of(&["ct", "vm"]).optional()])];

fn list(world: &mut World, call: &Call) -> Reply {
    let wanted = |resource: &Section| call.text("type").is_none_or(|kind| kind == resource.kind);
    let found = world
        .ha_resources
        .iter()
        .filter(|(_, resource)| wanted(resource));
    let entries = found.map(|(sid, resource)| to_json(world, sid, resource));
    Ok(entries.collect::<Value>().into())
}

fn to_json(world: &World, sid: &str, resource: &Section) -> Value {
    let numbers = ["failback", "max_relocate", "max_restart"];
    let mut entry = section::to_json(resource, &numbers);
    entry.insert("sid".to_owned(), json!(sid));
    entry.insert(
        "digest".to_owned(),
        json!(section::digest(&world.ha_resources)),
    );
    entry.into()
}
