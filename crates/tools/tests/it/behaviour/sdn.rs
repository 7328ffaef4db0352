//! Guests on virtual networks: what is asked for is the right on the network in its own zone, and on its VLAN.

use std::collections::BTreeMap;

use sim::world::Section;

use crate::house::House;

/// A house whose staging VM is plugged into VLAN 5 of a virtual network, and a token that may clone, start and restore it.
async fn on_a_virtual_network(on_network: &[&str]) -> House {
    let house = House::new().await;
    house.set(105, "net0", "virtio=BC:24:11:00:01:05,bridge=blue,tag=5");
    house.sim.world(|world| {
        let section = |kind: &str, props: &[(&str, &str)]| Section {
            kind: kind.to_owned(),
            props: props
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect::<BTreeMap<_, _>>(),
        };
        world
            .sdn_zones
            .insert("lab".to_owned(), section("simple", &[]));
        let vnet = section("vnet", &[("zone", "lab")]);
        world.sdn_vnets.insert("blue".to_owned(), vnet);
        world.grant("narrow@pve", "/sdn/zones/lab/blue", on_network);
        let disks = ["Datastore.AllocateSpace", "Datastore.Audit"];
        world.grant("narrow@pve", "/storage", &disks);
    });
    house
}

const MAY: (&str, &[&str]) = (
    "/vms",
    &[
        "VM.Allocate",
        "VM.Audit",
        "VM.Backup",
        "VM.Clone",
        "VM.PowerMgmt",
    ],
);

#[tokio::test]
async fn the_right_on_the_network_in_its_zone_is_enough() {
    // With SDN.Use alone the zone cannot be looked up.
    for on_network in [["SDN.Use", "SDN.Audit"].as_slice(), &["SDN.Use"]] {
        let house = on_a_virtual_network(on_network).await;
        let args = r#"{"vmid": 105, "new_vmid": 300, "start": true}"#;
        let answer = house.call_with(MAY, "clone_proxmox_vm", args).await;
        assert_eq!(answer.unwrap().data["status"], "applied", "{on_network:?}");
    }
}

#[tokio::test]
async fn the_missing_one_is_named_in_its_zone_with_its_vlan() {
    let house = on_a_virtual_network(&["SDN.Audit"]).await;
    let args = r#"{"vmid": 105, "new_vmid": 300, "start": true}"#;
    let fault = house.call_with(MAY, "clone_proxmox_vm", args).await;
    let fault = fault.unwrap_err();
    let words = "the token lacks SDN.Use on /sdn/zones/lab/blue/5; nothing was sent";
    assert!(fault.message.contains(words), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_restore_asks_for_it_in_its_zone_too() {
    let house = on_a_virtual_network(&["SDN.Use", "SDN.Audit"]).await;
    let args = r#"{"vmid": 105, "storage": "nas"}"#;
    house.call("backup_proxmox_vm", args).await.unwrap();
    let args = r#"{"vmid": 105, "backup": "latest", "new_vmid": 310, "start": true}"#;
    let answer = house.call_with(MAY, "rollback_proxmox_vm", args).await;
    assert_eq!(answer.unwrap().data["status"], "applied");
}
