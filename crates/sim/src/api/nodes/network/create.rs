//! `POST network`: an interface is configured; it comes to be when the configuration is applied or the node boots.

use serde_json::{Value, json};

use super::interfaces;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::schema::{Param, flag, int, network, text};
use crate::world::World;

/// What an interface can be given.
pub(super) const SETTINGS: &[Param] = &[
    text("type").one_of(&[
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
        "unknown",
    ]),
    text("address")
        .is(network::ipv4)
        .requires("netmask")
        .optional(),
    text("address6")
        .is(network::ipv6)
        .requires("netmask6")
        .optional(),
    flag("autostart").optional(),
    text("bond-primary").optional(),
    text("bond_mode")
        .one_of(&[
            "balance-rr",
            "active-backup",
            "balance-xor",
            "broadcast",
            "802.3ad",
            "balance-tlb",
            "balance-alb",
            "balance-slb",
            "lacp-balance-slb",
            "lacp-balance-tcp",
        ])
        .optional(),
    text("bond_xmit_hash_policy")
        .one_of(&["layer2", "layer2+3", "layer3+4"])
        .optional(),
    text("bridge_ports").optional(),
    text("bridge_vids").optional(),
    flag("bridge_vlan_aware").optional(),
    text("cidr").optional(),
    text("cidr6").optional(),
    text("comments").optional(),
    text("comments6").optional(),
    text("gateway").is(network::ipv4).optional(),
    text("gateway6").is(network::ipv6).optional(),
    int("mtu").min(1280).max(65520).optional(),
    text("netmask").requires("address").optional(),
    int("netmask6")
        .min(0)
        .max(128)
        .requires("address6")
        .optional(),
    text("ovs_bonds").optional(),
    text("ovs_bridge").optional(),
    text("ovs_options").longest(1024).optional(),
    text("ovs_ports").optional(),
    int("ovs_tag").min(1).max(4094).optional(),
    text("slaves").optional(),
    int("vlan-id").min(1).max(4094).optional(),
    text("vlan-raw-device").optional(),
];

/// `POST network`.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    let name = call.text("iface").unwrap_or_default().to_owned();
    let Some(node) = world.nodes.get_mut(call.node()) else {
        return done();
    };
    let there = interfaces(node);
    if there.iter().any(|(known, _)| *known == name) {
        return Err(ApiError::param("iface", "interface already exists"));
    }
    if call.params.has("gateway")
        && let Some((other, _)) = there
            .iter()
            .find(|(_, entry)| entry.get("gateway").is_some())
    {
        let text = format!("Default gateway already exists on interface '{other}'.");
        return Err(ApiError::param("gateway", text));
    }
    node.planned_interfaces.insert(name, entry(call));
    done()
}

fn entry(call: &Call) -> Value {
    let mut entry = json!({ "families": ["inet"], "method": "manual", "method6": "manual" });
    for param in SETTINGS.iter().map(|param| param.name) {
        if let Some(text) = call.text(param) {
            entry[param] = text
                .parse::<u64>()
                .map_or_else(|_| json!(text), |number| json!(number));
        }
    }
    if let Some((address, bits)) = call.text("cidr").and_then(|cidr| cidr.split_once('/')) {
        entry["address"] = json!(address);
        entry["netmask"] = json!(bits);
    }
    if entry.get("address").is_some() {
        entry["method"] = json!("static");
    }
    entry
}
