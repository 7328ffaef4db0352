//! `/cluster/ha/rules`: where HA may run guests, and which belong together or apart.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{AUDIT, CONSOLE, lock};
use crate::api::section;
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply, done};
use crate::route::{Route, delete, get, post, put};
use crate::schema::common::DIGEST;
use crate::schema::{Param, flag, format, text};
use crate::world::{Section, World};

const RULE: Param = text("rule").is(format::config_id);
const TYPE: Param = text("type").one_of(&["node-affinity", "resource-affinity"]);
const RESOURCES: Param = text("resources").list_of(format::ha_resource);

/// What a rule may have besides its resources.
const OPTIONS: &[Param] = &[
    text("affinity")
        .one_of(&["positive", "negative"])
        .optional(),
    text("comment").longest(4096).optional(),
    flag("disable").optional(),
    text("nodes").list_of(format::ha_node).optional(),
    flag("strict").optional(),
];

/// The routes of HA rules.
pub const ROUTES: &[Route] = &[
    get("/cluster/ha/rules", list)
        .allow(AUDIT)
        .params(&[text("resource").optional(), TYPE.optional()]),
    post("/cluster/ha/rules", create)
        .allow(CONSOLE)
        .params(&[RULE, TYPE, RESOURCES])
        .and(OPTIONS),
    get("/cluster/ha/rules/{rule}", read)
        .allow(AUDIT)
        .params(&[RULE]),
    put("/cluster/ha/rules/{rule}", update)
        .allow(CONSOLE)
        .params(&[
            RULE,
            TYPE,
            RESOURCES.optional(),
            DIGEST,
            text("delete")
                .list_of(format::config_id)
                .longest(4096)
                .optional(),
        ])
        .and(OPTIONS),
    delete("/cluster/ha/rules/{rule}", remove)
        .allow(CONSOLE)
        .params(&[RULE]),
];

fn list(world: &mut World, call: &Call) -> Reply {
    let wanted = |rule: &Section| {
        call.text("type").is_none_or(|kind| kind == rule.kind)
            && call
                .text("resource")
                .is_none_or(|sid| resources(rule).contains(sid))
    };
    let found = world.ha_rules.iter().filter(|(_, rule)| wanted(rule));
    let entries = found.map(|(id, rule)| to_json(world, id, rule));
    Ok(entries.collect::<Value>().into())
}

fn resources(rule: &Section) -> BTreeSet<&str> {
    rule.props
        .get("resources")
        .map(|list| split_list(list).collect())
        .unwrap_or_default()
}

fn to_json(world: &World, id: &str, rule: &Section) -> Value {
    let mut entry = section::to_json(rule, &["disable", "strict"]);
    if rule.kind == "node-affinity" {
        entry.entry("strict").or_insert(json!(0));
    }
    let order = world.ha_rules.keys().position(|known| known == id);
    entry.insert("rule".to_owned(), json!(id));
    entry.insert("order".to_owned(), json!(order.map(|at| at + 1)));
    entry.insert("digest".to_owned(), json!(section::digest(&world.ha_rules)));
    if let Some((name, text)) = infeasible(world, id, rule) {
        entry.insert("errors".to_owned(), json!({ name: [text] }));
    }
    entry.into()
}

fn read(world: &mut World, call: &Call) -> Reply {
    let id = call.text("rule").unwrap_or_default();
    match world.ha_rules.get(id) {
        Some(rule) => Ok(to_json(world, id, rule).into()),
        None => Err(ApiError::fail(format!("no such ha rule '{id}'"))),
    }
}

