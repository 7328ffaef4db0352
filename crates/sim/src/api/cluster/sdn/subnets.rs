//! Subnets of a network. Their ids are made of the zone and the network's address: `lab-10.0.0.0-24`.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::missing;
use super::show::{need_vnet, objects, one};
use crate::api::section;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::schema::network;
use crate::world::sdn::Part;
use crate::world::{Section, World};

/// `pve-sdn-subnet-id`: a network, or the id of a subnet.
pub(super) fn is_subnet(text: &str) -> Result<(), String> {
    let cidr = match text.split('-').collect::<Vec<_>>()[..] {
        [_, address, mask] if !text.contains('/') => format!("{address}/{mask}"),
        _ => text.to_owned(),
    };
    if network::cidr_v4(&cidr).is_ok() || network::cidr_v6(&cidr).is_ok() {
        Ok(())
    } else {
        Err("value does not look like a valid CIDR network\n".to_owned())
    }
}

pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    let (vnet, _) = need_vnet(world, call, &["SDN.Audit", "SDN.Allocate"])?;
    let of_vnet = |subnet: &Value| {
        let named = subnet.get("vnet").or_else(|| subnet["pending"].get("vnet"));
        named == Some(&json!(vnet))
    };
    let subnets = objects(world, call, Part::Subnet, "subnet").into_iter();
    let shown = subnets
        .filter(|(_, subnet)| of_vnet(subnet))
        .map(|(id, mut subnet)| {
            let mut parts = id.splitn(3, '-');
            let (zone, network, mask) = (parts.next(), parts.next(), parts.next());
            let cidr = [network.unwrap_or_default(), mask.unwrap_or_default()].join("/");
            subnet["id"] = json!(id);
            subnet["zone"] = json!(zone);
            subnet["network"] = json!(network);
            subnet["mask"] = json!(mask);
            subnet["cidr"] = json!(cidr);
            subnet
        });
    Ok(shown.collect::<Value>().into())
}

pub(super) fn create(world: &mut World, call: &Call) -> Reply {
    let (_, settings) = need_vnet(world, call, &["SDN.Allocate"])?;
    world.require_quorum()?;
    let cidr = call.text("subnet").unwrap_or_default();
    let zone = settings.props.get("zone").map_or("", String::as_str);
    let id = format!("{zone}-{}", cidr.replace('/', "-"));
    let subnet = Section {
        kind: "subnet".to_owned(),
        props: section::sent(call, &["subnet", "type", "lock-token"]),
    };
    checked(world, &id, cidr, &settings, &subnet)
        .map_err(|error| error.during("create sdn subnet object failed"))?;
    world.configure_sdn(Part::Subnet, &id, Some(subnet));
    done()
}

pub(super) fn show(world: &mut World, call: &Call) -> Reply {
    need_vnet(world, call, &["SDN.Audit", "SDN.Allocate"])?;
    Ok(one(world, call, Part::Subnet, "subnet")?.into())
}

pub(super) fn delete(world: &mut World, call: &Call) -> Reply {
    need_vnet(world, call, &["SDN.Allocate"])?;
    world.require_quorum()?;
    let id = call.text("subnet").unwrap_or_default();
    if !world.sdn_configured(Part::Subnet).contains_key(id) {
        return Err(missing(id).during("delete sdn subnet object failed"));
    }
    world.configure_sdn(Part::Subnet, id, None);
    done()
}

fn checked(
    world: &World,
    id: &str,
    cidr: &str,
    settings: &Section,
    subnet: &Section,
) -> Result<(), ApiError> {
    if world.sdn_configured(Part::Subnet).contains_key(id) {
        let text = format!("sdn subnet object ID '{id}' already defined");
        return Err(ApiError::fail(text));
    }
    if settings
        .props
        .get("vlanaware")
        .is_some_and(|flag| flag == "1")
    {
        let text = "you can't add a subnet on a vlanaware vnet";
        return Err(ApiError::param("vnet", text));
    }
    match subnet.props.get("gateway") {
        Some(gateway) if !contains(cidr, gateway) => {
            let text = format!("{gateway} is not in subnet {cidr}");
            Err(ApiError::param("gateway", text))
        }
        _ => Ok(()),
    }
}

/// Whether an address is in a network; a network of one address has its gateway outside.
fn contains(cidr: &str, address: &str) -> bool {
    let Some((network, mask)) = cidr.split_once('/') else {
        return false;
    };
    let bits = |text: &str| match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => Some((32, u128::from(address.to_bits()))),
        Ok(IpAddr::V6(address)) => Some((128, address.to_bits())),
        Err(_) => None,
    };
    let (Some((width, network)), Some((other, address)), Ok(mask)) =
        (bits(network), bits(address), mask.parse::<u32>())
    else {
        return false;
    };
    let shift = u32::saturating_sub(width, mask);
    width == other
        && (mask == 32 && width == 32 || network.checked_shr(shift) == address.checked_shr(shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gateways_lie_in_their_subnet() {
        assert!(contains("10.0.0.0/24", "10.0.0.1"));
        assert!(!contains("10.0.0.0/24", "10.0.1.1"));
        assert!(contains("fd00::/64", "fd00::1"));
        assert!(!contains("fd00::/64", "10.0.0.1"));
        assert!(contains("10.0.0.5/32", "192.168.1.1"));
    }
}
