//! Formats of addresses, in PVE's words. Each is a check on one value, like those in [`super::format`].

use std::net::{Ipv4Addr, Ipv6Addr};

fn when(ok: bool, error: &str) -> Result<(), String> {
    if ok { Ok(()) } else { Err(error.to_owned()) }
}

/// `mac-addr`: not a multicast one.
pub fn mac(text: &str) -> Result<(), String> {
    let parts: Vec<&str> = text.split(':').collect();
    let hex = |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unicast = u8::from_str_radix(parts[0], 16).is_ok_and(|first| first % 2 == 0);
    when(
        parts.len() == 6 && parts.iter().all(hex) && unicast,
        "value does not look like a valid unicast MAC address",
    )
}

/// `ipv4`.
pub fn ipv4(text: &str) -> Result<(), String> {
    when(
        text.parse::<Ipv4Addr>().is_ok(),
        "value does not look like a valid IPv4 address",
    )
}

/// `ipv6`.
pub fn ipv6(text: &str) -> Result<(), String> {
    when(
        text.parse::<Ipv6Addr>().is_ok(),
        "value does not look like a valid IPv6 address",
    )
}

/// `ip`: of either kind.
pub fn ip(text: &str) -> Result<(), String> {
    when(
        ipv4(text).is_ok() || ipv6(text).is_ok(),
        "value does not look like a valid IP address",
    )
}

/// `lxc-ip-with-ll-iface`: an address, or a link-local one with the container's interface (`fe80::1%eth0`).
pub fn ip_with_interface(text: &str) -> Result<(), String> {
    match text.split_once('%') {
        Some((address, interface)) => when(
            ipv6(address).is_ok() && !interface.is_empty(),
            "value does not look like a valid IP address",
        ),
        None => ip(text),
    }
}

/// `CIDRv4`: `10.0.0.5/24`.
pub fn cidr_v4(text: &str) -> Result<(), String> {
    when(
        is_network(text, |address| ipv4(address).is_ok(), 32),
        "value does not look like a valid IPv4 CIDR network",
    )
}

/// `CIDRv6`: `fd00::5/64`.
pub fn cidr_v6(text: &str) -> Result<(), String> {
    when(
        is_network(text, |address| ipv6(address).is_ok(), 128),
        "value does not look like a valid IPv6 CIDR network",
    )
}

/// `pve-ipv4-config`: `dhcp`, `manual` or an address with its network.
pub fn ipv4_config(text: &str) -> Result<(), String> {
    when(
        matches!(text, "dhcp" | "manual") || cidr_v4(text).is_ok(),
        "value does not look like a valid ipv4 network configuration",
    )
}

/// `pve-ipv6-config`: `auto`, `dhcp`, `manual` or an address with its network.
pub fn ipv6_config(text: &str) -> Result<(), String> {
    when(
        matches!(text, "auto" | "dhcp" | "manual") || cidr_v6(text).is_ok(),
        "value does not look like a valid ipv6 network configuration",
    )
}

/// An address with a prefix length between 8 and `most`.
fn is_network(text: &str, is_address: impl Fn(&str) -> bool, most: u8) -> bool {
    text.split_once('/').is_some_and(|(address, prefix)| {
        let length = prefix.parse::<u8>();
        is_address(address) && length.is_ok_and(|length| (8..=most).contains(&length))
    })
}

/// `address`: an IP address or a host name.
pub fn address(text: &str) -> Result<(), String> {
    if ip(text).is_ok() || super::format::dns_name(text).is_ok() {
        Ok(())
    } else {
        Err(format!("value does not look like a valid address: {text}"))
    }
}

/// `pve-bridge-id`.
pub fn bridge(text: &str) -> Result<(), String> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !text.is_empty() && text.chars().all(word) {
        Ok(())
    } else {
        Err(format!("invalid bridge ID '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert!(mac("BC:24:11:00:00:01").is_ok());
        assert!(mac("BD:24:11:00:00:01").is_err() && mac("BC:24:11").is_err());
        assert!(ipv4_config("dhcp").is_ok() && ipv4_config("10.0.0.5/24").is_ok());
        assert!(ipv4_config("auto").is_err() && ipv4_config("10.0.0.5").is_err());
        assert!(ipv6_config("auto").is_ok() && ipv6_config("fd00::1/64").is_ok());
        assert!(cidr_v4("10.0.0.0/7").is_err() && cidr_v4("10.0.0.0/33").is_err());
    }
}
