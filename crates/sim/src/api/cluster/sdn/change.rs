//! Changes of zones and networks, and applying them.

use serde_json::json;

use super::show::need_vnet;
use super::{check_options, missing, subnets_of};
use crate::api::section;
use crate::call::{Call, Identity};
use crate::error::{ApiError, Reply, done};
use crate::world::node::Node;
use crate::world::sdn::Part;
use crate::world::work::Work;
use crate::world::{Section, Sections, World};

/// What zones of every type may have.
const OF_ANY: &[&str] = &["nodes", "mtu", "dns", "reversedns", "dnszone", "ipam"];

/// What zones of a type may have besides, and what they need.
fn options(kind: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        "simple" => (&["dhcp"], &[]),
        "vlan" => (&["bridge-disable-mac-learning"], &["bridge"]),
        "qinq" => (
            &["bridge-disable-mac-learning", "vlan-protocol"],
            &["bridge", "tag"],
        ),
        "vxlan" => (&["peers", "vxlan-port", "fabric"], &[]),
        "evpn" => (
            &[
                "advertise-subnets",
                "disable-arp-nd-suppression",
                "exitnodes",
                "exitnodes-local-routing",
                "exitnodes-primary",
                "mac",
                "rt-import",
            ],
            &["controller", "vrf-vxlan"],
        ),
        _ => (&[], &["controller", "dp-id"]),
    }
}

pub(super) fn create_zone(world: &mut World, call: &Call) -> Reply {
    let id = call.text("zone").unwrap_or_default();
    let zone = Section {
        kind: call.text("type").unwrap_or_default().to_owned(),
        props: section::sent(call, &["zone", "type", "lock-token"]),
    };
    let (known, needed) = options(&zone.kind);
    check_options(&zone, &[OF_ANY, known].concat(), needed)?;
    world.require_quorum()?;
    check_zone(world, id, &zone).map_err(|error| error.during("create sdn zone object failed"))?;
    world.configure_sdn(Part::Zone, id, Some(zone));
    done()
}

fn check_zone(world: &World, id: &str, zone: &Section) -> Result<(), ApiError> {
    if world.sdn_configured(Part::Zone).contains_key(id) {
        let text = format!("sdn zone object ID '{id}' already defined");
        return Err(ApiError::fail(text));
    }
    for name in ["dns", "reversedns"] {
        if let Some(server) = zone.props.get(name) {
            return Err(ApiError::param(name, format!("{server} don't exist")));
        }
    }
    if zone.props.contains_key("dnszone") {
        return Err(ApiError::param("dnszone", "missing dns server"));
    }
    if let Some(ipam) = zone.props.get("ipam").filter(|ipam| *ipam != "pve") {
        return Err(ApiError::param("ipam", format!("{ipam} not existing")));
    }
    let peers = ["peers", "fabric"].map(|name| zone.props.contains_key(name));
    if zone.kind == "vxlan" && peers[0] == peers[1] {
        let text = "must have exactly one of peers / fabric defined";
        let both = ["peers", "fabric"].map(|name| (name.to_owned(), text.to_owned()));
        return Err(ApiError::params(both));
    }
    Ok(())
}

pub(super) fn delete_zone(world: &mut World, call: &Call) -> Reply {
    let id = call.text("zone").unwrap_or_default();
    let failed = |error: ApiError| error.during("delete sdn zone object failed");
    if !world.sdn_configured(Part::Zone).contains_key(id) {
        return Err(failed(missing(id)));
    }
    let vnets = world.sdn_configured(Part::Vnet);
    let mut inside = vnets
        .iter()
        .filter(|(_, vnet)| vnet.props.get("zone").is_some_and(|zone| zone == id));
    if let Some((vnet, _)) = inside.next() {
        let text = format!("zone {id} is used by vnet {vnet}");
        return Err(failed(ApiError::fail(text)));
    }
    world.configure_sdn(Part::Zone, id, None);
    done()
}

pub(super) fn create_vnet(world: &mut World, call: &Call) -> Reply {
    let id = call.text("vnet").unwrap_or_default();
    world.require_quorum()?;
    let vnet = Section {
        kind: "vnet".to_owned(),
        props: section::sent(call, &["vnet", "type", "lock-token"]),
    };
    let vnets = world.sdn_configured(Part::Vnet);
    let checked = if vnets.contains_key(id) {
        Err(ApiError::fail(format!(
            "sdn vnet object ID '{id}' already defined"
        )))
    } else {
        check_vnet(world, &vnets, id, &vnet)
    };
    checked.map_err(|error| error.during("create sdn vnet object failed"))?;
    world.configure_sdn(Part::Vnet, id, Some(vnet));
    done()
}

