//! `/cluster/resources`: everything there is, as far as the caller may see it.

use serde_json::{Value, json};

use crate::api::bit;
use crate::api::nodes::guest::figures;
use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::ha::service_id;
use crate::world::node::Node;
use crate::world::storage::Storage;

/// `GET /cluster/resources`. Networks are only in the unfiltered list, not under `type=sdn`.
pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    let kind = call.text("type");
    let wants = |name: &str| kind.is_none_or(|kind| kind == name);
    let mut found = Vec::new();
    if kind.is_none() {
        found.extend(pools(world, call));
    }
    if wants("vm") {
        let guests = world
            .guests
            .values()
            .filter(|guest| may_audit(world, call, guest.vmid));
        found.extend(guests.map(|guest| guest_entry(world, call, guest)));
    }
    if wants("node") {
        found.extend(
            world
                .nodes
                .values()
                .map(|node| node_entry(world, call, node)),
        );
    }
    if wants("storage") {
        found.extend(storages(world, call));
    }
    if kind.is_none() {
        found.extend(networks(world, call));
    }
    Ok(Value::from(found).into())
}

fn may_audit(world: &World, call: &Call, vmid: u32) -> bool {
    world.may(&call.who, &format!("/vms/{vmid}"), "VM.Audit")
}

fn may_any(world: &World, call: &Call, path: &str, privs: &[&str]) -> bool {
    privs.iter().any(|name| world.may(&call.who, path, name))
}

fn pools(world: &World, call: &Call) -> Vec<Value> {
    let visible = world
        .pools
        .keys()
        .filter(|pool| may_any(world, call, &format!("/pool/{pool}"), &["Pool.Audit"]));
    visible
        .map(|pool| json!({ "type": "pool", "id": format!("/pool/{pool}"), "pool": pool }))
        .collect()
}

/// One guest, as lists of resources show it.
pub(crate) fn guest_entry(world: &World, call: &Call, guest: &Guest) -> Value {
    let (kind, vmid) = (guest.kind.name(), guest.vmid);
    let mut entry =
        json!({ "type": kind, "id": format!("{kind}/{vmid}"), "vmid": vmid, "node": guest.node });
    let pool = world
        .pools
        .iter()
        .find(|(_, pool)| pool.guests.contains(&vmid))
        .map(|(name, _)| name);
    if let Some(pool) =
        pool.filter(|pool| may_any(world, call, &format!("/pool/{pool}"), &["Pool.Audit"]))
    {
        entry["pool"] = json!(pool);
    }
    if !world.state_known(&guest.node) {
        entry["status"] = json!("unknown");
        return entry;
    }
    let node = world.nodes.get(&guest.node);
    let use_now = figures::usage(guest, world.now);
    entry["status"] = json!(guest.status());
    entry["name"] = json!(guest.name());
    entry["template"] = bit(guest.is_template());
    entry["uptime"] = json!(guest.uptime(world.now));
    entry["maxcpu"] = json!(guest.cpus(node));
    entry["maxmem"] = json!(guest.max_memory());
    entry["maxdisk"] = json!(guest.max_disk());
    entry["cpu"] = json!(use_now.cpu);
    entry["mem"] = json!(use_now.memory);
    entry["memhost"] = json!(use_now.memory);
    entry["disk"] = json!(use_now.disk);
    for (key, value) in [("diskread", use_now.read), ("diskwrite", use_now.written)] {
        entry[key] = json!(value);
    }
    for (key, value) in [("netin", use_now.received), ("netout", use_now.sent)] {
        entry[key] = json!(value);
    }
    for key in ["tags", "lock"] {
        if let Some(value) = guest.config.get(key) {
            entry[key] = json!(value);
        }
    }
    if let Some(resource) = world.ha_resource(guest.kind, vmid) {
        let service = world.ha_service(&service_id(guest.kind, vmid), resource);
        if let Some(state) = service.state {
            entry["hastate"] = json!(state);
        }
    }
    entry
}

fn node_entry(world: &World, call: &Call, node: &Node) -> Value {
    let status = if node.is_online() {
        "online"
    } else {
        "offline"
    };
    let mut entry = json!({
        "type": "node",
        "id": format!("node/{}", node.name),
        "node": node.name,
        "status": status,
        "level": "",
        "cgroup-mode": 2,
        "hastate": "online",
    });
    crate::api::nodes::add_figures(world, call, node, &mut entry);
    entry
}

fn storages(world: &World, call: &Call) -> Vec<Value> {
    // Unlike the storages of a node, which a token that may allocate space sees as well.
    let visible = world
        .storages
        .iter()
        .filter(|(id, _)| may_any(world, call, &format!("/storage/{id}"), &["Datastore.Audit"]));
    visible
        .flat_map(|(id, storage)| {
            let nodes = world
                .nodes
                .values()
                .filter(|node| storage.is_on(&node.name));
            nodes.map(|node| storage_entry(world, id, storage, node))
        })
        .collect()
}

/// One storage as seen from a node, as lists of resources show it.
pub(crate) fn storage_entry(world: &World, id: &str, storage: &Storage, node: &Node) -> Value {
    let mut entry = json!({
        "type": "storage",
        "id": format!("storage/{}/{id}", node.name),
        "storage": id,
        "node": node.name,
        "plugintype": storage.kind,
        "content": storage.content.join(","),
        "shared": bit(storage.shared),
        "status": "unknown",
    });
    if node.state_known(world.now) && !world.silent_storages.contains(id) {
        entry["status"] = json!("available");
        entry["maxdisk"] = json!(storage.capacity);
        entry["disk"] = json!(world.used_space(&node.name, id));
    }
    entry
}

fn networks(world: &World, call: &Call) -> Vec<Value> {
    let zones = world
        .sdn_zones
        .iter()
        .map(|(id, zone)| (id.as_str(), Some(zone.kind.as_str())));
    let all = std::iter::once(("localnetwork", None)).chain(zones);
    let privs = ["SDN.Audit", "SDN.Use"];
    let visible = all.filter(|(id, _)| may_any(world, call, &format!("/sdn/zones/{id}"), &privs));
    visible
        .flat_map(|(id, kind)| {
            world
                .nodes
                .keys()
                .map(move |node| network_entry(node, id, kind))
        })
        .collect()
}

fn network_entry(node: &str, zone: &str, kind: Option<&str>) -> Value {
    let mut entry = json!({
        "type": "network",
        "network-type": "zone",
        "id": format!("network/{node}/zone/{zone}"),
        "network": zone,
        "node": node,
        "status": "ok",
    });
    if let Some(kind) = kind {
        entry["zone-type"] = json!(kind);
        entry["status"] = json!("pending");
    }
    entry
}
