//! `/cluster/ha/status`: what the HA manager and its helpers on the nodes report.

use serde_json::{Value, json};

use crate::api::bit;
use crate::call::Call;
use crate::clock::Time;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::world::node::Node;
use crate::world::{Section, World};

/// The routes of the HA status.
pub const ROUTES: &[Route] =
    &[get("/cluster/ha/status/current", current).allow(Perm::On("/", &["Sys.Audit"]))];

/// How old a report may be before its author counts as dead.
const PATIENCE_SECS: u64 = 30;

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
