//! `/cluster/sdn`: virtual networks. Those the worlds have are shown; changing them is not modelled.

use serde_json::{Value, json};

use crate::api::{index, section};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::{Perm, require_any};
use crate::route::{Route, get};
use crate::schema::{Param, flag, text};
use crate::world::{Section, Sections, World, digest_of};

const PENDING: Param = flag("pending").optional();
const RUNNING: Param = flag("running").optional();

/// The routes of virtual networks.
pub const ROUTES: &[Route] = &[
    get("/cluster/sdn", root).allow(Perm::On("/sdn", &["SDN.Audit"])),
    get("/cluster/sdn/zones", zones).allow(Perm::User).params(&[
        PENDING,
        RUNNING,
        text("type")
            .one_of(&["evpn", "faucet", "qinq", "simple", "vlan", "vxlan"])
            .optional(),
    ]),
    get("/cluster/sdn/zones/{zone}", zone)
        .allow(Perm::On("/sdn/zones/{zone}", &["SDN.Allocate"]))
        .params(&[text("zone"), PENDING, RUNNING]),
    get("/cluster/sdn/vnets", vnets)
        .allow(Perm::User)
        .params(&[PENDING, RUNNING]),
    get("/cluster/sdn/vnets/{vnet}", vnet)
        .allow(Perm::User)
        .params(&[text("vnet"), PENDING, RUNNING]),
    get("/cluster/sdn/vnets/{vnet}/subnets", subnets)
        .allow(Perm::User)
        .params(&[text("vnet"), PENDING, RUNNING]),
    get("/cluster/sdn/controllers", nothing)
        .allow(Perm::User)
        .params(&[
            PENDING,
            RUNNING,
            text("type")
                .one_of(&["bgp", "evpn", "faucet", "isis"])
                .optional(),
        ]),
    get("/cluster/sdn/dns", nothing)
        .allow(Perm::User)
        .params(&[text("type").one_of(&["powerdns"]).optional()]),
    get("/cluster/sdn/ipams", ipams)
        .allow(Perm::User)
        .params(&[text("type")
            .one_of(&["netbox", "phpipam", "pve"])
            .optional()]),
];

const PRIVS: &[&str] = &["SDN.Audit", "SDN.Use", "SDN.Allocate"];

fn root(_: &mut World, _: &Call) -> Reply {
    let names = ["vnets", "zones", "controllers", "ipams", "dns", "fabrics"];
    index("id", &names)
}

/// What was deleted but still runs is not configured any more.
fn is_shown(call: &Call, section: &Section) -> bool {
    let deleted = section
        .props
        .get("state")
        .is_some_and(|state| state == "deleted");
    call.flag("running") || call.flag("pending") || !deleted
}

fn to_json(sections: &Sections, key: &str, id: &str, call: &Call) -> Option<Value> {
    let section = sections.get(id).filter(|section| is_shown(call, section))?;
    let mut entry = section::to_json(section, &["vlanaware", "isolate-ports", "mtu", "tag"]);
    entry.insert(key.to_owned(), json!(id));
    entry.insert("digest".to_owned(), json!(section::digest(sections)));
    if !call.flag("pending") {
        entry.remove("state");
    }
    Some(entry.into())
}

fn zones(world: &mut World, call: &Call) -> Reply {
    let zones = world.sdn_zones.iter();
    let wanted = zones.filter(|(_, zone)| call.text("type").is_none_or(|kind| kind == zone.kind));
    let visible = wanted.filter(|(id, _)| {
        require_any(world, &call.who, &format!("/sdn/zones/{id}"), PRIVS).is_ok()
    });
    let entries = visible.filter_map(|(id, _)| to_json(&world.sdn_zones, "zone", id, call));
    Ok(entries.collect::<Value>().into())
}

fn missing(id: &str) -> ApiError {
    ApiError::fail(format!("sdn '{id}' does not exist"))
}

fn zone(world: &mut World, call: &Call) -> Reply {
    let id = call.text("zone").unwrap_or_default();
    let entry = to_json(&world.sdn_zones, "zone", id, call);
    Ok(entry.ok_or_else(|| missing(id))?.into())
}

fn path_of(id: &str, vnet: &Section) -> String {
    let zone = vnet.props.get("zone").map_or("", String::as_str);
    format!("/sdn/zones/{zone}/{id}")
}

fn vnets(world: &mut World, call: &Call) -> Reply {
    let visible = world
        .sdn_vnets
        .iter()
        .filter(|(id, vnet)| require_any(world, &call.who, &path_of(id, vnet), PRIVS).is_ok());
    let entries = visible.filter_map(|(id, _)| to_json(&world.sdn_vnets, "vnet", id, call));
    Ok(entries.collect::<Value>().into())
}

fn vnet(world: &mut World, call: &Call) -> Reply {
    let id = call.text("vnet").unwrap_or_default();
    let entry = to_json(&world.sdn_vnets, "vnet", id, call).ok_or_else(|| missing(id))?;
    if let Some(vnet) = world.sdn_vnets.get(id) {
        require_any(
            world,
            &call.who,
            &path_of(id, vnet),
            &["SDN.Audit", "SDN.Allocate"],
        )?;
    }
    Ok(entry.into())
}

/// No network here has subnets.
fn subnets(world: &mut World, call: &Call) -> Reply {
    vnet(world, call)?;
    nothing(world, call)
}

fn nothing(_: &mut World, _: &Call) -> Reply {
    Ok(json!([]).into())
}

/// The one that every cluster has.
fn ipams(world: &mut World, call: &Call) -> Reply {
    let wanted = call.text("type").is_none_or(|kind| kind == "pve");
    let visible = require_any(world, &call.who, "/sdn/ipams/pve", PRIVS).is_ok();
    if wanted && visible {
        let digest = digest_of("pve");
        return Ok(json!([{ "ipam": "pve", "type": "pve", "digest": digest }]).into());
    }
    nothing(world, call)
}
