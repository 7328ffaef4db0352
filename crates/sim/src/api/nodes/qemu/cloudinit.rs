//! `cloudinit`: what the cloud-init drive says, and what it will say once it is made anew.

use std::fmt::Write as _;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::change::rights::CLOUDINIT;
use super::options::OPTIONS;
use crate::api::nodes::guest::config::typed_value;
use crate::api::nodes::guest::{AUDIT, free_now};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get, put};
use crate::schema::common::{NODE, VMID};
use crate::schema::text;
use crate::world::config::{Config, property};
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use crate::world::node::Node;
use crate::world::{World, digest_of};

/// The routes of cloud-init.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/qemu/{vmid}/cloudinit", show)
        .allow(AUDIT)
        .proxied()
        .params(&[NODE, VMID]),
    put("/nodes/{node}/qemu/{vmid}/cloudinit", regenerate)
        .allow(Perm::On("/vms/{vmid}", &["VM.Config.Cloudinit"]))
        .proxied()
        .params(&[NODE, VMID]),
    get("/nodes/{node}/qemu/{vmid}/cloudinit/dump", dump)
        .allow(AUDIT)
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("type").one_of(&["user", "network", "meta"]),
        ]),
];

fn show(world: &mut World, call: &Call) -> Reply {
    let guest = world.need_guest(Qemu, call.node(), call.vmid())?;
    let typed = |key: &str, value: &str| match key {
        "cipassword" => json!("**********"),
        _ => typed_value(key, value, OPTIONS),
    };
    let set = guest.config.iter().filter(|(key, value)| {
        let known = CLOUDINIT.contains(key) || guest.cloudinit.get(*key) == Some(&None);
        known && !matches!(*value, "" | "0")
    });
    let mut entries: Vec<Value> = set
        .map(|(key, value)| match guest.cloudinit.get(key) {
            None => json!({ "key": key, "value": typed(key, value) }),
            Some(None) => json!({ "key": key, "pending": typed(key, value) }),
            Some(Some(old)) => {
                json!({ "key": key, "value": typed(key, old), "pending": typed(key, value) })
            }
        })
        .collect();
    let gone = guest
        .cloudinit
        .iter()
        .filter(|(key, old)| old.is_some() && guest.config.get(key).is_none());
    entries.extend(gone.map(|(key, _)| json!({ "key": key, "delete": 1 })));
    Ok(Value::Array(entries).into())
}

/// Makes the drive anew. A machine without one has nothing to do.
fn regenerate(world: &mut World, call: &Call) -> Reply {
    free_now(world, Qemu, call.vmid())?;
    let guest = world.need_guest(Qemu, call.node(), call.vmid())?;
    guest.check_lock().map_err(ApiError::fail)?;
    if let Some(guest) = world.guest_mut(Qemu, call.node(), call.vmid()) {
        guest.cloudinit.clear();
    }
    done()
}

fn dump(world: &mut World, call: &Call) -> Reply {
    let guest = world.need_guest(Qemu, call.node(), call.vmid())?;
    let node = world.nodes.get(call.node());
    let dns = node.map(Node::gateway).unwrap_or_default();
    let text = match call.text("type") {
        Some("user") => user_data(guest),
        Some("network") => network_data(&guest.config, &dns),
        _ => {
            let all = user_data(guest) + &network_data(&guest.config, &dns);
            format!("instance-id: {}\n", digest_of(&all))
        }
    };
    Ok(json!(text).into())
}

fn user_data(guest: &Guest) -> String {
    let config = &guest.config;
    let name = config.get("name").map(str::to_owned);
    let name = name.unwrap_or_else(|| format!("VM{}", guest.vmid));
    let host = name.split('.').next().unwrap_or_default();
    let full_name = match config.get("searchdomain") {
        Some(domain) if !name.contains('.') => format!("{name}.{domain}"),
        _ => name.clone(),
    };
    let mut text =
        format!("#cloud-config\nhostname: {host}\nmanage_etc_hosts: true\nfqdn: {full_name}\n");
    let user = config.get("ciuser");
    if let Some(user) = user {
        let _ = writeln!(text, "user: {user}");
    }
    if user == Some("root") {
        text += "disable_root: False\n";
    }
    if let Some(password) = config.get("cipassword") {
        let _ = writeln!(text, "password: {password}");
    }
    if let Some(keys) = config.get("sshkeys") {
        text += "ssh_authorized_keys:\n";
        let keys = percent_decode_str(keys).decode_utf8_lossy();
        for key in keys.lines().filter(|key| !key.trim().is_empty()) {
            let _ = writeln!(text, "  - {key}");
        }
    }
    text += "chpasswd:\n  expire: False\n";
    if user != Some("root") {
        text += "users:\n  - default\n";
    }
    if config.get("ciupgrade") != Some("0") {
        text += "package_upgrade: true\n";
    }
    text
}

fn network_data(config: &Config, host_dns: &str) -> String {
    let mut text = "version: 1\nconfig:\n".to_owned();
    for number in 0..32 {
        let card = config.get(&format!("net{number}"));
        let address = config.get(&format!("ipconfig{number}"));
        let (Some(card), Some(address)) = (card, address) else {
            continue;
        };
        let mac = card.split(',').next().unwrap_or_default();
        let mac = mac.split_once('=').map_or("", |(_, mac)| mac);
        let mac = mac.to_ascii_lowercase();
        let _ = write!(
            text,
            "    - type: physical\n      name: eth{number}\n      mac_address: '{mac}'\n      subnets:\n"
        );
        text += &subnets(address);
    }
    text += "    - type: nameserver\n      address:\n";
    let servers = config.get("nameserver").unwrap_or(host_dns);
    for server in servers.split_whitespace() {
        let _ = writeln!(text, "      - '{server}'");
    }
    if let Some(domains) = config.get("searchdomain") {
        text += "      search:\n";
        for domain in domains.split_whitespace() {
            let _ = writeln!(text, "      - '{domain}'");
        }
    }
    text
}

fn subnets(address: &str) -> String {
    let gateway = |key: &str| {
        property(address, key)
            .map(|gateway| format!("        gateway: '{gateway}'\n"))
            .unwrap_or_default()
    };
    let four = match property(address, "ip") {
        None => String::new(),
        Some("dhcp") => "      - type: dhcp4\n".to_owned(),
        Some(ip) => {
            let (ip, prefix) = ip.split_once('/').unwrap_or((ip, "32"));
            let mask = netmask(prefix.parse().unwrap_or(32));
            let fixed = format!(
                "      - type: static\n        address: '{ip}'\n        netmask: '{mask}'\n"
            );
            fixed + &gateway("gw")
        }
    };
    let six = match property(address, "ip6") {
        None => String::new(),
        Some("dhcp") => "      - type: dhcp6\n".to_owned(),
        Some("auto") => "      - type: ipv6_slaac\n".to_owned(),
        Some(ip) => format!("      - type: static6\n        address: '{ip}'\n") + &gateway("gw6"),
    };
    four + &six
}

fn netmask(prefix: u32) -> std::net::Ipv4Addr {
    let ones = u32::MAX.checked_shl(32 - prefix.min(32)).unwrap_or(0);
    std::net::Ipv4Addr::from(ones)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_address_has_a_mask() {
        assert_eq!(
            subnets("ip=10.0.0.5/24,gw=10.0.0.1"),
            "      - type: static\n        address: '10.0.0.5'\n        netmask: '255.255.255.0'\n        \
             gateway: '10.0.0.1'\n"
        );
        assert_eq!(netmask(32).to_string(), "255.255.255.255");
    }
}
