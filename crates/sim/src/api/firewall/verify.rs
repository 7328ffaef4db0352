//! What a rule must be to make sense, beyond the form of its properties.

use std::collections::BTreeMap;

use super::MACROS;
use crate::error::ApiError;
use crate::schema::firewall::is_name;
use crate::world::World;
use crate::world::firewall::Scope;

type Rule = BTreeMap<String, String>;

const WITH_PORTS: &[&str] = &[
    "tcp", "udp", "udplite", "sctp", "dccp", "6", "17", "33", "132", "136",
];
const ICMP: &[&str] = &["icmp", "icmpv6", "ipv6-icmp"];

/// Checks a rule and writes its macro the way PVE does.
///
/// # Errors
/// 400 naming the property that is wrong.
pub(super) fn check(world: &World, scope: &Scope, rule: &mut Rule) -> Result<(), ApiError> {
    check_action(scope, rule)?;
    if let (Some(iface), Scope::Guest(_)) = (rule.get("iface"), scope) {
        let number = iface.strip_prefix("net").unwrap_or_default();
        if number.parse::<u8>().is_err() {
            return wrong("iface", "value does not match the regex pattern 'net\\d+'");
        }
    }
    if let Some(name) = rule.get("macro").cloned() {
        match MACROS
            .iter()
            .find(|known| known.eq_ignore_ascii_case(&name))
        {
            Some(known) => rule.insert("macro".to_owned(), (*known).to_owned()),
            None => return wrong("macro", &format!("unknown macro '{name}'")),
        };
    }
    check_ports(rule)?;
    for name in ["source", "dest"] {
        if let Some(value) = rule.get(name) {
            check_reference(world, scope, name, value)?;
        }
    }
    Ok(())
}

fn wrong(name: &str, text: &str) -> Result<(), ApiError> {
    Err(ApiError::param(name, text))
}

fn check_action(scope: &Scope, rule: &Rule) -> Result<(), ApiError> {
    let text = |name: &str| rule.get(name).map_or("", String::as_str);
    let (kind, action) = (text("type"), text("action"));
    let place = match scope {
        Scope::Cluster => "cluster",
        Scope::Group(_) => "group",
        Scope::Node(_) => "host",
        Scope::Guest(_) => "vm",
    };
    let allowed = match scope {
        Scope::Guest(_) => ["in", "out", "group"].contains(&kind),
        Scope::Group(_) => kind != "group",
        Scope::Cluster | Scope::Node(_) => true,
    };
    if !allowed {
        let text = format!("invalid rule type '{kind}' for rule_env '{place}'");
        return wrong("type", &text);
    }
    match (kind, action) {
        ("group", name) if !is_name(name) => {
            wrong("action", "invalid characters in security group name")
        }
        ("forward", "REJECT") => wrong("action", "cannot define REJECT rules on forward chain"),
        ("group", _) | (_, "ACCEPT" | "DROP" | "REJECT") => Ok(()),
        (_, other) => wrong("action", &format!("unknown action '{other}'")),
    }
}

fn check_ports(rule: &Rule) -> Result<(), ApiError> {
    let proto = rule.get("proto").map(String::as_str);
    for name in ["dport", "sport"] {
        match proto {
            _ if !rule.contains_key(name) => {}
            None => {
                let text = format!("missing property - '{name}' requires this property");
                return wrong("proto", &text);
            }
            Some(proto) => {
                let icmp = name == "dport" && ICMP.contains(&proto);
                if !WITH_PORTS.contains(&proto) && !icmp {
                    return wrong(name, &format!("protocol '{proto}' does not support ports"));
                }
            }
        }
    }
    if rule.contains_key("icmp-type") {
        if !proto.is_some_and(|proto| ICMP.contains(&proto)) {
            let text = "missing property - 'icmp-type' requires this property";
            return wrong("proto", text);
        }
        if rule.contains_key("dport") {
            let text = "'icmp-type' cannot be specified together with 'dport'";
            return wrong("icmp-type", text);
        }
    }
    Ok(())
}

/// A set or alias must exist in the cluster's configuration or in this one.
fn check_reference(world: &World, scope: &Scope, name: &str, value: &str) -> Result<(), ApiError> {
    let (own, shared) = (world.firewall(scope), world.firewall(&Scope::Cluster));
    let bare = |text: &str| {
        let places = ["dc/", "guest/", "sdn/"];
        let place = places.iter().find_map(|place| text.strip_prefix(place));
        place.unwrap_or(text).to_owned()
    };
    if let Some(set) = value.strip_prefix('+') {
        let set = bare(set);
        let network = set.rsplit_once('-').map_or("", |(vnet, _)| vnet);
        let known = own.ipsets.contains_key(&set)
            || shared.ipsets.contains_key(&set)
            || world
                .sdn_vnets
                .contains_key(network.trim_end_matches("-no"));
        if !known {
            return wrong(name, &format!("no such ipset '{set}'"));
        }
    } else if is_name(&bare(value)) {
        let alias = bare(value).to_ascii_lowercase();
        if !own.aliases.contains_key(&alias) && !shared.aliases.contains_key(&alias) {
            return wrong(name, &format!("no such alias '{value}'"));
        }
    }
    Ok(())
}
