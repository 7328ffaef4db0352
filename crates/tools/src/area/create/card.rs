//! The network card of a new guest: from bridge and vlan, or in PVE's own words.

use pve::PropertyString;

use super::network::{Vlan, is_bridge_name};
use crate::fault::Fault;
use crate::words;

/// The bridge of every installation, unless somebody changed it.
const USUAL_BRIDGE: &str = "vmbr0";
const MODELS: &[&str] = &[
    "e1000",
    "e1000-82540em",
    "e1000-82544gc",
    "e1000-82545em",
    "e1000e",
    "i82551",
    "i82557b",
    "i82559er",
    "ne2k_isa",
    "ne2k_pci",
    "pcnet",
    "rtl8139",
    "virtio",
    "vmxnet3",
];
const OF_BOTH: &[&str] = &[
    "bridge",
    "firewall",
    "link_down",
    "mtu",
    "rate",
    "tag",
    "trunks",
];
const OF_VM: &[&str] = &["model", "macaddr", "queues", "host-tunnel"];
const OF_CONTAINER: &[&str] = &[
    "name",
    "hwaddr",
    "type",
    "host-managed",
    "ip",
    "ip6",
    "gw",
    "gw6",
];

/// What the caller says of the card.
pub(super) struct Asked<'a> {
    /// All of it, as PVE writes it.
    pub(super) net0: Option<&'a str>,
    pub(super) bridge: Option<&'a str>,
    pub(super) vlan: Option<Vlan>,
}

impl Asked<'_> {
    /// Whether anything is said of it.
    pub(super) fn is_any(&self) -> bool {
        self.net0.is_some() || self.bridge.is_some() || self.vlan.is_some()
    }

    /// `virtio,bridge=vmbr0,firewall=1,tag=20`. The firewall acts only once somebody switches the guest's own on.
    pub(super) fn of_vm(&self, model: &str, bridge: Option<&str>) -> Result<PropertyString, Fault> {
        let Some(mut card) = self.spelled_out("virtio,bridge=vmbr0,tag=20")? else {
            return Ok(PropertyString {
                default: Some(model.to_owned()),
                pairs: self.plain(bridge),
            });
        };
        let keys = card.pairs.iter().map(|(key, _)| key.as_str());
        if let Some(key) = keys
            .clone()
            .find(|key| ![OF_BOTH, OF_VM, MODELS].concat().contains(key))
        {
            return Err(no_key(key, &[OF_BOTH, OF_VM].concat()));
        }
        let has_model = keys
            .clone()
            .any(|key| key == "model" || MODELS.contains(&key));
        match card.default.as_deref() {
            None if !has_model => card.default = Some(model.to_owned()),
            Some(model) if !MODELS.contains(&model) => {
                let message = format!("argument `net0`: there is no card {}", shown(model));
                return Err(Fault::bad_input(message)
                    .hint(format!("the models are {}", words::list(MODELS))));
            }
            _ => {}
        }
        Ok(card)
    }

    /// `name=eth0,bridge=vmbr0,firewall=1,ip=dhcp`, with the `address` that was asked for apart from it.
    pub(super) fn of_container(&self, address: Option<&str>) -> Result<PropertyString, Fault> {
        let example = "name=eth0,bridge=vmbr0,tag=20,ip=dhcp";
        let mut card = match self.spelled_out(example)? {
            None => PropertyString {
                default: None,
                pairs: self.plain(None),
            },
            Some(card) => card,
        };
        let known = [OF_BOTH, OF_CONTAINER].concat();
        let keys = card.pairs.iter().map(|(key, _)| key.as_str());
        let stray = card.default.as_deref();
        if let Some(key) = stray.or(keys.clone().find(|key| !known.contains(key))) {
            return Err(no_key(key, &known));
        }
        let has_address = keys.clone().any(|key| matches!(key, "ip" | "ip6"));
        if has_address && address.is_some() {
            return Err(
                Fault::bad_input("argument `ip`: net0 has an address already")
                    .hint("leave ip and gateway out, or the address out of net0"),
            );
        }
        if card.get("name").is_none() {
            let name = ("name".to_owned(), "eth0".to_owned());
            card.pairs.insert(0, name);
        }
        if !has_address {
            let address = PropertyString::parse(address.unwrap_or("ip=dhcp"));
            card.pairs.extend(address.pairs);
        }
        Ok(card)
    }

    fn plain(&self, bridge: Option<&str>) -> Vec<(String, String)> {
        let bridge = self.bridge.or(bridge).unwrap_or(USUAL_BRIDGE);
        let tag = self.vlan.map(|vlan| ("tag", vlan.to_string()));
        [("bridge", bridge.to_owned()), ("firewall", "1".to_owned())]
            .into_iter()
            .chain(tag)
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    /// The card in PVE's own words, if it is given so.
    fn spelled_out(&self, example: &str) -> Result<Option<PropertyString>, Fault> {
        let Some(net0) = self.net0 else {
            return Ok(None);
        };
        let wrong = |what: &str| {
            Err(Fault::bad_input(format!("argument `net0`: {what}"))
                .hint(format!("send net0: \"{example}\"")))
        };
        if self.bridge.is_some() || self.vlan.is_some() {
            return wrong("it goes without bridge and vlan, which are part of it");
        }
        if net0.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return wrong("it has a blank in it");
        }
        let card = PropertyString::parse(net0);
        match card.get("bridge") {
            None => return wrong("it names no bridge"),
            Some(name) if !is_bridge_name(name) => {
                return wrong(&format!("{:?} is not the name of a bridge", shown(name)));
            }
            Some(_) => {}
        }
        let is_vlan = |tag: &str| tag.parse().is_ok_and(|tag: u16| (1..=4094).contains(&tag));
        if card.get("tag").is_some_and(|tag| !is_vlan(tag)) {
            return wrong("its tag is not 1 to 4094");
        }
        Ok(Some(card))
    }
}

fn no_key(key: &str, known: &[&str]) -> Fault {
    Fault::bad_input(format!("argument `net0`: a card has no {}", shown(key)))
        .hint(format!("it has {}", words::list(known)))
}

fn shown(text: &str) -> String {
    words::clip(text, 40)
}
