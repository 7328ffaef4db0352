//! What is offline, broken or hidden is a note, never an error and never nothing.

use serde_json::json;
use sim::{Fault, worlds};

use super::{LIST, in_world};
use crate::house::House;

#[tokio::test]
async fn a_bad_day_becomes_notes() {
    let house = in_world(worlds::degraded()).await;
    for (kind, notes) in [
        (
            "guest",
            &["node pve3 is offline; guests there are shown as last known"][..],
        ),
        (
            "backup",
            &[
                "node pve3 is offline; what is only there is left out",
                "left out: storage nas (PVE says that it is not available)",
            ],
        ),
        (
            "snapshot",
            &["node pve3 is offline; what is only there is left out"],
        ),
    ] {
        let answer = house.list(&json!({"resource_type": kind})).await;
        assert!(answer.data["total"].as_u64().unwrap() > 0, "{kind}");
        assert_eq!(answer.data["notes"], json!(notes), "{kind}");
    }
    let asked = house.sim.requests();
    assert!(asked.iter().all(|one| !one.path.contains("/nodes/pve3/")));
}

#[tokio::test]
async fn a_storage_or_guest_that_fails_does_not_break_the_list() {
    let house = House::new().await;
    house.sim.fault(
        Fault::refuse(500, "mount error: stale file handle").on("GET", "*/storage/nas/content"),
    );
    house
        .sim
        .fault(Fault::refuse(500, "got timeout").on("GET", "*/qemu/100/snapshot"));
    let backups = house.list(&json!({"resource_type": "backup"})).await;
    assert_eq!(backups.data["total"], 6);
    assert!(
        backups.text.contains("left out: storage nas (")
            && backups.text.contains("stale file handle"),
        "{}",
        backups.text
    );
    let snapshots = house.list(&json!({"resource_type": "snapshot"})).await;
    assert_eq!(snapshots.data["total"], 2);
    assert!(
        snapshots.text.contains("left out: VM 100 ("),
        "{}",
        snapshots.text
    );
}

#[tokio::test]
async fn what_a_missing_privilege_hides_is_named() {
    let audit: &[&str] = &["Datastore.Audit", "VM.Audit"];
    for (held, kind, said) in [
        (&[][..], "guest", "VM.Audit nowhere"),
        (&[], "snapshot", "VM.Audit nowhere"),
        (&[], "storage", "Datastore.Audit nowhere"),
        (&[], "iso", "Datastore.Audit nowhere"),
        (&[], "backup", "Datastore.Audit nowhere"),
        (&[], "pool", "Pool.Audit nowhere"),
        (&[], "node", "Sys.Audit on /nodes"),
        (
            audit,
            "backup",
            "backups on local, nas and vault may be hidden: PVE shows them with VM.Backup on their guest and Datastore.AllocateSpace",
        ),
        (
            audit,
            "volume",
            "disks on local-lvm, nas and tank may be hidden: PVE shows them with VM.Config.Disk",
        ),
    ] {
        let house = House::new().await;
        let args = json!({"resource_type": kind}).to_string();
        let answer = house.call_with(("/", held), LIST, &args).await.unwrap();
        assert!(answer.text.contains(said), "{kind}: {}", answer.text);
    }
    for held in [
        &[
            "Datastore.Audit",
            "VM.Audit",
            "Datastore.AllocateSpace",
            "VM.Backup",
        ][..],
        &["Datastore.Audit", "Datastore.Allocate"],
    ] {
        let house = House::new().await;
        let args = json!({"resource_type": "backup"}).to_string();
        let answer = house.call_with(("/", held), LIST, &args).await.unwrap();
        assert_eq!(answer.data["total"], 10, "{held:?}");
        assert!(!answer.text.contains("hidden"), "{held:?}: {}", answer.text);
    }
}
