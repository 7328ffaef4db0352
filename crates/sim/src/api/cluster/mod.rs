//! `/cluster`: what concerns all nodes together.

pub mod acme;
pub mod backup;
pub mod corosync;
pub mod ha;
pub mod jobs;
pub(crate) mod log;
pub mod options;
pub mod replication;
pub(crate) mod resources;
pub mod sdn;
pub mod unused;

use serde_json::{Value, json};

use crate::api::nodes::tasks;
use crate::api::{bit, index};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::VMID;
use crate::schema::{int, text};
use crate::world::World;

/// The routes below `/cluster`.
pub const ROUTES: &[Route] = &[
    get("/cluster", root).allow(Perm::User),
    get("/cluster/resources", resources::list)
        .allow(Perm::User)
        .params(&[text("type")
            .one_of(&["vm", "storage", "node", "sdn"])
            .optional()]),
    get("/cluster/status", status).allow(Perm::On("/", &["Sys.Audit"])),
    get("/cluster/nextid", next_id)
        .allow(Perm::User)
        .params(&[VMID.optional()]),
    get("/cluster/tasks", tasks::of_cluster).allow(Perm::User),
    get("/cluster/log", log::read)
        .allow(Perm::User)
        .params(&[int("max").min(1).optional()]),
];

fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "acme",
        "backup",
        "backup-info",
        "bulk-action",
        "ceph",
        "config",
        "firewall",
        "ha",
        "jobs",
        "log",
        "mapping",
        "metrics",
        "notifications",
        "nextid",
        "options",
        "replication",
        "resources",
        "status",
        "tasks",
        "sdn",
    ];
    index("name", &names)
}

fn status(world: &mut World, call: &Call) -> Reply {
    let cluster = json!({
        "type": "cluster",
        "id": "cluster",
        "name": world.name,
        "version": world.nodes.len(),
        "nodes": world.nodes.len(),
        "quorate": bit(world.is_quorate()),
    });
    let nodes = world.nodes.values().map(|node| {
        json!({
            "type": "node",
            "id": format!("node/{}", node.name),
            "name": node.name,
            "nodeid": node.id,
            "ip": node.ip,
            "level": "",
            "local": bit(node.name == call.endpoint),
            "online": bit(node.is_online()),
        })
    });
    let cluster = world.alone.is_none().then_some(cluster);
    Ok(cluster.into_iter().chain(nodes).collect::<Value>().into())
}

/// The next free id, as text; or a check that a given one is free.
fn next_id(world: &mut World, call: &Call) -> Reply {
    let taken = |id: u32| world.guests.contains_key(&id);
    if call.params.has("vmid") {
        let id = call.vmid();
        if taken(id) {
            return Err(ApiError::param("vmid", format!("VM {id} already exists")));
        }
        return Ok(json!(id.to_string()).into());
    }
    let free = (100..1_000_000_000_u32)
        .find(|id| !taken(*id))
        .unwrap_or_default();
    Ok(json!(free.to_string()).into())
}