pub(super) fn update_vnet(world: &mut World, call: &Call) -> Reply {
    let (id, old) = need_vnet(world, call, &["SDN.Allocate"])?;
    let failed = |error: ApiError| error.during("update sdn vnet object failed");
    let vnets = world.sdn_configured(Part::Vnet);
    section::check_digest(&vnets, call).map_err(failed)?;
    let mut vnet = old.clone();
    let sent = section::sent(call, &["vnet", "type", "lock-token", "digest", "delete"]);
    vnet.props.extend(sent);
    let optional = ["alias", "isolate-ports", "tag", "vlanaware"];
    section::delete_sent(&mut vnet, call, &optional)
        .map_err(|text| failed(ApiError::fail(text)))?;
    let subnets = world.sdn_configured(Part::Subnet);
    let moves = old.props.get("zone") != vnet.props.get("zone");
    if moves && subnets_of(&subnets, &id).next().is_some() {
        let text = "can't change zone if subnets exist";
        return Err(failed(ApiError::param("zone", text)));
    }
    check_vnet(world, &vnets, &id, &vnet).map_err(failed)?;
    world.configure_sdn(Part::Vnet, &id, Some(vnet));
    done()
}

/// What the type of its zone says about a network's tag.
fn check_vnet(world: &World, vnets: &Sections, id: &str, vnet: &Section) -> Result<(), ApiError> {
    let wrong = |text: &str| Err(ApiError::param("tag", text));
    let zone = vnet.props.get("zone").map_or("", String::as_str);
    let zones = world.sdn_configured(Part::Zone);
    let Some(kind) = zones.get(zone).map(|zone| zone.kind.as_str()) else {
        return Err(ApiError::fail("unknown section type ''"));
    };
    let tag = vnet.props.get("tag");
    let number: Option<u32> = tag.and_then(|tag| tag.parse().ok());
    match (kind, number) {
        ("simple", Some(_)) => return wrong("vlan tag is not allowed on simple zone"),
        ("vlan", None) => return wrong("missing vlan tag"),
        ("vlan", Some(4097..)) => return wrong("vlan tag max value is 4096"),
        ("qinq", Some(4097..)) => return wrong("VLAN tag maximal value is 4096"),
        ("vxlan" | "evpn", None) => return wrong("missing vxlan tag"),
        _ => {}
    }
    let mut others = vnets
        .iter()
        .filter(|(other, _)| *other != id)
        .filter(|(_, other)| other.props.get("zone").is_some_and(|of| of == zone));
    match others.find(|(_, other)| tag.is_some() && other.props.get("tag") == tag) {
        Some((other, _)) => wrong(&format!(
            "tag {} already exist in vnet {other}",
            number.unwrap_or_default()
        )),
        None => Ok(()),
    }
}

pub(super) fn delete_vnet(world: &mut World, call: &Call) -> Reply {
    let (id, _) = need_vnet(world, call, &["SDN.Allocate"])?;
    let subnets = world.sdn_configured(Part::Subnet);
    if subnets_of(&subnets, &id).next().is_some() {
        let error = ApiError::param("vnet", "Can't delete vnet if subnets exists");
        return Err(error.during("delete sdn vnet object failed"));
    }
    world.configure_sdn(Part::Vnet, &id, None);
    done()
}

/// Applies the configuration, and has every node load its network anew.
pub(super) fn apply(world: &mut World, call: &Call) -> Reply {
    let quorum = world.require_quorum();
    quorum.map_err(|error| error.during("could not commit SDN config"))?;
    world.apply_sdn();
    let nodes: Vec<String> = world.nodes.keys().cloned().collect();
    let work = nodes
        .iter()
        .fold(Work::new("reloadnetworkall", ""), |work, node| {
            work.log(format!("{node}: reloading network config"))
                .wait(2)
        });
    let work = work.run(move |world, _| {
        for node in &nodes {
            let reload = Work::new("srvreload", "networking").wait(3);
            if world.nodes.get(node).is_some_and(Node::is_online) {
                world.start_task(&Identity::user("root@pam"), node, reload);
            }
        }
        Ok(())
    });
    Ok(json!(world.start_task(&call.who, &call.endpoint, work)).into())
}
