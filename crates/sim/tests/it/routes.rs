//! Every route against PVE's own API schema: the same parameters, types and rights.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sim::api::TABLES;
use sim::route::Route;
use sim::schema::{Kind, Param};

use crate::reference;

fn routes() -> impl Iterator<Item = &'static Route> {
    TABLES.iter().copied().flatten()
}

#[test]
fn no_route_is_listed_twice() {
    let mut seen = BTreeSet::new();
    for route in routes() {
        assert!(
            seen.insert((route.method, route.path)),
            "{} {}",
            route.method,
            route.path
        );
    }
}

#[test]
fn every_capture_is_a_parameter() {
    for route in routes() {
        for capture in route
            .path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        {
            let listed = route.all_params().any(|param| param.name == capture);
            assert!(listed, "{capture} of {} {}", route.method, route.path);
        }
    }
}

#[test]
fn routes_agree_with_the_schema_of_pve() {
    let Some(text) = reference::read("pve-api/apidoc-9.1.json") else {
        return;
    };
    let schema: Vec<Value> = serde_json::from_str(&text).expect("a schema");
    let known: BTreeMap<(&str, &str), &Value> = schema
        .iter()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().unwrap_or_default();
            ((text("method"), text("path")), entry)
        })
        .collect();
    let mut wrong = Vec::new();
    for route in routes().filter(|route| route.path != "/") {
        let at = format!("{} {}", route.method, route.path);
        match known.get(&(route.method, route.path)) {
            None => wrong.push(format!("{at}: PVE has no such method")),
            Some(entry) => wrong.extend(
                differences(route, entry)
                    .into_iter()
                    .map(|how| format!("{at}: {how}")),
            ),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn differences(route: &Route, entry: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let none = serde_json::Map::new();
    let real = entry["parameters"]["properties"]
        .as_object()
        .unwrap_or(&none);
    let name_of = |param: &Param| match param.count {
        0 => param.name.to_owned(),
        _ => format!("{}[n]", param.name),
    };
    let ours: BTreeMap<String, &Param> = route
        .all_params()
        .map(|param| (name_of(param), param))
        .collect();
    found.extend(
        real.keys()
            .filter(|name| !ours.contains_key(*name))
            .map(|name| format!("{name} is missing")),
    );
    for (name, param) in ours {
        match real.get(&name) {
            None => found.push(format!("{name} is too much")),
            Some(real) => found.extend(
                wrong_param(param, real)
                    .into_iter()
                    .map(|how| format!("{name}: {how}")),
            ),
        }
    }
    let proxied = entry["proxyto"] == "node";
    if proxied != route.proxied {
        found.push(format!("proxied should be {proxied}"));
    }
    let mut perm = sim::apidoc::check(&route.perm);
    forget_groups_param(&mut perm);
    if !same_permission(&perm, &entry["permissions"]) {
        found.push(format!("{perm} should be {}", entry["permissions"]));
    }
    let token = entry["allowtoken"] != 0;
    if token != route.token {
        found.push(format!("token should be {token}"));
    }
    found
}

/// Handlers that check for themselves have only a description in the schema; the `groups_param` of a check is theirs too.
fn same_permission(ours: &Value, real: &Value) -> bool {
    let mut check = real["check"].clone();
    forget_groups_param(&mut check);
    match (real.is_null(), &real["user"], check.is_null()) {
        (true, ..) => ours.is_null(),
        (false, Value::String(user), _) => ours == user.as_str(),
        (false, _, true) => ours == "all",
        (false, _, false) => *ours == check,
    }
}

fn forget_groups_param(check: &mut Value) {
    if let Value::Array(parts) = check {
        if let Some(at) = parts.iter().position(|part| part == "groups_param") {
            parts.truncate(at);
        }
        parts.iter_mut().for_each(forget_groups_param);
    }
}

fn wrong_param(param: &Param, real: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let kind = real["type"].as_str().unwrap_or("string");
    let same_kind = param.kind.name() == kind;
    if !same_kind {
        found.push(format!("type {kind}"));
    }
    let optional = real["optional"] == 1 || real["optional"] == "1";
    if optional != param.optional {
        found.push(format!("optional should be {optional}"));
    }
    let limit = |key: &str| {
        real[key]
            .as_i64()
            .or_else(|| real[key].as_str()?.parse().ok())
    };
    if matches!(param.kind, Kind::Integer | Kind::Number)
        && (limit("minimum"), limit("maximum")) != param.range
    {
        found.push(format!("range {} to {}", real["minimum"], real["maximum"]));
    }
    let length = limit("maxLength").and_then(|length| usize::try_from(length).ok());
    if length != param.length.1 {
        found.push(format!("maxLength {}", real["maxLength"]));
    }
    let one_of: Vec<&str> = real["enum"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if one_of != param.one_of {
        found.push(format!("enum {}", real["enum"]));
    }
    // A form that has no name of its own in the simulator is left out of what it serves.
    let served = sim::apidoc::parameter(param);
    if let (Some(ours), Some(theirs)) = (served["format"].as_str(), real["format"].as_str())
        && ours != theirs
    {
        found.push(format!("format {theirs}, not {ours}"));
    }
    if real["requires"].as_str() != param.requires {
        found.push(format!("requires {}", real["requires"]));
    }
    found
}
