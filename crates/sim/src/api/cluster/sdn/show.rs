//! Reads: the configuration, what runs, or the difference between them.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{missing, path_of};
use crate::api::{index, section};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::require_any;
use crate::world::sdn::Part;
use crate::world::{Section, Sections, World, digest_of};

const PRIVS: &[&str] = &["SDN.Audit", "SDN.Use", "SDN.Allocate"];
const NUMBERS: &[&str] = &["vlanaware", "isolate-ports", "mtu", "tag", "snat", "asn"];

pub(super) fn root(_: &mut World, _: &Call) -> Reply {
    let names = ["vnets", "zones", "controllers", "ipams", "dns", "fabrics"];
    index("id", &names)
}

/// The objects of a kind as the call wants to see them, by id, with their name under `key`.
pub(super) fn objects(world: &World, call: &Call, part: Part, key: &str) -> Vec<(String, Value)> {
    let configured = world.sdn_configured(part);
    let running = world.sdn_running(part);
    let digest = section::digest(&configured);
    let whole = |sections: &Sections| -> Vec<(String, Map<String, Value>)> {
        let objects = sections.iter();
        objects
            .map(|(id, object)| (id.clone(), section::to_json(object, NUMBERS)))
            .collect()
    };
    let shown = if call.flag("pending") {
        let ids: BTreeSet<&String> = running.keys().chain(configured.keys()).collect();
        ids.into_iter()
            .map(|id| (id.clone(), pending(running.get(id), configured.get(id))))
            .collect()
    } else if call.flag("running") {
        whole(running)
    } else {
        whole(&configured)
    };
    shown
        .into_iter()
        .map(|(id, mut object)| {
            object.insert(key.to_owned(), json!(id));
            object.insert("digest".to_owned(), json!(digest));
            (id, object.into())
        })
        .collect()
}

/// What runs, with what will be otherwise under `pending`.
fn pending(running: Option<&Section>, configured: Option<&Section>) -> Map<String, Value> {
    let fields = |section: Option<&Section>| {
        section.map_or_else(Map::new, |section| section::to_json(section, NUMBERS))
    };
    let (old, new) = (fields(running), fields(configured));
    let mut shown = old.clone();
    if configured.is_none() {
        shown.insert("state".to_owned(), json!("deleted"));
        shown.insert("pending".to_owned(), json!({}));
        return shown;
    }
    let gone = old.keys().filter(|key| !new.contains_key(*key));
    let gone = gone.map(|key| (key.clone(), json!("deleted")));
    let changed = new
        .iter()
        .filter(|(key, value)| old.get(*key) != Some(*value));
    let changed = changed.map(|(key, value)| (key.clone(), value.clone()));
    let mut ahead: Map<String, Value> = gone.chain(changed).collect();
    if let Some(kind) = ahead.remove("type") {
        shown.insert("type".to_owned(), kind);
    }
    let state = match running {
        None => Some("new"),
        Some(_) if !ahead.is_empty() => Some("changed"),
        Some(_) => None,
    };
    if let Some(state) = state {
        shown.insert("state".to_owned(), json!(state));
        shown.insert("pending".to_owned(), ahead.into());
    }
    shown
}

fn visible(world: &World, call: &Call, path: &str) -> bool {
    require_any(world, &call.who, path, PRIVS).is_ok()
}

/// Those of the wanted type that the caller may see, each with the path of its rights.
fn list(
    world: &World,
    call: &Call,
    (part, key): (Part, &str),
    path: impl Fn(&str, &Value) -> String,
) -> Reply {
    let wanted = |object: &Value| {
        let kind = call.text("type");
        kind.is_none_or(|kind| object["type"] == kind)
    };
    let objects = objects(world, call, part, key).into_iter();
    let shown = objects
        .filter(|(id, object)| wanted(object) && visible(world, call, &path(id, object)))
        .map(|(_, object)| object);
    Ok(shown.collect::<Value>().into())
}

pub(super) fn one(world: &World, call: &Call, part: Part, key: &str) -> Result<Value, ApiError> {
    let id = call.text(key).unwrap_or_default();
    let found = objects(world, call, part, key)
        .into_iter()
        .find(|(known, _)| known == id);
    found.map(|(_, object)| object).ok_or_else(|| missing(id))
}

pub(super) fn zones(world: &mut World, call: &Call) -> Reply {
    list(world, call, (Part::Zone, "zone"), |id, _| {
        format!("/sdn/zones/{id}")
    })
}

pub(super) fn zone(world: &mut World, call: &Call) -> Reply {
    Ok(one(world, call, Part::Zone, "zone")?.into())
}

pub(super) fn vnets(world: &mut World, call: &Call) -> Reply {
    list(world, call, (Part::Vnet, "vnet"), |id, vnet| {
        let zone = vnet.get("zone").or_else(|| vnet["pending"].get("zone"));
        let zone = zone.and_then(Value::as_str).unwrap_or_default();
        format!("/sdn/zones/{zone}/{id}")
    })
}

/// The configured network that a call names, if the caller has one of these rights on it.
///
/// # Errors
/// 500 if there is none, 403 without the right.
pub(super) fn need_vnet(
    world: &World,
    call: &Call,
    privs: &[&str],
) -> Result<(String, Section), ApiError> {
    let id = call.text("vnet").unwrap_or_default();
    let configured = world.sdn_configured(Part::Vnet);
    let vnet = configured.get(id).ok_or_else(|| missing(id))?;
    require_any(world, &call.who, &path_of(id, vnet), privs)?;
    Ok((id.to_owned(), vnet.clone()))
}

pub(super) fn vnet(world: &mut World, call: &Call) -> Reply {
    need_vnet(world, call, &["SDN.Audit", "SDN.Allocate"])?;
    Ok(one(world, call, Part::Vnet, "vnet")?.into())
}

pub(super) fn controllers(world: &mut World, call: &Call) -> Reply {
    let place = (Part::Controller, "controller");
    list(world, call, place, |id, _| format!("/sdn/controllers/{id}"))
}

pub(super) fn controller(world: &mut World, call: &Call) -> Reply {
    Ok(one(world, call, Part::Controller, "controller")?.into())
}

pub(super) fn nothing(_: &mut World, _: &Call) -> Reply {
    Ok(json!([]).into())
}

/// The one that every cluster has.
fn own_ipam() -> Value {
    json!({ "ipam": "pve", "type": "pve", "digest": digest_of("pve") })
}

pub(super) fn ipams(world: &mut World, call: &Call) -> Reply {
    let wanted = call.text("type").is_none_or(|kind| kind == "pve");
    if wanted && visible(world, call, "/sdn/ipams/pve") {
        return Ok(json!([own_ipam()]).into());
    }
    nothing(world, call)
}

pub(super) fn ipam(_: &mut World, call: &Call) -> Reply {
    match call.text("ipam").unwrap_or_default() {
        "pve" => Ok(own_ipam().into()),
        id => Err(missing(id)),
    }
}
