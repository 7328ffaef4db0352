//! Formats of firewall rules, in PVE's words.

use super::network;

/// `pve-fw-addr-spec`: a set (`+name`), an alias, or addresses, networks and ranges.
pub fn addresses(text: &str) -> Result<(), String> {
    if text.strip_prefix('+').is_some_and(|name| !name.is_empty()) || is_alias(text) {
        return Ok(());
    }
    let items: Vec<&str> = text.split(',').collect();
    if items.contains(&"") {
        return Err("extraneous commas in list".to_owned());
    }
    items.iter().try_for_each(|item| address(item))?;
    if items.len() > 1 && items.iter().any(|item| item.contains('-')) {
        return Err("you can't use a range in a list".to_owned());
    }
    let versions: Vec<bool> = items.iter().map(|item| item.contains(':')).collect();
    if versions.iter().any(|version| *version != versions[0]) {
        return Err(format!(
            "detected mixed ipv4/ipv6 addresses in address list '{text}'"
        ));
    }
    Ok(())
}

/// `IPorCIDRorAlias`.
pub fn address_or_alias(text: &str) -> Result<(), String> {
    if is_alias(text) {
        Ok(())
    } else {
        address_or_network(text)
    }
}

/// `IPorCIDR`.
pub fn address_or_network(text: &str) -> Result<(), String> {
    let checks = [network::ip, network::cidr_v4, network::cidr_v6];
    if checks.iter().any(|check| check(text).is_ok()) {
        Ok(())
    } else {
        Err("value does not look like a valid IP address or CIDR network".to_owned())
    }
}

fn address(text: &str) -> Result<(), String> {
    let single = |part: &str| {
        let host = part.split('/').next().unwrap_or_default();
        let quads = host.split('.');
        let wrong = quads
            .clone()
            .find(|quad| quad.parse::<u32>().is_ok_and(|number| number > 255));
        match wrong {
            Some(quad) if quads.count() == 4 => Err(format!(
                "invalid IP address: Invalid quad in IP address {host} - {quad}"
            )),
            _ => address_or_network(part)
                .map_err(|_| format!("invalid IP address: Cannot determine IP version for {part}")),
        }
    };
    match text.split_once('-') {
        Some((first, last)) => single(first).and(single(last)),
        None => single(text),
    }
}

/// Whether the text may name an alias, a set or a security group.
pub fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.len() >= 2
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(word)
}

fn is_alias(text: &str) -> bool {
    let bare = text
        .strip_prefix("dc/")
        .or_else(|| text.strip_prefix("guest/"))
        .unwrap_or(text);
    is_name(bare)
}

/// `pve-fw-dport-spec` and `pve-fw-sport-spec`: ports, ranges, names of services.
pub fn ports(text: &str) -> Result<(), String> {
    let items: Vec<&str> = text.split(',').collect();
    if items.contains(&"") {
        return Err("extraneous commas in list".to_owned());
    }
    for item in &items {
        match item.split_once(':') {
            Some((first, last)) => {
                let (low, high) = (port(first)?, port(last)?);
                if low > high {
                    return Err(format!(
                        "backwards range '{item}' not allowed, did you mean '{last}:{first}'?"
                    ));
                }
            }
            None if item.starts_with(|first: char| first.is_ascii_alphabetic()) => {}
            None => {
                port(item)?;
            }
        }
    }
    if items.len() > 15 {
        return Err("too many entries in port list (> 15 numbers)".to_owned());
    }
    Ok(())
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("invalid port '{text}'"))
}

/// `pve-fw-protocol-spec`.
pub fn protocol(text: &str) -> Result<(), String> {
    let known = [
        "tcp",
        "udp",
        "udplite",
        "sctp",
        "dccp",
        "icmp",
        "icmpv6",
        "ipv6-icmp",
        "igmp",
        "gre",
        "esp",
        "ah",
        "ipv6",
        "ospf",
        "vrrp",
        "l2tp",
    ];
    if text.is_empty() || known.contains(&text) || text.parse::<u8>().is_ok() {
        Ok(())
    } else {
        Err(format!("unknown protocol '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_every_form() {
        for good in [
            "10.0.0.1",
            "10.0.0.0/8,192.168.1.5",
            "10.0.0.1-10.0.0.9",
            "fd00::/8",
            "+blocked",
            "dc/office",
        ] {
            assert_eq!(addresses(good), Ok(()), "{good}");
        }
        assert_eq!(
            addresses("300.0.0.1"),
            Err("invalid IP address: Invalid quad in IP address 300.0.0.1 - 300".to_owned())
        );
        for bad in [
            "10.0.0.1,",
            "10.0.0.1,fd00::1",
            "10.0.0.1-10.0.0.2,10.0.0.5",
        ] {
            assert!(addresses(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ports_and_ranges() {
        assert!(ports("22,80:90,https").is_ok());
        assert!(ports("90:80").is_err() && ports("70000").is_err() && ports("22,").is_err());
    }
}
