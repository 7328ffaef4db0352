//! What plugging network cards into bridges takes: SDN.Use on the bridge, in the zone that it is in.

use std::collections::BTreeMap;

use pve::{Error, GuestConfig, NodeName, PropertyString, Reader, Request};
use serde::Deserialize;

use crate::plan::Needs;

/// The zone of the nodes' own bridges.
const LOCAL: &str = "localnetwork";

/// The bridges and virtual networks of a node, as far as the token sees them.
#[derive(Debug, Default)]
pub(super) struct Networks {
    bridges: Vec<Bridge>,
    /// Virtual networks with their zones.
    zones: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Bridge {
    iface: String,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
struct Vnet {
    vnet: String,
    zone: String,
}

impl Networks {
    /// Reads both lists. They are open to every login: the one holds bridges with SDN.Audit or SDN.Use, the other virtual
    /// networks with SDN.Audit.
    pub(super) async fn of(pve: &Reader, node: &NodeName) -> Result<Self, Error> {
        let request = Request::get(format!("/nodes/{node}/network")).with("type", "any_bridge");
        let bridges = pve.list(request).await?;
        // A cluster without SDN has no such list.
        let vnets: Vec<Vnet> = pve.list("/cluster/sdn/vnets").await.unwrap_or_default();
        let zones = vnets.into_iter().map(|it| (it.vnet, it.zone)).collect();
        Ok(Self { bridges, zones })
    }

    /// The use of every bridge that a guest's cards are plugged into. A guest without cards costs no read.
    pub(super) async fn uses_of_guest(
        pve: &Reader,
        node: &NodeName,
        config: &GuestConfig,
    ) -> Result<Vec<Needs>, Error> {
        let cards = config.nets();
        if cards.is_empty() {
            return Ok(Vec::new());
        }
        let networks = Self::of(pve, node).await?;
        let mut all: Vec<Needs> = Vec::new();
        for card in &cards {
            for needs in networks.uses_of_card(&card.properties) {
                if !all.contains(&needs) {
                    all.push(needs);
                }
            }
        }
        Ok(all)
    }

    /// Whether there is a bridge or virtual network of this name, as far as the lists show.
    pub(super) fn has(&self, name: &str) -> bool {
        self.bridges.iter().any(|bridge| bridge.iface == name) || self.zones.contains_key(name)
    }

    /// All that the node lists.
    pub(super) fn names(&self) -> Vec<&str> {
        let all = self.bridges.iter();
        all.map(|bridge| bridge.iface.as_str()).collect()
    }

    /// The use of a bridge: of these VLANs, or of the whole bridge if there are none.
    pub(super) fn uses(&self, bridge: &str, vlans: &[&str]) -> Vec<Needs> {
        let is_virtual = |it: &&Bridge| it.iface == bridge && it.kind == "vnet";
        let zone = match self.zones.get(bridge) {
            Some(zone) => zone,
            // A virtual network that is listed can be used; which zone it is in takes SDN.Audit to know.
            None if self.bridges.iter().any(|it| is_virtual(&it)) => return Vec::new(),
            None => LOCAL,
        };
        let whole = format!("/sdn/zones/{zone}/{bridge}");
        if vlans.is_empty() {
            return vec![Needs::on(whole, "SDN.Use")];
        }
        let paths = vlans.iter().map(|vlan| format!("{whole}/{vlan}"));
        paths.map(|path| Needs::on(path, "SDN.Use")).collect()
    }

    /// The use of the bridge that a card of a guest is plugged into.
    pub(super) fn uses_of_card(&self, card: &PropertyString) -> Vec<Needs> {
        let Some(bridge) = card.get("bridge") else {
            return Vec::new();
        };
        let trunks = card.get("trunks").unwrap_or_default();
        if trunks.contains('-') {
            // Ranges of VLANs: whoever may use the bridge may use them all.
            return self.uses(bridge, &[]);
        }
        let tagged = card.get("tag").into_iter();
        let trunked = trunks.split(';').filter(|vlan| !vlan.is_empty());
        self.uses(bridge, &tagged.chain(trunked).collect::<Vec<_>>())
    }
}

/// What to say of a bridge that is not in the list because the login may not see it. `None`: it would be in the list.
pub(super) async fn hidden(
    pve: &Reader,
    node: &NodeName,
    name: &str,
) -> Result<Option<String>, Error> {
    let path = format!("/sdn/zones/{LOCAL}/{name}");
    let held = pve.permissions_on(&path).await?;
    let seen = held.has(&path, "SDN.Use") || held.has(&path, "SDN.Audit");
    Ok((!seen).then(|| {
        format!("whether {node} has a bridge {name} cannot be seen without SDN.Use on {path}")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(card: &str) -> Vec<String> {
        let bridge = |iface: &str, kind: &str| Bridge {
            iface: iface.to_owned(),
            kind: kind.to_owned(),
        };
        let networks = Networks {
            bridges: vec![bridge("vmbr0", "bridge"), bridge("hidden", "vnet")],
            zones: BTreeMap::from([("blue".to_owned(), "lab".to_owned())]),
        };
        let needs = Needs::All(networks.uses_of_card(&PropertyString::parse(card)));
        needs.paths().into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_card_takes_its_bridge_in_its_zone_and_its_vlans() {
        assert_eq!(
            paths("virtio=A,bridge=vmbr0"),
            ["/sdn/zones/localnetwork/vmbr0"]
        );
        assert_eq!(
            paths("virtio=A,bridge=unseen,tag=5"),
            ["/sdn/zones/localnetwork/unseen/5"]
        );
        assert_eq!(paths("virtio=A,bridge=blue"), ["/sdn/zones/lab/blue"]);
        assert_eq!(
            paths("virtio=A,bridge=blue,tag=5,trunks=7;9"),
            [
                "/sdn/zones/lab/blue/5",
                "/sdn/zones/lab/blue/7",
                "/sdn/zones/lab/blue/9"
            ]
        );
        assert_eq!(
            paths("virtio=A,bridge=blue,trunks=2-9"),
            ["/sdn/zones/lab/blue"]
        );
        assert_eq!(paths("virtio=A,bridge=hidden"), [""; 0]);
        assert_eq!(paths("virtio=A"), [""; 0]);
    }
}
