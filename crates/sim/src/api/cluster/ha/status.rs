//! `/cluster/ha/status`: what the HA manager and its helpers on the nodes report.

use serde_json::{Map, Value, json};

use super::AUDIT;
use crate::api::{bit, index};
use crate::call::Call;
use crate::clock::Time;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::world::node::Node;
use crate::world::{Section, World};

/// The routes of the HA status.
pub const ROUTES: &[Route] = &[
    get("/cluster/ha/status", root).allow(Perm::User),
    get("/cluster/ha/status/current", current).allow(AUDIT),
    get("/cluster/ha/status/manager_status", files).allow(AUDIT),
];

/// How old a report may be before its author counts as dead.
const PATIENCE_SECS: u64 = 30;

fn root(_: &mut World, _: &Call) -> Reply {
    index(
        "name",
        &["current", "manager_status", "disarm-ha", "arm-ha"],
    )
}

/// What the manager and its helpers wrote down, as it stands in their files.
fn files(world: &mut World, call: &Call) -> Reply {
    let nodes = world.nodes.values();
    let online = |node: &Node| {
        if node.is_online() {
            "online"
        } else {
            "unknown"
        }
    };
    let status: Map<_, _> = nodes
        .clone()
        .map(|node| (node.name.clone(), json!(online(node))))
        .collect();
    let helpers: Map<_, _> = nodes
        .map(|node| {
            let state = if world.ha_works_on(&node.name) {
                "active"
            } else {
                "wait_for_agent_lock"
            };
            let seen = last_report(world, node).secs();
            let entry =
                json!({ "timestamp": seen, "state": state, "results": {}, "mode": "active" });
            (node.name.clone(), entry)
        })
        .collect();
    let services = world.ha_resources.iter().filter_map(|(sid, resource)| {
        let service = world.ha_service(sid, resource);
        let running = bit(service.shown == "started");
        let entry = json!({ "node": service.node?, "state": service.state?, "running": running });
        Some((sid.clone(), entry))
    });
    let services: Map<_, _> = services.collect();
    let mut manager = json!({ "service_status": services, "node_status": status });
    if let Some(node) = world.ha_manager() {
        manager["master_node"] = json!(node.name);
        manager["timestamp"] = json!(last_report(world, node).secs());
    }
    let quorate = if world.is_quorate() { "1" } else { "" };
    Ok(json!({
        "manager_status": manager,
        "lrm_status": helpers,
        "quorum": { "node": call.endpoint, "quorate": quorate },
    })
    .into())
}

fn current(world: &mut World, call: &Call) -> Reply {
    let mut entries = vec![quorum(world, call)];
    if let Some(node) = world.ha_manager() {
        entries.extend(manager(world, node));
    }
    entries.extend(world.nodes.values().map(|node| helper(world, node)));
    let services = world.ha_resources.iter();
    entries.extend(services.map(|(sid, resource)| service(world, sid, resource)));
    Ok(Value::from(entries).into())
}

fn quorum(world: &World, call: &Call) -> Value {
    let (node, quorate) = (&call.endpoint, world.is_quorate());
    let status = if quorate {
        "OK".to_owned()
    } else {
        format!("No quorum on node '{node}'!")
    };
    json!({
        "id": "quorum", "type": "quorum", "node": node, "status": status, "quorate": bit(quorate),
    })
}

/// The manager and its watchdog. Without anything to look after, it rests since the node booted.
fn manager(world: &World, node: &Node) -> [Value; 2] {
    let idle = world.ha_resources.is_empty();
    let seen = if idle {
        node.boot
    } else {
        last_report(world, node)
    };
    let mood = match age_of(world, seen) {
        "active" => "active",
        _ if idle && world.is_quorate() => "idle",
        old => old,
    };
    let name = &node.name;
    let status = format!("{name} ({mood}, {})", seen.as_c_text());
    let (armed, watchdog) = if mood == "active" {
        ("armed", "active")
    } else {
        ("standby", "standby")
    };
    [
        json!({
            "id": "master", "type": "master", "node": name, "status": status, "timestamp": seen.secs(),
        }),
        json!({
            "id": "fencing", "type": "fencing", "node": name, "armed-state": armed,
            "status": format!("{armed} (CRM watchdog {watchdog})"),
        }),
    ]
}

/// The helper that acts for the manager on one node.
fn helper(world: &World, node: &Node) -> Value {
    let (name, seen) = (&node.name, last_report(world, node));
    let busy = world.ha_works_on(name);
    let (mood, watchdog) = match age_of(world, seen) {
        "active" if busy => ("active", "active"),
        "active" => ("idle", "standby"),
        old => (old, "standby"),
    };
    let status = format!("{name} ({mood}, watchdog {watchdog}, {})", seen.as_c_text());
    json!({
        "id": format!("lrm:{name}"), "type": "lrm", "node": name, "status": status, "timestamp": seen.secs(),
    })
}

/// When a node last wrote down that it lives: every five seconds, as long as it is up and there is quorum.
fn last_report(world: &World, node: &Node) -> Time {
    let lost_quorum = || {
        world
            .nodes
            .values()
            .filter_map(|node| node.down_since)
            .max()
    };
    match node.down_since {
        Some(since) => since,
        None if world.is_quorate() => Time::from_secs(world.now.secs() / 5 * 5),
        None => lost_quorum().unwrap_or(node.boot),
    }
}

fn age_of(world: &World, seen: Time) -> &'static str {
    if world.now.since(seen).as_secs() > PATIENCE_SECS {
        "old timestamp - dead?"
    } else {
        "active"
    }
}

fn service(world: &World, sid: &str, resource: &Section) -> Value {
    let prop = |key: &str| resource.props.get(key);
    let number = |key: &str| prop(key).and_then(|text| text.parse().ok()).unwrap_or(1);
    let service = world.ha_service(sid, resource);
    let node = service.node.unwrap_or("---");
    let mut entry = json!({
        "id": format!("service:{sid}"),
        "type": "service",
        "sid": sid,
        "status": format!("{sid} ({node}, {})", service.shown),
        "state": service.shown,
        "request_state": service.requested,
        "failback": number("failback"),
        "max_restart": number("max_restart"),
        "max_relocate": number("max_relocate"),
    });
    if let Some(node) = service.node {
        entry["node"] = json!(node);
    }
    if let Some(state) = service.state {
        entry["crm_state"] = json!(state);
    }
    if let Some(comment) = prop("comment") {
        entry["comment"] = json!(comment);
    }
    entry
}
