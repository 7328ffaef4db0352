//! Security groups: named lists of rules.

use serde_json::{Value, json};

use super::check_digest;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::world::firewall::{Firewall, Scope};
use crate::world::{World, digest_of};

fn all(world: &World) -> impl Iterator<Item = (&str, &Firewall)> {
    world
        .firewalls
        .iter()
        .filter_map(|(scope, firewall)| match scope {
            Scope::Group(name) => Some((name.as_str(), firewall)),
            _ => None,
        })
}

fn digest(world: &World) -> String {
    let names: Vec<_> = all(world)
        .map(|(name, group)| (name, &group.comment))
        .collect();
    digest_of(&format!("{names:?}"))
}

pub(super) fn list(world: &mut World, _: &Call) -> Reply {
    let entries = all(world).map(|(name, group)| {
        let mut entry = json!({ "group": name, "digest": digest(world) });
        if let Some(comment) = &group.comment {
            entry["comment"] = json!(comment);
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

/// Makes a group; with `rename` an existing one gets this name.
pub(super) fn create(world: &mut World, call: &Call) -> Reply {
    let name = call.text("group").unwrap_or_default();
    let target = Scope::Group(name.to_owned());
    let taken = world.firewalls.contains_key(&target);
    let wrong = |text: String| Err(ApiError::param("group", text));
    world.firewall_mut(&Scope::Cluster)?;
    let mut group = match call.text("rename") {
        None if taken => return wrong(format!("Security group '{name}' already exists")),
        None => Firewall::default(),
        Some(old) => {
            check_digest(call, &digest(world))?;
            let source = Scope::Group(old.to_owned());
            if !world.firewalls.contains_key(&source) {
                return wrong(format!("Security group '{old}' does not exist"));
            }
            if taken && old != name {
                return wrong(format!("Security group '{name}' does already exist"));
            }
            world.firewalls.remove(&source).unwrap_or_default()
        }
    };
    if let Some(comment) = call.text("comment") {
        group.comment = Some(comment.to_owned());
    }
    world.firewalls.insert(target, group);
    done()
}

pub(super) fn remove(world: &mut World, call: &Call) -> Reply {
    let (scope, group) = super::rules::load(world, call)?;
    world.firewall_mut(&Scope::Cluster)?;
    if !group.rules.is_empty() {
        let name = call.text("group").unwrap_or_default();
        return Err(ApiError::fail(format!(
            "Security group '{name}' is not empty"
        )));
    }
    world.firewalls.remove(&scope);
    done()
}
