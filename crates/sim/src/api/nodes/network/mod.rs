//! `/nodes/{node}/network` and `/nodes/{node}/netstat`. Every node has one network card and a bridge on it; more can be
//! configured, but applying that is not modelled.

mod create;

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::NODE;
use crate::schema::{Param, text};
use crate::world::World;
use crate::world::node::{BRIDGE, Node};

const IFACE: Param = text("iface").shortest(2).longest(20);
const AUDIT: Perm = Perm::On("/nodes/{node}", &["Sys.Audit"]);

/// The routes of a node's network.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/network", list)
        .allow(Perm::User)
        .params(&[
            NODE,
            text("type")
                .one_of(&[
                    "bridge",
                    "bond",
                    "eth",
                    "alias",
                    "vlan",
                    "fabric",
                    "OVSBridge",
                    "OVSBond",
                    "OVSPort",
                    "OVSIntPort",
                    "vnet",
                    "any_bridge",
                    "any_local_bridge",
                    "include_sdn",
                ])
                .optional(),
        ])
        .proxied(),
    get("/nodes/{node}/network/{iface}", read)
        .allow(AUDIT)
        .params(&[NODE, IFACE])
        .proxied(),
    post("/nodes/{node}/network", create::start)
        .allow(Perm::On("/nodes/{node}", &["Sys.Modify"]))
        .params(&[NODE, IFACE])
        .and(create::SETTINGS)
        .proxied(),
    get("/nodes/{node}/netstat", traffic)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
];

/// The interfaces of a node, by name, those that are not applied yet included.
fn interfaces(node: &Node) -> Vec<(String, Value)> {
    let card = json!({
        "type": "eth",
        "method": "manual",
        "method6": "manual",
        "families": ["inet"],
        "active": 1,
        "priority": 3,
    });
    let bridge = json!({
        "type": "bridge",
        "method": "static",
        "method6": "manual",
        "families": ["inet"],
        "address": node.ip,
        "netmask": "24",
        "cidr": format!("{}/24", node.ip),
        "gateway": node.gateway(),
        "bridge_ports": "eno1",
        "bridge_stp": "off",
        "bridge_fd": "0",
        "autostart": 1,
        "active": 1,
        "priority": 4,
    });
    let planned = node.planned_interfaces.clone();
    let there = [("eno1".to_owned(), card), (BRIDGE.to_owned(), bridge)];
    there.into_iter().chain(planned).collect()
}

fn network(zone: &str, id: &str) -> (String, Value) {
    let entry = json!({
        "type": "vnet", "active": "1", "vlanaware": 0, "ipam": 0, "comments": null, "iface": id,
    });
    (format!("/sdn/zones/{zone}/{id}"), entry)
}

/// Everybody sees the cards; bridges and networks are for those who may look at them or use them.
fn list(world: &mut World, call: &Call) -> Reply {
    let kind = call.text("type");
    let (local, virtual_) = match kind {
        None => (["eth", "bridge"].as_slice(), false),
        Some("any_bridge" | "include_sdn") => (["bridge"].as_slice(), true),
        Some("any_local_bridge" | "bridge") => (["bridge"].as_slice(), false),
        Some("eth") => (["eth"].as_slice(), false),
        Some("vnet") => ([].as_slice(), true),
        Some(_) => ([].as_slice(), false),
    };
    let usable = |path: &str| {
        let privs = ["SDN.Audit", "SDN.Use"];
        privs.iter().any(|name| world.may(&call.who, path, name))
    };
    let mut found = Vec::new();
    for (name, mut entry) in world
        .nodes
        .get(call.node())
        .map(interfaces)
        .into_iter()
        .flatten()
    {
        let wanted = local.contains(&entry["type"].as_str().unwrap_or_default());
        let path = format!("/sdn/zones/localnetwork/{name}");
        let visible =
            entry["type"] != "bridge" || usable(&path) || usable_vlan(world, &path, &usable);
        entry["iface"] = json!(name);
        if wanted && visible {
            found.push(entry);
        }
    }
    let vnets = world.sdn_vnets.iter().filter(|_| virtual_);
    found.extend(vnets.filter_map(|(id, vnet)| {
        let zone = vnet.props.get("zone").map_or("", String::as_str);
        let (path, entry) = network(zone, id);
        usable(&path).then_some(entry)
    }));
    Ok(Value::from(found).into())
}

/// Whether a right on one of its VLANs makes a bridge visible.
fn usable_vlan(world: &World, bridge: &str, usable: &impl Fn(&str) -> bool) -> bool {
    let below = format!("{bridge}/");
    let paths = world.access.acl.iter().map(|rule| rule.path.as_str());
    paths.filter(|path| path.starts_with(&below)).any(usable)
}

fn read(world: &mut World, call: &Call) -> Reply {
    let wanted = call.text("iface").unwrap_or_default();
    let all = world.nodes.get(call.node()).map(interfaces);
    let found = all.into_iter().flatten().find(|(name, _)| name == wanted);
    match found {
        Some((_, entry)) => Ok(entry.into()),
        None => Err(ApiError::param("iface", "interface does not exist")),
    }
}

/// The traffic of every network device of every guest that runs here.
fn traffic(world: &mut World, call: &Call) -> Reply {
    let here = world
        .guests
        .values()
        .filter(|guest| guest.node == call.node() && guest.is_running());
    let entries = here.flat_map(|guest| {
        let use_now = super::guest::figures::usage(guest, world.now);
        let devices = guest.config.iter().map(|(key, _)| key);
        let devices = devices.filter(|key| {
            key.strip_prefix("net")
                .is_some_and(|number| number.parse::<u8>().is_ok())
        });
        let entry = move |device: &str| {
            json!({
                "vmid": guest.vmid.to_string(),
                "dev": device,
                "in": use_now.received.to_string(),
                "out": use_now.sent.to_string(),
            })
        };
        devices.map(entry).collect::<Vec<_>>()
    });
    Ok(entries.collect::<Value>().into())
}
