//! Rules: an ordered list, new ones come first.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{check_digest, scope, verify};
use crate::api::section;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::world::firewall::{Firewall, Scope, ip_version};
use crate::world::{World, digest_of};

type Rule = BTreeMap<String, String>;

/// What a call may send that is no property of a rule.
const NOT_OF_RULE: &[&str] = &["node", "vmid", "group", "pos", "digest", "moveto", "delete"];

fn digest(firewall: &Firewall) -> String {
    digest_of(&format!("{:?}", firewall.rules))
}

fn to_json(firewall: &Firewall, pos: usize, rule: &Rule) -> Value {
    let mut entry: Map<String, Value> = rule
        .iter()
        .map(|(key, text)| (key.clone(), json!(text)))
        .collect();
    let enable = rule.get("enable").and_then(|text| text.parse().ok());
    entry.insert("enable".to_owned(), json!(enable.unwrap_or(0_u8)));
    entry.insert("pos".to_owned(), json!(pos));
    entry.insert("digest".to_owned(), json!(digest(firewall)));
    let mut addresses = ["source", "dest"].iter().filter_map(|key| rule.get(*key));
    if let Some(version) = addresses.find_map(|text| ip_version(text)) {
        entry.insert("ipversion".to_owned(), json!(version));
    }
    entry.into()
}

fn position(call: &Call) -> usize {
    call.int("pos")
        .and_then(|pos| usize::try_from(pos).ok())
        .unwrap_or_default()
}

fn no_rule(call: &Call) -> ApiError {
    ApiError::fail(format!("no rule at position {}", position(call)))
}

/// A security group must exist; every other place has a list of rules, be it empty.
pub(super) fn load(world: &World, call: &Call) -> Result<(Scope, Firewall), ApiError> {
    let scope = scope(call);
    match &scope {
        Scope::Group(name) if !world.firewalls.contains_key(&scope) => {
            Err(ApiError::fail(format!("no such security group '{name}'")))
        }
        _ => {
            let firewall = world.firewall(&scope);
            Ok((scope, firewall))
        }
    }
}

pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    let (_, firewall) = load(world, call)?;
    let rules = firewall.rules.iter().enumerate();
    let entries = rules.map(|(pos, rule)| to_json(&firewall, pos, rule));
    Ok(entries.collect::<Value>().into())
}

pub(super) fn read(world: &mut World, call: &Call) -> Reply {
    let (_, firewall) = load(world, call)?;
    let pos = position(call);
    let rule = firewall.rules.get(pos).ok_or_else(|| no_rule(call))?;
    Ok(to_json(&firewall, pos, rule).into())
}

pub(super) fn create(world: &mut World, call: &Call) -> Reply {
    let (scope, _) = load(world, call)?;
    let mut rule = section::sent(call, NOT_OF_RULE);
    rule.entry("enable".to_owned()).or_insert("0".to_owned());
    world.firewall_mut(&scope)?;
    verify::check(world, &scope, &mut rule)?;
    world.firewall_mut(&scope)?.rules.insert(0, rule);
    done()
}

/// Changes a rule, or moves it: with `moveto` everything else is ignored.
pub(super) fn update(world: &mut World, call: &Call) -> Reply {
    let (scope, mut firewall) = load(world, call)?;
    world.firewall_mut(&scope)?;
    check_digest(call, &digest(&firewall))?;
    let pos = position(call);
    let mut rule = firewall
        .rules
        .get(pos)
        .cloned()
        .ok_or_else(|| no_rule(call))?;
    let target = call.int("moveto").and_then(|to| usize::try_from(to).ok());
    if let Some(to) = target.filter(|to| *to != pos) {
        firewall.rules.remove(pos);
        // The target counts the rule itself, which is gone from the list by now.
        let to = if to > pos { to - 1 } else { to };
        firewall.rules.insert(to.min(firewall.rules.len()), rule);
    } else {
        rule.extend(section::sent(call, NOT_OF_RULE));
        for key in call.params.list("delete") {
            rule.remove(key);
        }
        rule.retain(|_, text| !text.is_empty());
        verify::check(world, &scope, &mut rule)?;
        firewall.rules[pos] = rule;
    }
    world.firewall_mut(&scope)?.rules = firewall.rules;
    done()
}

pub(super) fn remove(world: &mut World, call: &Call) -> Reply {
    let (scope, firewall) = load(world, call)?;
    let rules = &mut world.firewall_mut(&scope)?.rules;
    check_digest(call, &digest(&firewall))?;
    let pos = position(call);
    if pos >= rules.len() {
        return Err(no_rule(call));
    }
    rules.remove(pos);
    done()
}
