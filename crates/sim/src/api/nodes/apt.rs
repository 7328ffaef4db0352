//! `/nodes/{node}/apt`: packages.

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::world::World;
use crate::world::host::Update;

/// The routes of packages.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/apt", root)
        .allow(Perm::User)
        .params(&[NODE]),
    get("/nodes/{node}/apt/update", updates)
        .allow(Perm::On("/nodes/{node}", &["Sys.Modify"]))
        .params(&[NODE])
        .proxied(),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("id", &["changelog", "repositories", "update", "versions"])
}

fn updates(world: &mut World, call: &Call) -> Reply {
    let updates = world.nodes.get(call.node()).map(|node| &node.updates);
    let entry = |update: &Update| {
        json!({
            "Package": update.package,
            "Title": update.title,
            "Description": update.title,
            "Version": update.new,
            "OldVersion": update.old,
            "Origin": update.origin,
            "Section": "admin",
            "Priority": "optional",
            "Arch": "amd64",
        })
    };
    let entries = updates.into_iter().flatten().map(entry);
    Ok(entries.collect::<Value>().into())
}
