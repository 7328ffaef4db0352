//! What the HA manager knows about guests.

use crate::world::guest::Kind;
use crate::world::{Section, World};

/// The id of a guest as an HA resource: `vm:102`, `ct:200`.
pub fn service_id(kind: Kind, vmid: u32) -> String {
    match kind {
        Kind::Qemu => format!("vm:{vmid}"),
        Kind::Lxc => format!("ct:{vmid}"),
    }
}

impl World {
    /// The HA resource of a guest, if HA manages it: then start and stop become requests to HA.
    pub fn ha_resource(&self, kind: Kind, vmid: u32) -> Option<&Section> {
        let resource = self.ha_resources.get(&service_id(kind, vmid))?;
        let ignored = resource
            .props
            .get("state")
            .is_some_and(|state| state == "ignored");
        (!ignored).then_some(resource)
    }

    /// Records what HA shall bring a guest to: `started` or `stopped`.
    pub fn request_ha_state(&mut self, kind: Kind, vmid: u32, state: &str) {
        if let Some(resource) = self.ha_resources.get_mut(&service_id(kind, vmid)) {
            resource.props.insert("state".to_owned(), state.to_owned());
        }
    }
}
