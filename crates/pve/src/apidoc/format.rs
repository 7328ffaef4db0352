//! The forms that PVE has names for. One that is not known here passes: PVE checks it itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::id::{DnsName, NodeName, PoolId, StorageId, Vmid};

/// What is wrong with a text of this form, if anything.
pub(super) fn check(name: &str, text: &str) -> Result<(), String> {
    if let Some(of) = name.strip_suffix("-opt") {
        return if text.is_empty() {
            Ok(())
        } else {
            check(of, text)
        };
    }
    if let Some(of) = name.strip_suffix("-list").or(name.strip_suffix("-alist")) {
        return split_list(text).try_for_each(|item| check(of, item));
    }
    let Some((holds, rule)) = rule(name) else {
        return Ok(());
    };
    if holds(text) {
        Ok(())
    } else {
        let shown: String = text.chars().take(60).collect();
        Err(format!("{shown:?} is not {rule}"))
    }
}

/// The values of a list in one text, however they are separated.
pub(super) fn split_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| matches!(c, ',' | ';' | '\0') || c.is_whitespace())
        .filter(|item| !item.is_empty())
}

type Rule = (fn(&str) -> bool, &'static str);

fn rule(name: &str) -> Option<Rule> {
    Some(match name {
        "pve-vmid" => (
            |it| it.parse::<Vmid>().is_ok(),
            "a guest id (100 to 999999999)",
        ),
        "pve-node" => (|it| NodeName::new(it).is_ok(), "a node name"),
        "pve-storage-id" => (|it| StorageId::new(it).is_ok(), "a storage name"),
        "pve-poolid" => (|it| PoolId::new(it).is_ok(), "a pool name"),
        "dns-name" => (|it| DnsName::new(it).is_ok(), "a DNS name"),
        "pve-configid" => (
            is_config_id,
            "a name: a letter, then letters, digits, _ and -, at least 2 characters",
        ),
        "pve-groupid" | "pve-roleid" => (is_plain_name, "a name of letters, digits, . _ and -"),
        "pve-realm" => (is_realm, "a realm"),
        "pve-userid" => (is_user, "a user with realm, such as root@pam"),
        "pve-tokenid" => (is_token, "a token, such as root@pam!name"),
        "pve-iface" => (is_interface, "a network interface name"),
        "pve-tag" => (is_tag, "a tag: letters, digits, _ - + and ."),
        "pve-volume-id" => (is_volume, "a volume, such as local:iso/debian.iso"),
        "ip" => (|it| it.parse::<IpAddr>().is_ok(), "an IP address"),
        "ipv4" => (|it| it.parse::<Ipv4Addr>().is_ok(), "an IPv4 address"),
        "ipv6" => (|it| it.parse::<Ipv6Addr>().is_ok(), "an IPv6 address"),
        "address" => (
            |it| it.parse::<IpAddr>().is_ok() || DnsName::new(it).is_ok(),
            "an IP address or a DNS name",
        ),
        "CIDR" => (|it| is_cidr(it, 8), "a network, such as 10.0.0.0/24"),
        "FullRangeCIDR" => (|it| is_cidr(it, 0), "a network, such as 10.0.0.0/24"),
        "CIDRv4" => (
            |it| is_cidr(it, 8) && !it.contains(':'),
            "an IPv4 network, such as 10.0.0.0/24",
        ),
        "CIDRv6" => (
            |it| is_cidr(it, 8) && it.contains(':'),
            "an IPv6 network, such as fd00::/64",
        ),
        "IPorCIDR" => (
            |it| it.parse::<IpAddr>().is_ok() || is_cidr(it, 8),
            "an IP address or a network",
        ),
        "mac-addr" => (
            is_mac,
            "a MAC address of one card, such as BC:24:11:00:00:01",
        ),
        "disk-size" => (is_size, "a size, such as 32G"),
        "urlencoded" => (is_url_encoded, "percent-encoded"),
        _ => return None,
    })
}

fn is_config_id(text: &str) -> bool {
    text.len() >= 2 && starts_with_letter(text) && consists(text, "_-")
}

fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && consists(text, "._-")
}

fn is_realm(text: &str) -> bool {
    text.len() >= 2 && starts_with_letter(text) && consists(text, "._-")
}

fn is_user(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(name, realm)| {
        !name.is_empty()
            && !name.contains(|c: char| c.is_whitespace() || matches!(c, ':' | '/'))
            && is_realm(realm)
    })
}

fn is_token(text: &str) -> bool {
    let parts = text.rsplit_once('!');
    parts.is_some_and(|(user, name)| is_user(user) && is_realm(name))
}

fn is_interface(text: &str) -> bool {
    (2..=20).contains(&text.len()) && starts_with_letter(text) && consists(text, "_.:-")
}

fn is_tag(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['-', '+', '.']) && consists(text, "_-+.")
}

fn is_volume(text: &str) -> bool {
    let parts = text.split_once(':');
    parts.is_some_and(|(storage, name)| StorageId::new(storage).is_ok() && !name.is_empty())
}

/// PVE takes no networks wider than /8, but for a few parameters.
fn is_cidr(text: &str, widest: u8) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let longest = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    let length = length.parse::<u8>();
    length.is_ok_and(|length| (widest..=longest).contains(&length))
}

/// Six bytes in hexadecimal, the first of them even: not a group's.
fn is_mac(text: &str) -> bool {
    let bytes: Vec<_> = text.split(':').collect();
    let is_byte =
        |byte: &&str| byte.len() == 2 && byte.bytes().all(|digit| digit.is_ascii_hexdigit());
    bytes.len() == 6
        && bytes.iter().all(is_byte)
        && u8::from_str_radix(bytes[0], 16).is_ok_and(|first| first.is_multiple_of(2))
}

fn is_size(text: &str) -> bool {
    let number = text.strip_suffix(['K', 'M', 'G', 'T']).unwrap_or(text);
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    digits(whole) && digits(part)
}

fn is_url_encoded(text: &str) -> bool {
    consists(text, "-%_.!~*'()")
}

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn consists(text: &str, others: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}
