//! Codes about guests and what belongs to them.

use std::time::Duration;

use sim::World;
use sim::world::storage::Volume;
use sim::world::{ReplicationTrouble, Section};

use super::{DAY, GIB, found, house, the_one};

#[tokio::test]
async fn guest_without_recent_backup() {
    let gone = |world: &mut World| {
        world
            .volumes
            .retain(|v| !(v.vmid == Some(101) && v.content == "backup"));
    };
    let (object, what) = the_one("guest_without_recent_backup", gone).await;
    assert_eq!(
        (object.as_str(), what.as_str()),
        ("VM 101 (db-101)", "has no backup")
    );
    let old = |world: &mut World| {
        let now = world.now;
        let saved = |v: &&mut Volume| v.vmid == Some(101) && v.content == "backup";
        for volume in world.volumes.iter_mut().filter(saved) {
            volume.created = now - Duration::from_secs(9 * DAY);
        }
    };
    let (_, what) = the_one("guest_without_recent_backup", old).await;
    assert_eq!(what, "last backup 9 days ago");
    let house = house(old).await;
    let (rows, _) = found(&house, r#"{"days": 10}"#).await;
    assert!(rows.is_empty(), "young enough: {rows:?}");
}

#[tokio::test]
async fn backup_job_covers_nobody() {
    let job = |vmid: &str, enabled: &str| Section {
        kind: "vzdump".to_owned(),
        props: [
            ("vmid", vmid),
            ("enabled", enabled),
            ("schedule", "01:00"),
            ("storage", "local"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into(),
    };
    let (object, _) = the_one("backup_job_covers_nobody", |world| {
        world
            .backup_jobs
            .insert("nightly".to_owned(), job("777,778", "1"));
        world
            .backup_jobs
            .insert("weekly".to_owned(), job("100,777", "1"));
        world.backup_jobs.insert("off".to_owned(), job("777", "0"));
    })
    .await;
    assert_eq!(object, "backup job nightly");
}

#[tokio::test]
async fn disk_orphaned_by_a_guest_that_is_gone_or_elsewhere() {
    let disk = |vmid: u32, node: &str, world: &World| {
        let volid = format!("local-lvm:vm-{vmid}-disk-7");
        Volume::image(
            volid,
            Some(node.to_owned()),
            vmid,
            "raw",
            40 * GIB,
            world.now,
        )
    };
    let (object, what) = the_one("disk_orphaned", |world| {
        let volume = disk(777, "pve01", world);
        world.volumes.push(volume);
    })
    .await;
    assert_eq!(object, "volume local-lvm:vm-777-disk-7");
    assert_eq!(what, "40.0 GiB on pve01; there is no guest 777");
    let (_, what) = the_one("disk_orphaned", |world| {
        let volume = disk(100, "pve02", world);
        world.volumes.push(volume);
    })
    .await;
    assert_eq!(what, "40.0 GiB on pve02, but guest 100 is on pve01");
}

#[tokio::test]
async fn disk_orphaned_by_its_own_guest() {
    let disk = |world: &mut World| {
        let volid = "local-lvm:vm-100-disk-7".to_owned();
        let node = Some("pve01".to_owned());
        let volume = Volume::image(volid, node, 100, "raw", 40 * GIB, world.now);
        world.volumes.push(volume);
    };
    let (_, what) = the_one("disk_orphaned", disk).await;
    assert_eq!(what, "40.0 GiB, not in the configuration of 100");
    let set = |key: &'static str| {
        move |world: &mut World| {
            disk(world);
            let guest = world.guests.get_mut(&100).unwrap();
            guest
                .config
                .set(key, "local-lvm:vm-100-disk-7,size=40G".to_owned());
        }
    };
    let (_, what) = the_one("disk_orphaned", set("unused0")).await;
    assert_eq!(what, "40.0 GiB, detached from 100 (unused0)");
    let attached = house(set("scsi1")).await;
    assert!(found(&attached, "{}").await.0.is_empty(), "a disk in use");
    let pending = house(|world| {
        disk(world);
        let guest = world.guests.get_mut(&100).unwrap();
        let value = Some("local-lvm:vm-100-disk-7,size=40G".to_owned());
        guest.pending.insert("scsi1".to_owned(), value);
    })
    .await;
    assert!(
        found(&pending, "{}").await.0.is_empty(),
        "a disk that waits for a restart"
    );
}

#[tokio::test]
async fn a_replica_is_no_orphan() {
    let house = house(|world| {
        let volid = "local-lvm:vm-100-disk-0".to_owned();
        let node = Some("pve02".to_owned());
        let volume = Volume::image(volid, node, 100, "raw", GIB, world.now);
        world.volumes.push(volume);
        add_replication(world);
    })
    .await;
    assert!(found(&house, "{}").await.0.is_empty());
}

fn add_replication(world: &mut World) {
    let props = [("guest", "100"), ("target", "pve02"), ("schedule", "*/15")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let kind = "local".to_owned();
    world
        .replication_jobs
        .insert("100-0".to_owned(), Section { kind, props });
}

#[tokio::test]
async fn replication_behind() {
    let trouble = |fail_count: u32| {
        move |world: &mut World| {
            add_replication(world);
            let trouble = ReplicationTrouble {
                last_sync: world.now - Duration::from_hours(5),
                fail_count,
                error: "no route to host".to_owned(),
            };
            world
                .replication_trouble
                .insert("100-0".to_owned(), trouble);
        }
    };
    let (object, what) = the_one("replication_behind", trouble(3)).await;
    assert_eq!(object, "VM 100 (web-100)");
    assert!(
        what.starts_with("job 100-0 to pve02 failed 3 times: no route to host; last copy 5 h"),
        "{what}"
    );
    let (_, what) = the_one("replication_behind", trouble(0)).await;
    assert!(what.contains("overdue by 4 h"), "{what}");
    let on_time = house(add_replication).await;
    assert!(found(&on_time, "{}").await.0.is_empty());
}

#[tokio::test]
async fn snapshot_old() {
    let taken = |days: u64| {
        move |world: &mut World| {
            let time = world.now - Duration::from_secs(days * DAY);
            let guest = world.guests.get_mut(&102).unwrap();
            let snapshot = sim::world::guest::Snapshot {
                name: "before".to_owned(),
                parent: None,
                time,
                description: String::new(),
                config: guest.config.clone(),
                vmstate: None,
                state: None,
            };
            guest.snapshots.push(snapshot);
        }
    };
    let (object, what) = the_one("snapshot_old", taken(45)).await;
    assert_eq!(
        (object.as_str(), what.as_str()),
        (
            "container 102 (cache-102)",
            "snapshot before is 45 days old"
        )
    );
    let young = house(taken(30)).await;
    assert!(found(&young, "{}").await.0.is_empty());
}
