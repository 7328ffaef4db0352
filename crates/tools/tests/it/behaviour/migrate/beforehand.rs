//! What is told before anything is sent: where a guest could go, and what would keep it.

use serde_json::json;
use sim::Fault;
use tools::fault::Kind;
use tools::policy::Mode;

use super::{MIGRATE, preview};
use crate::house::House;

#[tokio::test]
async fn a_wrong_target_lists_the_right_ones() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.set_online("pve3", false);
    for (target, kind, says) in [
        ("pve1", Kind::BadInput, "is on pve1 already"),
        ("pve3", Kind::Unreachable, "the node pve3 is offline"),
        ("pve9", Kind::NotFound, "there is no node pve9"),
    ] {
        let args = format!(r#"{{"vmid": 105, "target": "{target}"}}"#);
        let fault = house.call(MIGRATE, &args).await.unwrap_err();
        assert_eq!(fault.kind, kind, "{fault}");
        assert!(fault.message.contains(says), "{fault}");
        assert_eq!(fault.hint.as_deref(), Some("it can go to pve2"));
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn without_a_target_the_best_node_is_chosen_and_the_reason_told() {
    let house = House::in_mode(Mode::Trusted).await;
    let free = preview(&house, r#"{"vmid": 106, "with_local_disks": true}"#).await;
    assert!(
        free.text.contains("pve1 has the most free memory, "),
        "{}",
        free.text
    );
    // Only pve1 and pve2 have tank.
    let reach = preview(&house, r#"{"vmid": 103}"#).await;
    assert!(
        reach
            .text
            .contains("pve1 is the only node that can take it"),
        "{}",
        reach.text
    );
    house.sim.world(|world| {
        let tank = world.storages.get_mut("tank").unwrap();
        tank.nodes.retain(|node| node == "pve2");
    });
    house.sim.set_online("pve3", false);
    let fault = house.call(MIGRATE, r#"{"vmid": 103}"#).await.unwrap_err();
    assert_eq!(
        fault.message,
        "no node can take VM 103 (files): pve1 does not have the storage tank of VM 103 (files); pve3 is offline"
    );
}

#[tokio::test]
async fn what_pve_would_refuse_is_told_beforehand() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let set = |world: &mut sim::World, vmid: u32, key: &str, value: &str| {
            world.guests.get_mut(&vmid).unwrap().config.set(key, value);
        };
        set(
            world,
            106,
            "ide2",
            "local:iso/systemrescue-12.02-amd64.iso,media=cdrom",
        );
        set(world, 110, "usb0", "host=1234:5678");
        set(world, 110, "hostpci0", "mapping=gpu");
        set(world, 208, "mp1", "/srv/data,mp=/mnt");
    });
    for (args, says, instead) in [
        (
            r#"{"vmid": 109, "target": "pve2"}"#,
            "only pve1 sees its disks scsi0 (local-lvm:vm-109-disk-0, 4.0 GiB)",
            "with_local_disks: true",
        ),
        (
            r#"{"vmid": 100, "target": "pve2", "with_local_disks": true}"#,
            "is part of the snapshots before-upgrade",
            "delete_proxmox_vm_snapshot",
        ),
        (
            r#"{"vmid": 202, "target": "pve2", "restart": true}"#,
            "is part of the snapshots before-forgejo-12 and nightly",
            "delete_proxmox_vm_snapshot",
        ),
        (
            r#"{"vmid": 103, "target": "pve3"}"#,
            "pve3 does not have the storage tank of VM 103 (files)",
            "pve3 has local, local-lvm",
        ),
        (
            r#"{"vmid": 106, "target": "pve1", "with_local_disks": true}"#,
            "local:iso/systemrescue-12.02-amd64.iso is in its CD drive ide2",
            "update_proxmox_vm",
        ),
        (
            r#"{"vmid": 110, "target": "pve1", "with_local_disks": true}"#,
            "uses devices of pve2: usb0",
            "update_proxmox_vm",
        ),
        (
            r#"{"vmid": 208, "target": "pve2"}"#,
            "mp1 is /srv/data, a path of pve1",
            "shared",
        ),
        (
            r#"{"vmid": 205, "target": "pve2"}"#,
            "is a linked clone",
            "full clone",
        ),
        (
            r#"{"vmid": 107, "target": "pve1"}"#,
            "is locked (backup)",
            "wait until",
        ),
        (
            r#"{"vmid": 109, "target": "pve2", "online": false}"#,
            "moves online or with a restart",
            "restart: true",
        ),
        (
            r#"{"vmid": 200, "target": "pve2", "online": true}"#,
            "containers do not move online",
            "restart: true",
        ),
        (
            r#"{"vmid": 105, "target": "pve2", "target_storage": "nope"}"#,
            "there is no storage nope on pve2 that takes its disks",
            "those that do are local-lvm, nas and tank",
        ),
    ] {
        let fault = house.call(MIGRATE, args).await.unwrap_err();
        assert!(fault.message.contains(says), "{args}: {fault}");
        let hint = fault.hint.unwrap();
        assert!(hint.contains(instead), "{args}: {hint}");
    }
    // All of it at once, so that one more call is enough.
    let fault = house
        .call(MIGRATE, r#"{"vmid": 110, "target": "pve1"}"#)
        .await
        .unwrap_err();
    for says in [
        "runs with mapped devices: hostpci0 (gpu)",
        "send restart: true",
        "send with_local_disks: true",
    ] {
        assert!(fault.to_string().contains(says), "{says}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_preview_names_the_disks_the_room_and_the_replica() {
    let house = House::in_mode(Mode::Trusted).await;
    let shown = preview(&house, r#"{"vmid": 103, "target": "pve1"}"#).await;
    for says in [
        "tank:vm-103-disk-0",
        "500.0 GiB",
        "103-0",
        "turns round, to pve2",
    ] {
        assert!(shown.text.contains(says), "{says}: {}", shown.text);
    }
    let tight = preview(
        &house,
        r#"{"vmid": 101, "target": "pve3", "with_local_disks": true}"#,
    )
    .await;
    assert!(
        tight.text.contains("local-lvm:vm-101-disk-1"),
        "{}",
        tight.text
    );
    house.sim.world(|world| {
        let guest = world.guests.get_mut(&101).unwrap();
        guest.config.set("memory", "131072");
    });
    let tight = preview(
        &house,
        r#"{"vmid": 101, "target": "pve3", "with_local_disks": true}"#,
    )
    .await;
    assert!(
        tight
            .text
            .contains("of memory free, and the guest may take 128.0 GiB"),
        "{}",
        tight.text
    );
}

/// PVE refuses to move a running replicated VM anywhere but to its replica.
#[tokio::test]
async fn a_running_replicated_vm_moves_to_its_replica_only() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .world(|world| world.storages.get_mut("tank").unwrap().nodes.clear());
    house
        .call("start_proxmox_vm", r#"{"vmid": 103}"#)
        .await
        .unwrap();
    let args = r#"{"vmid": 103, "target": "pve3", "with_local_disks": true}"#;
    let fault = house.call(MIGRATE, args).await.unwrap_err();
    assert!(fault.message.contains("is replicated to pve1"), "{fault}");
    let chosen = preview(&house, r#"{"vmid": 103, "with_local_disks": true}"#).await;
    assert!(chosen.text.contains("from pve2 to pve1"), "{}", chosen.text);
}

/// 8.4 has groups in place of rules, and says nothing of a container's way.
#[tokio::test]
async fn an_older_pve_is_asked_in_its_own_way() {
    let house = House::in_mode(Mode::Trusted).await;
    let missing = |path: &str| {
        Fault::refuse(501, &format!("Method 'GET {path}' not implemented")).on("GET", path)
    };
    house.sim.fault(missing("/cluster/ha/rules"));
    house.sim.fault(missing("/nodes/*/lxc/*/migrate"));
    house.sim.fault(Fault::answer(
        "GET",
        "/cluster/ha/resources/vm:102",
        json!({"sid": "vm:102", "group": "first"}),
    ));
    house.sim.fault(Fault::answer(
        "GET",
        "/cluster/ha/groups/first",
        json!({"group": "first", "nodes": "pve2", "restricted": 1}),
    ));
    let fault = house
        .call(MIGRATE, r#"{"vmid": 102, "target": "pve1"}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("HA's first keeps"), "{fault}");
    let answer = house
        .call(MIGRATE, r#"{"vmid": 203, "target": "pve1"}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
}

/// Without the right to look at nodes and storages a guest can still be moved; what could not be looked at is said.
#[tokio::test]
async fn a_narrow_token_moves_what_it_may() {
    let house = House::new().await;
    let privileges = &["VM.Audit", "VM.Migrate"];
    let answer = house
        .call_with(("/vms/102", privileges), MIGRATE, r#"{"vmid": 102}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    for says in ["is hidden without Sys.Audit", "not checked: HA rules"] {
        assert!(answer.text.contains(says), "{says}: {}", answer.text);
    }
    let fault = house
        .call_with(("/vms/105", &["VM.Audit"]), MIGRATE, r#"{"vmid": 105}"#)
        .await
        .unwrap_err();
    assert!(
        fault.to_string().contains("VM.Migrate on /vms/105"),
        "{fault}"
    );
}

/// A move takes one storage for all disks, so those of two storages have no way back in one call.
#[tokio::test]
async fn disks_of_two_storages_have_no_plain_way_back() {
    let house = House::new().await;
    let args = r#"{"vmid": 105, "target": "pve2", "target_storage": "tank"}"#;
    let one = preview(&house, args).await;
    assert!(
        one.text.contains(r#""target_storage":"local-lvm""#),
        "{}",
        one.text
    );
    house.set(105, "scsi1", "local:105/vm-105-disk-1.raw,size=4G");
    let two = preview(&house, args).await;
    let words = "its disks came from local and local-lvm";
    assert!(two.text.contains(words), "{}", two.text);
}