fn create(world: &mut World, call: &Call) -> Reply {
    world.require_quorum()?;
    let id = call.text("rule").unwrap_or_default();
    let kind = call.text("type").unwrap_or_default();
    let mut props = section::sent(call, &["rule", "type"]);
    props.retain(|key, value| key != "disable" || value == "1");
    let rule = Section {
        kind: kind.to_owned(),
        props,
    };
    let needed = needed_by(kind);
    if !rule.props.contains_key(needed) {
        return Err(ApiError::fail(format!(
            "missing value for required option '{needed}'"
        )));
    }
    let action = "create ha rule failed";
    lock(world, action)?;
    if world.ha_rules.contains_key(id) {
        return Err(ApiError::fail(format!(
            "{action}: HA rule '{id}' already defined"
        )));
    }
    check(world, id, &rule, action)?;
    world.ha_rules.insert(id.to_owned(), rule);
    done()
}

fn needed_by(kind: &str) -> &'static str {
    if kind == "node-affinity" {
        "nodes"
    } else {
        "affinity"
    }
}

fn update(world: &mut World, call: &Call) -> Reply {
    let id = call.text("rule").unwrap_or_default();
    let action = "update HA rules failed";
    lock(world, action)?;
    let fail = |error: &str| ApiError::fail(format!("{action}: {error}"));
    section::check_digest(&world.ha_rules, call).map_err(|error| fail(&error.message))?;
    let Some(rule) = world.ha_rules.get(id) else {
        return Err(fail(&format!("HA rule '{id}' does not exist")));
    };
    let mut changed = rule.clone();
    let sent = section::sent(call, &["rule", "type", "digest", "delete"]);
    changed.props.extend(sent);
    let optional = ["comment", "disable", "strict"];
    section::delete_sent(&mut changed, call, &optional).map_err(|error| fail(&error))?;
    changed
        .props
        .retain(|key, value| key != "disable" || value == "1");
    check(world, id, &changed, action)?;
    world.ha_rules.insert(id.to_owned(), changed);
    done()
}

fn remove(world: &mut World, call: &Call) -> Reply {
    lock(world, "delete ha rule failed")?;
    world.ha_rules.remove(call.text("rule").unwrap_or_default());
    done()
}

/// What a rule names must exist, and it must not contradict the others.
fn check(world: &World, id: &str, rule: &Section, action: &str) -> Result<(), ApiError> {
    let fail = |error: String| Err(ApiError::fail(format!("{action}: {error}")));
    let unmanaged: Vec<&str> = resources(rule)
        .into_iter()
        .filter(|sid| !world.ha_resources.contains_key(*sid))
        .collect();
    if !unmanaged.is_empty() {
        let names = unmanaged.join(", ");
        return fail(format!("cannot use unmanaged resource(s) {names}."));
    }
    let nodes = rule.props.get("nodes").map_or("", String::as_str);
    let names = split_list(nodes).map(|node| node.split(':').next().unwrap_or_default());
    let unknown: Vec<&str> = names
        .filter(|name| !world.nodes.contains_key(*name))
        .collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        return fail(format!("cannot use non-existent node(s) {names}."));
    }
    match infeasible(world, id, rule) {
        Some(_) => fail(format!("Rule '{id}' is invalid.")),
        None => Ok(()),
    }
}

/// Why a rule cannot be followed: the property to blame and the reason.
fn infeasible(world: &World, id: &str, rule: &Section) -> Option<(&'static str, String)> {
    let mine = resources(rule);
    let others = world
        .ha_rules
        .iter()
        .filter(|(other, known)| *other != id && known.kind == rule.kind);
    if rule.kind == "node-affinity" {
        let taken: BTreeSet<&str> = others.flat_map(|(_, known)| resources(known)).collect();
        let sid = mine.iter().find(|sid| taken.contains(**sid))?;
        let text = format!("resource '{sid}' is already used in another node affinity rule");
        return Some(("resources", text));
    }
    let apart = rule
        .props
        .get("affinity")
        .is_some_and(|kind| kind == "negative");
    let text = if mine.len() < 2 {
        "rule is ineffective as there are less than two resources"
    } else if apart && mine.len() > world.nodes.len() {
        "rule defines more resources than available nodes"
    } else {
        return None;
    };
    Some(("resources", text.to_owned()))
}
