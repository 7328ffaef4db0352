//! Names for addresses: aliases (one address) and sets (several).

use serde_json::{Value, json};

use super::{check_digest, scope};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::world::firewall::{Address, Firewall, IpSet, ip_version};
use crate::world::{World, digest_of};

fn name(call: &Call) -> &str {
    call.text("name").unwrap_or_default()
}

fn sent(call: &Call) -> Address {
    Address {
        cidr: call.text("cidr").unwrap_or_default().to_owned(),
        comment: call.text("comment").map(str::to_owned),
        nomatch: call.flag("nomatch"),
    }
}

/// Writes an address with what belongs to it.
fn to_json(address: &Address) -> Value {
    let mut entry = json!({ "cidr": address.cidr });
    if let Some(comment) = &address.comment {
        entry["comment"] = json!(comment);
    }
    if address.nomatch {
        entry["nomatch"] = json!(1);
    }
    entry
}

/// What rules may refer to in one configuration.
pub(super) fn refs(firewall: &Firewall, place: &str, call: &Call) -> Vec<Value> {
    let wanted = |kind: &str| call.text("type").is_none_or(|wanted| wanted == kind);
    let entry = |kind: &str, name: &str, mark: &str, comment: &Option<String>| {
        let mut entry = json!({
            "type": kind, "name": name, "scope": place, "ref": format!("{mark}{place}/{name}"),
        });
        if let Some(comment) = comment {
            entry["comment"] = json!(comment);
        }
        entry
    };
    let aliases = firewall.aliases.iter().filter(|_| wanted("alias"));
    let sets = firewall.ipsets.iter().filter(|_| wanted("ipset"));
    aliases
        .map(|(name, alias)| entry("alias", name, "", &alias.comment))
        .chain(sets.map(|(name, set)| entry("ipset", name, "+", &set.comment)))
        .collect()
}

// Aliases

fn alias_digest(firewall: &Firewall) -> String {
    digest_of(&format!("{:?}", firewall.aliases))
}

fn alias_json(name: &str, alias: &Address) -> Value {
    let mut entry = to_json(alias);
    entry["name"] = json!(name);
    if let Some(version) = ip_version(&alias.cidr) {
        entry["ipversion"] = json!(version);
    }
    entry
}

fn no_alias() -> ApiError {
    ApiError::param("name", "no such alias")
}

pub(super) fn aliases(world: &mut World, call: &Call) -> Reply {
    let firewall = world.firewall(&scope(call));
    let entries = firewall.aliases.iter().map(|(name, alias)| {
        let mut entry = alias_json(name, alias);
        entry["digest"] = json!(alias_digest(&firewall));
        entry
    });
    Ok(entries.collect::<Value>().into())
}

pub(super) fn alias(world: &mut World, call: &Call) -> Reply {
    let name = name(call).to_ascii_lowercase();
    let firewall = world.firewall(&scope(call));
    let alias = firewall.aliases.get(&name).ok_or_else(no_alias)?;
    Ok(alias_json(&name, alias).into())
}

pub(super) fn create_alias(world: &mut World, call: &Call) -> Reply {
    let aliases = &mut world.firewall_mut(&scope(call))?.aliases;
    let key = name(call).to_ascii_lowercase();
    if aliases.contains_key(&key) {
        let text = format!("alias '{}' already exists", name(call));
        return Err(ApiError::param("name", text));
    }
    aliases.insert(key, sent(call));
    done()
}

pub(super) fn update_alias(world: &mut World, call: &Call) -> Reply {
    let current = alias_digest(&world.firewall(&scope(call)));
    let aliases = &mut world.firewall_mut(&scope(call))?.aliases;
    check_digest(call, &current)?;
    let key = name(call).to_ascii_lowercase();
    if !aliases.contains_key(&key) {
        return Err(no_alias());
    }
    let rename = call.text("rename").map(str::to_ascii_lowercase);
    let target = rename.unwrap_or_else(|| key.clone());
    if target != key && aliases.contains_key(&target) {
        let text = format!("alias '{target}' already exists");
        return Err(ApiError::param("name", text));
    }
    aliases.remove(&key);
    aliases.insert(target, sent(call));
    done()
}

pub(super) fn remove_alias(world: &mut World, call: &Call) -> Reply {
    let current = alias_digest(&world.firewall(&scope(call)));
    let aliases = &mut world.firewall_mut(&scope(call))?.aliases;
    check_digest(call, &current)?;
    aliases.remove(&name(call).to_ascii_lowercase());
    done()
}

// Sets

