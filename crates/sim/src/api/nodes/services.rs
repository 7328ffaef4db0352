//! `/nodes/{node}/services`: the daemons of a node.

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::{Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::schema::{Param, text};
use crate::world::World;
use crate::world::host::{SERVICES, Service};

const AUDIT: Perm = Perm::On("/nodes/{node}", &["Sys.Audit"]);
const SERVICE: Param = text("service").one_of(SERVICES);

/// The routes of services.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/services", list)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/services/{service}", root)
        .allow(AUDIT)
        .params(&[NODE, SERVICE]),
    get("/nodes/{node}/services/{service}/state", state)
        .allow(AUDIT)
        .params(&[NODE, SERVICE])
        .proxied(),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("subdir", &["state", "start", "stop", "restart", "reload"])
}

fn list(world: &mut World, call: &Call) -> Reply {
    let services = world.nodes.get(call.node()).map(|node| &node.services);
    let entries = services.into_iter().flatten();
    Ok(entries
        .map(|(name, service)| to_json(name, service))
        .collect::<Value>()
        .into())
}

fn state(world: &mut World, call: &Call) -> Reply {
    let name = call.text("service").unwrap_or_default();
    let node = world.nodes.get(call.node());
    match node.and_then(|node| node.services.get(name)) {
        Some(service) => Ok(to_json(name, service).into()),
        None => done(),
    }
}

fn to_json(name: &str, service: &Service) -> Value {
    json!({
        "service": name,
        "name": name,
        "desc": service.description,
        "state": service.state,
        "active-state": service.active,
        "unit-state": service.unit,
    })
}
