//! `/nodes/{node}/services`: the daemons of a node.

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::{Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::NODE;
use crate::schema::{Param, text};
use crate::world::World;
use crate::world::host::{SERVICES, Service};
use crate::world::work::Work;

const AUDIT: Perm = Perm::On("/nodes/{node}", &["Sys.Audit"]);
const MODIFY: Perm = Perm::On("/nodes/{node}", &["Sys.Modify"]);
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
    post("/nodes/{node}/services/{service}/start", |w, c| {
        act(w, c, "start")
    })
    .allow(MODIFY)
    .params(&[NODE, SERVICE])
    .proxied(),
    post("/nodes/{node}/services/{service}/stop", |w, c| {
        act(w, c, "stop")
    })
    .allow(MODIFY)
    .params(&[NODE, SERVICE])
    .proxied(),
    post("/nodes/{node}/services/{service}/restart", |w, c| {
        act(w, c, "restart")
    })
    .allow(MODIFY)
    .params(&[NODE, SERVICE])
    .proxied(),
    post("/nodes/{node}/services/{service}/reload", |w, c| {
        act(w, c, "reload")
    })
    .allow(MODIFY)
    .params(&[NODE, SERVICE])
    .proxied(),
];

/// Services without which nobody could ask for anything any more.
const ESSENTIAL: &[&str] = &["pve-cluster", "pvedaemon", "pveproxy"];

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

/// Starts, stops, restarts or reloads a service in a task of its own.
fn act(world: &mut World, call: &Call, action: &'static str) -> Reply {
    let node = call.node().to_owned();
    let name = call.text("service").unwrap_or_default().to_owned();
    let work = Work::new(format!("srv{action}"), &name).wait(1).run({
        let node = node.clone();
        move |world, _| {
            if action == "stop" && ESSENTIAL.contains(&name.as_str()) {
                return Err(format!(
                    "invalid service cmd '{name} stop': refusing to stop essential service!"
                ));
            }
            let node = world.nodes.get_mut(&node);
            match node.and_then(|node| node.services.get_mut(&name)) {
                Some(service) if service.unit != "not-found" => {
                    // PVE sends `try-reload-or-restart`, which leaves alone what does not run.
                    if action != "reload" {
                        service.set_running(action != "stop");
                    }
                    Ok(())
                }
                _ => Err(format!(
                    "command 'systemctl {action} {name}' failed: exit code 5"
                )),
            }
        }
    });
    Ok(json!(world.start_task(&call.who, &node, work)).into())
}