fn set_digest(firewall: &Firewall) -> String {
    digest_of(&format!("{:?}", firewall.ipsets))
}

fn no_set(call: &Call) -> ApiError {
    ApiError::fail(format!("no such IPSet '{}'", name(call)))
}

fn set_mut<'a>(world: &'a mut World, call: &Call) -> Result<&'a mut IpSet, ApiError> {
    let sets = &mut world.firewall_mut(&scope(call))?.ipsets;
    sets.get_mut(name(call)).ok_or_else(|| no_set(call))
}

pub(super) fn sets(world: &mut World, call: &Call) -> Reply {
    let firewall = world.firewall(&scope(call));
    let entries = firewall.ipsets.iter().map(|(name, set)| {
        let mut entry = json!({ "name": name, "digest": set_digest(&firewall) });
        if let Some(comment) = &set.comment {
            entry["comment"] = json!(comment);
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

/// Makes a set; with `rename` an existing one gets this name.
pub(super) fn create_set(world: &mut World, call: &Call) -> Reply {
    let current = set_digest(&world.firewall(&scope(call)));
    let sets = &mut world.firewall_mut(&scope(call))?.ipsets;
    let name = name(call);
    let comment = call.text("comment").map(str::to_owned);
    let wrong = |text: String| Err(ApiError::param("name", text));
    let Some(old) = call.text("rename") else {
        if sets.contains_key(name) {
            return wrong(format!("IPSet '{name}' already exists"));
        }
        let members = Vec::new();
        sets.insert(name.to_owned(), IpSet { members, comment });
        return done();
    };
    check_digest(call, &current)?;
    if name != old && sets.contains_key(name) {
        return wrong(format!("IPSet '{name}' does already exist"));
    }
    let Some(mut set) = sets.remove(old) else {
        return wrong(format!("IPSet '{old}' does not exist"));
    };
    set.comment = comment.or(set.comment);
    sets.insert(name.to_owned(), set);
    done()
}

pub(super) fn remove_set(world: &mut World, call: &Call) -> Reply {
    let set = set_mut(world, call)?;
    if !set.members.is_empty() && !call.flag("force") {
        let text = format!("IPSet '{}' is not empty", name(call));
        return Err(ApiError::fail(text));
    }
    world.firewall_mut(&scope(call))?.ipsets.remove(name(call));
    done()
}

pub(super) fn members(world: &mut World, call: &Call) -> Reply {
    let firewall = world.firewall(&scope(call));
    let set = firewall
        .ipsets
        .get(name(call))
        .ok_or_else(|| no_set(call))?;
    let entries = set.members.iter().map(|member| {
        let mut entry = to_json(member);
        entry["digest"] = json!(digest_of(&format!("{set:?}")));
        entry
    });
    Ok(entries.collect::<Value>().into())
}

fn no_member() -> ApiError {
    ApiError::param("cidr", "no such IP/Network")
}

pub(super) fn member(world: &mut World, call: &Call) -> Reply {
    let firewall = world.firewall(&scope(call));
    let set = firewall
        .ipsets
        .get(name(call))
        .ok_or_else(|| no_set(call))?;
    let mut members = set.members.iter();
    let found = members.find(|member| call.text("cidr") == Some(&member.cidr));
    Ok(to_json(found.ok_or_else(no_member)?).into())
}

pub(super) fn add_member(world: &mut World, call: &Call) -> Reply {
    let set = set_mut(world, call)?;
    let new = sent(call);
    if set.members.iter().any(|member| member.cidr == new.cidr) {
        let text = format!("address '{}' already exists", new.cidr);
        return Err(ApiError::param("cidr", text));
    }
    if new.cidr.ends_with("/0") {
        let text = "a zero prefix is not allowed in ipset entries";
        return Err(ApiError::param("cidr", text));
    }
    set.members.insert(0, new);
    done()
}

pub(super) fn update_member(world: &mut World, call: &Call) -> Reply {
    let set = set_mut(world, call)?;
    let current = digest_of(&format!("{set:?}"));
    check_digest(call, &current)?;
    let new = sent(call);
    let known = set.members.iter_mut().find(|known| known.cidr == new.cidr);
    *known.ok_or_else(no_member)? = new;
    done()
}

pub(super) fn remove_member(world: &mut World, call: &Call) -> Reply {
    let set = set_mut(world, call)?;
    let current = digest_of(&format!("{set:?}"));
    check_digest(call, &current)?;
    set.members
        .retain(|member| call.text("cidr") != Some(&member.cidr));
    done()
}
