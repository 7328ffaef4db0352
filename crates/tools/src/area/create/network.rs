//! The network of a new guest: the bridge it is plugged into, and its address.

use std::fmt;
use std::net::IpAddr;

use pve::{NodeName, PropertyString, Reader, lenient};
use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error};

use crate::area::sdn::{Networks, hidden};
use crate::fault::{Fault, Kind};
use crate::plan::Needs;
use crate::words;

/// A VLAN tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "i64")]
pub(super) struct Vlan(u16);

impl fmt::Display for Vlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Vlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = lenient::text(deserializer)?;
        let tag = text.trim().parse().ok();
        tag.filter(|tag| (1..=4094).contains(tag))
            .map(Self)
            .ok_or_else(|| Error::custom(format!("{text:?} is not a VLAN tag: 1 to 4094")))
    }
}

/// What came of looking for a bridge.
pub(super) struct Bridge {
    /// What using it takes.
    pub(super) needs: Needs,
    /// Set if it could not be seen.
    pub(super) warning: Option<String>,
}

/// Looks whether a node has the bridge of a card. PVE itself takes any name, and the guest then fails to start.
///
/// The list of bridges is open to every login, but holds only those on which it has SDN.Audit or SDN.Use.
pub(super) async fn bridge(
    pve: &Reader,
    node: &NodeName,
    card: &PropertyString,
) -> Result<Bridge, Fault> {
    let name = card.get("bridge").unwrap_or_default();
    if !is_bridge_name(name) {
        return Err(Fault::bad_input(format!(
            "argument `bridge`: {name:?} is not the name of a bridge"
        ))
        .hint("letters, digits, '-', '_' and '.'; usually vmbr0"));
    }
    let networks = Networks::of(pve, node).await?;
    let needs = networks.uses_of_card(card);
    let warning = if networks.has(name) {
        None
    } else {
        Some(unseen(pve, node, name, &networks).await?)
    };
    Ok(Bridge {
        needs: Needs::All(needs),
        warning,
    })
}

/// A bridge that is not in the list is not there, or not for us to see, which is the warning.
async fn unseen(
    pve: &Reader,
    node: &NodeName,
    name: &str,
    networks: &Networks,
) -> Result<String, Fault> {
    if let Some(warning) = hidden(pve, node, name).await? {
        return Ok(warning);
    }
    let message = format!("there is no bridge {name} on {node}");
    let hint = match networks.names().as_slice() {
        [] => format!("{node} shows no bridge at all; a person has to make one"),
        names => format!("the bridges there: {}", words::list(names)),
    };
    Err(Fault::new(Kind::NotFound, message).hint(hint))
}

pub(super) fn is_bridge_name(name: &str) -> bool {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.bytes().all(is_word)
}

/// An address as PVE's property strings have it: `ip=dhcp`, `ip=10.0.0.5/24,gw=10.0.0.1`, `ip6=auto`.
pub(super) fn address(ip: Option<&str>, gateway: Option<&str>) -> Result<Option<String>, Fault> {
    let wrong = |message: String| Err(Fault::bad_input(message).hint(ADDRESS));
    let (key, ip) = match ip.map(str::trim) {
        None if gateway.is_some() => {
            return wrong("argument `gateway`: it goes with a fixed ip".to_owned());
        }
        None => return Ok(None),
        Some(automatic @ ("dhcp" | "auto")) => {
            if gateway.is_some() {
                return wrong(format!("argument `gateway`: it comes by {automatic}"));
            }
            let key = if automatic == "dhcp" { "ip" } else { "ip6" };
            return Ok(Some(format!("{key}={automatic}")));
        }
        Some(fixed) => match cidr(fixed) {
            Some(IpAddr::V4(_)) => ("ip", fixed),
            Some(IpAddr::V6(_)) => ("ip6", fixed),
            None => {
                return wrong(format!(
                    "argument `ip`: {fixed:?} is no address with prefix"
                ));
            }
        },
    };
    let Some(gateway) = gateway.map(str::trim) else {
        return Ok(Some(format!("{key}={ip}")));
    };
    match (key, gateway.parse()) {
        ("ip", Ok(IpAddr::V4(_))) => Ok(Some(format!("ip={ip},gw={gateway}"))),
        ("ip6", Ok(IpAddr::V6(_))) => Ok(Some(format!("ip6={ip},gw6={gateway}"))),
        _ => wrong(format!(
            "argument `gateway`: {gateway:?} is no address of the same family as ip"
        )),
    }
}

const ADDRESS: &str = "send ip: \"dhcp\", or ip: \"192.168.1.50/24\" with gateway: \"192.168.1.1\"";

fn cidr(text: &str) -> Option<IpAddr> {
    let (address, prefix) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix: u8 = prefix.parse().ok()?;
    (prefix <= longest).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_pve_reads_them() {
        for (ip, gateway, written) in [
            (None, None, None),
            (Some("dhcp"), None, Some("ip=dhcp")),
            (Some("auto"), None, Some("ip6=auto")),
            (Some("10.0.0.5/24"), None, Some("ip=10.0.0.5/24")),
            (
                Some("10.0.0.5/24"),
                Some("10.0.0.1"),
                Some("ip=10.0.0.5/24,gw=10.0.0.1"),
            ),
            (
                Some("fd00::5/64"),
                Some("fd00::1"),
                Some("ip6=fd00::5/64,gw6=fd00::1"),
            ),
        ] {
            assert_eq!(address(ip, gateway).unwrap().as_deref(), written);
        }
    }

    #[test]
    fn what_is_no_address_says_what_is() {
        for (ip, gateway) in [
            (Some("10.0.0.5"), None),
            (Some("10.0.0.5/33"), None),
            (Some("10.0.0.5/24,gw=10.0.0.1"), None),
            (Some("10.0.0.5/24"), Some("fd00::1")),
            (Some("dhcp"), Some("10.0.0.1")),
            (None, Some("10.0.0.1")),
        ] {
            let fault = address(ip, gateway).unwrap_err();
            assert_eq!(fault.hint.as_deref(), Some(ADDRESS), "{ip:?} {gateway:?}");
        }
    }
}
