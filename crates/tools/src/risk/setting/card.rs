//! Network cards.

use std::collections::BTreeMap;

use super::Setting;
use crate::risk::property::{Part, flag, parts};
use crate::risk::row::{Finding, found};
use crate::spec::Risk;

/// Keys of a card: for VMs also the models, which are written with the address.
pub(super) const KNOWN: &[&str] = &[
    "bridge",
    "e1000",
    "e1000-82540em",
    "e1000-82544gc",
    "e1000-82545em",
    "e1000e",
    "firewall",
    "gw",
    "gw6",
    "host-managed",
    "hwaddr",
    "i82551",
    "i82557b",
    "i82559er",
    "ip",
    "ip6",
    "link_down",
    "macaddr",
    "model",
    "mtu",
    "name",
    "ne2k_isa",
    "ne2k_pci",
    "pcnet",
    "queues",
    "rate",
    "rtl8139",
    "tag",
    "trunks",
    "type",
    "virtio",
    "vmxnet3",
];

/// A network card that is added changes nothing for others; one that is changed or removed interrupts the guest, and one
/// whose firewall is switched off is open.
pub(crate) fn card(setting: &Setting<'_>) -> Option<Finding> {
    if setting.stays() {
        return None;
    }
    let new = setting.new.map(properties);
    let is_known = |card: &BTreeMap<&str, &str>| card.keys().all(|key| KNOWN.contains(key));
    if new.as_ref().is_some_and(|new| !is_known(new)) {
        return found(Risk::Grant, "is not in the risk table");
    }
    if setting.is_added() {
        return None;
    }
    let old = setting.was().map(properties);
    let is_guarded = |card: &BTreeMap<&str, &str>| card.get("firewall").and_then(|it| flag(it));
    let was_guarded = old.as_ref().is_none_or(|old| is_guarded(old) == Some(true));
    let is_open = new
        .as_ref()
        .is_some_and(|new| is_guarded(new) != Some(true));
    if was_guarded && is_open {
        return found(Risk::Grant, "switches the firewall of a network card off");
    }
    if let (Some(mut old), Some(mut new)) = (old, new) {
        old.remove("rate");
        new.remove("rate");
        // PVE makes up an address for a card that is sent without one, which is another card to the guest.
        if old == new {
            return None;
        }
    }
    found(Risk::Disrupt, "interrupts the network of the running guest")
}

/// The properties of a card. A VM's model is written alone or with the address: `virtio=BC:24:11:…`.
fn properties(text: &str) -> BTreeMap<&str, &str> {
    let mut card = BTreeMap::new();
    for part in parts(text) {
        match part {
            Part::Pair(key, value) => card.insert(key, value),
            Part::Default(model) | Part::Malformed(model) => card.insert(model, ""),
        };
    }
    card
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::setting::Old;
    use crate::risk::setting::tests::{risk, set, unset};

    const OLD: &str = "virtio=BC:24:11:00:01:05,bridge=vmbr0,firewall=1";

    #[test]
    fn a_changed_card_interrupts_unless_only_its_rate_changes() {
        let to = |new: &str| risk(card(&set(Old::Is(OLD), new)));
        assert_eq!(to(OLD), Risk::Read);
        assert_eq!(to(&format!("{OLD},rate=10")), Risk::Read);
        assert_eq!(to(&format!("{OLD},tag=20")), Risk::Disrupt);
        assert_eq!(to(&format!("{OLD},link_down=1")), Risk::Disrupt);
        assert_eq!(risk(card(&unset(Old::Is(OLD)))), Risk::Disrupt);
        assert_eq!(
            risk(card(&set(Old::Unset, "virtio,bridge=vmbr0"))),
            Risk::Read
        );
        assert_eq!(
            risk(card(&set(Old::Unset, "virtio,bridge=vmbr0,up=/bin/sh"))),
            Risk::Grant
        );
    }

    #[test]
    fn a_card_without_its_firewall_is_a_grant() {
        let open = "virtio=BC:24:11:00:01:05,bridge=vmbr0";
        assert_eq!(risk(card(&set(Old::Is(OLD), open))), Risk::Grant);
        let off = format!("{open},firewall=OFF");
        assert_eq!(risk(card(&set(Old::Is(OLD), &off))), Risk::Grant);
        assert_eq!(risk(card(&set(Old::Unknown, open))), Risk::Grant);
        let moved = format!("{open},tag=7");
        assert_eq!(risk(card(&set(Old::Is(open), &moved))), Risk::Disrupt);
    }
}
