//! Rights that a guest's config asks for: on the bridges and virtual networks of its devices.

use crate::call::{Call, Identity};
use crate::error::ApiError;
use crate::permission;
use crate::world::World;
use crate::world::config::{Config, property};

/// Requires `SDN.Use` on every bridge of a config, or on the VLAN tag of a device that has one.
///
/// # Errors
/// 403 naming the first bridge that is missing.
pub(crate) fn check_bridges(world: &World, call: &Call, config: &Config) -> Result<(), ApiError> {
    let mut devices = config.iter().filter(|(key, _)| is_network_device(key));
    devices.try_for_each(|(_, device)| check_bridge(world, &call.who, device))
}

/// The same for one network device.
///
/// # Errors
/// 403 naming the bridge.
pub(crate) fn check_bridge(world: &World, who: &Identity, device: &str) -> Result<(), ApiError> {
    let Some(bridge) = property(device, "bridge") else {
        return Ok(());
    };
    let vnet = world.sdn_vnets.get(bridge);
    let zone = vnet.and_then(|vnet| vnet.props.get("zone"));
    let zone = zone.map_or("localnetwork", String::as_str);
    let path = match property(device, "tag") {
        Some(tag) => format!("/sdn/zones/{zone}/{bridge}/{tag}"),
        None => format!("/sdn/zones/{zone}/{bridge}"),
    };
    permission::require(world, who, &path, &["SDN.Use"])
}

/// Whether a key is `net0`, `net1`, ...
pub(crate) fn is_network_device(key: &str) -> bool {
    let number = key.strip_prefix("net");
    number.is_some_and(|number| number.parse::<u8>().is_ok())
}
