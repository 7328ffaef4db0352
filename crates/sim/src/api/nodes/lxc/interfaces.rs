//! `interfaces`: the addresses inside a running container.

use std::net::Ipv6Addr;

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::config::property;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Lxc;

/// How long a container takes until its interfaces have addresses.
const BOOT_SECS: u64 = 3;

/// `null` for a container that does not run, or does not exist.
pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    let guest = world.guest(Lxc, call.node(), call.vmid());
    let Some(guest) = guest.filter(|guest| guest.is_running()) else {
        return Ok(Value::Null.into());
    };
    let is_up = guest.uptime(world.now) >= BOOT_SECS;
    let gateway = world.nodes.get(&guest.node).map_or("", |node| &node.ip);
    let mut found = vec![interface(
        "lo",
        "00:00:00:00:00:00",
        if is_up {
            &["127.0.0.1/8", "::1/128"]
        } else {
            &[]
        },
    )];
    for port in 0..32 {
        let Some(net) = guest.config.get(&format!("net{port}")) else {
            continue;
        };
        let name = property(net, "name").unwrap_or("eth0");
        let mac = property(net, "hwaddr").unwrap_or_default().to_lowercase();
        let addresses = if is_up {
            addresses(guest, net, &mac, gateway)
        } else {
            Vec::new()
        };
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        found.push(interface(name, &mac, &addresses));
    }
    Ok(Value::from(found).into())
}

/// The addresses of one network device: what the config says, what a DHCP server in the node's network would give, and
/// the link-local one.
fn addresses(guest: &Guest, net: &str, mac: &str, node_ip: &str) -> Vec<String> {
    let v4 = match property(net, "ip") {
        Some("dhcp") => {
            let network = node_ip
                .rsplit_once('.')
                .map_or(node_ip, |(network, _)| network);
            Some(format!("{network}.{}/24", 100 + guest.vmid % 100))
        }
        Some("manual") | None => None,
        Some(fixed) => Some(fixed.to_owned()),
    };
    let v6 = property(net, "ip6")
        .filter(|ip| ip.contains(':'))
        .map(str::to_owned);
    v4.into_iter().chain(v6).chain(link_local(mac)).collect()
}

/// The address that every interface gives itself from its MAC address.
fn link_local(mac: &str) -> Option<String> {
    let bytes: Vec<u16> = mac
        .split(':')
        .map(|part| u16::from_str_radix(part, 16).ok())
        .collect::<Option<_>>()?;
    if bytes.len() != 6 {
        return None;
    }
    let word = |high: u16, low: u16| (high << 8) | low;
    let address = Ipv6Addr::new(
        0xfe80,
        0,
        0,
        0,
        word(bytes[0] ^ 2, bytes[1]),
        word(bytes[2], 0xff),
        word(0xfe, bytes[3]),
        word(bytes[4], bytes[5]),
    );
    Some(format!("{address}/64"))
}

/// One interface. `inet` and `inet6` are the first of each kind, absent if there is none.
fn interface(name: &str, mac: &str, addresses: &[&str]) -> Value {
    let kind = |address: &str| {
        if address.contains(':') {
            "inet6"
        } else {
            "inet"
        }
    };
    let list = addresses.iter().filter_map(|address| {
        let (ip, prefix) = address.split_once('/')?;
        Some(json!({ "ip-address": ip, "ip-address-type": kind(address), "prefix": prefix }))
    });
    let mut entry = json!({
        "name": name,
        "hwaddr": mac,
        "hardware-address": mac,
        "ip-addresses": list.collect::<Value>(),
    });
    for address in addresses.iter().rev() {
        entry[kind(address)] = json!(address);
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_addresses_come_from_the_mac() {
        let address = link_local("bc:24:11:09:0e:3d");
        assert_eq!(address.as_deref(), Some("fe80::be24:11ff:fe09:e3d/64"));
        assert_eq!(link_local("nonsense"), None);
    }
}
