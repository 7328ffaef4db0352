//! Codes about nodes, storages and services.

use super::{GIB, found, house, the_one};
use sim::World;
use sim::world::Section;

#[tokio::test]
async fn a_sound_world_has_no_findings() {
    let house = house(|_| {}).await;
    assert_eq!(found(&house, "{}").await, (Vec::new(), Vec::new()));
    let answer = house.call("list_proxmox_findings", "{}").await.unwrap();
    assert_eq!(answer.text, "no findings; every requested check ran\n");
}

#[tokio::test]
async fn storage_nearly_full() {
    let fill = |percent: u64| {
        move |world: &mut World| {
            let used: u64 = world.used_space("pve01", "local-lvm");
            world.storages.get_mut("local-lvm").unwrap().capacity = used * 100 / percent;
        }
    };
    let (object, what) = the_one("storage_nearly_full", fill(87)).await;
    assert_eq!(object, "storage local-lvm");
    assert!(what.starts_with("87 % of "), "{what}");
    let roomy = house(fill(84)).await;
    assert!(found(&roomy, "{}").await.0.is_empty());
    let critical = house(fill(97)).await;
    assert_eq!(
        found(&critical, r#"{"severity": "critical"}"#)
            .await
            .0
            .len(),
        1
    );
    assert_eq!(
        found(&roomy, r#"{"severity": "critical"}"#).await.0.len(),
        0
    );
}

#[tokio::test]
async fn node_memory_overcommitted() {
    let (object, what) = the_one("node_memory_overcommitted", |world| {
        world.nodes.get_mut("pve01").unwrap().memory = 20 * GIB;
    })
    .await;
    assert_eq!(object, "node pve01");
    assert!(
        what.contains("may use 26.0 GiB of its 20.0 GiB (130 %)"),
        "{what}"
    );
}

#[tokio::test]
async fn evacuation_not_possible() {
    let (object, what) = the_one("evacuation_not_possible", |world| {
        world.nodes.get_mut("pve02").unwrap().memory = 20 * GIB;
    })
    .await;
    assert_eq!(object, "node pve01");
    assert!(
        what.starts_with("1 of its 4 running guests would not fit elsewhere"),
        "{what}"
    );
    let alone = house(|world| drop(world.nodes.remove("pve02"))).await;
    assert!(
        found(&alone, "{}").await.0.is_empty(),
        "a node alone is no finding"
    );
}

#[tokio::test]
async fn ha_service_error() {
    let managed = |world: &mut World| {
        let kind = "vm".to_owned();
        let props = [("state".to_owned(), "started".to_owned())].into();
        world
            .ha_resources
            .insert("vm:100".to_owned(), Section { kind, props });
    };
    let (object, what) = the_one("ha_service_error", |world| {
        managed(world);
        world.ha_errors.insert("vm:100".to_owned());
    })
    .await;
    assert_eq!(
        (object.as_str(), what.as_str()),
        ("VM 100 (web-100)", "HA state error, wanted started")
    );
    let well = house(managed).await;
    assert!(found(&well, "{}").await.0.is_empty());
}

#[tokio::test]
async fn update_pending() {
    let (object, what) = the_one("update_pending", |world| {
        let package = |name: &str| sim::world::host::Update {
            package: name.to_owned(),
            title: name.to_owned(),
            old: "1".to_owned(),
            new: "2".to_owned(),
            origin: "Debian".to_owned(),
        };
        let node = world.nodes.get_mut("pve02").unwrap();
        node.updates = ["openssl", "pve-manager"].map(package).to_vec();
    })
    .await;
    assert_eq!(
        (object.as_str(), what.as_str()),
        ("node pve02", "2 updates pending: openssl and pve-manager")
    );
}

#[tokio::test]
async fn certificate_expiring() {
    let ends = |days: i64| {
        move |world: &mut World| {
            let end = world
                .now
                .secs()
                .checked_add_signed(days * 86_400 + 3_600)
                .unwrap();
            world.nodes.get_mut("pve02").unwrap().certificate_end = Some(sim::Time::from_secs(end));
        }
    };
    let (object, what) = the_one("certificate_expiring", ends(12)).await;
    assert_eq!(
        (object.as_str(), what.as_str()),
        ("node pve02", "pve-ssl.pem ends in 12 days")
    );
    let (_, what) = the_one("certificate_expiring", ends(-3)).await;
    assert!(what.starts_with("pve-ssl.pem ended 2 days ago"), "{what}");
    let fresh = house(ends(31)).await;
    assert!(found(&fresh, "{}").await.0.is_empty());
}
