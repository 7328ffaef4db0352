//! What the deletion of a guest takes with it, and what stands in its way.

use sim::worlds::homelab;
use sim::{Sim, World};

use crate::client::{Client, Reply};

async fn delete(client: &Client, path: &str) -> Reply {
    let target = format!("/api2/json/nodes/{path}");
    client.send("DELETE", &target, "").await.expect("an answer")
}

async fn start(world: World) -> (Sim, Client) {
    let sim = Sim::start(world).await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

/// How many disks of VM 105 there are. Its backups do not count: they outlive it.
fn images(world: &World) -> usize {
    let disks = world
        .volumes
        .iter()
        .filter(|volume| volume.vmid == Some(105) && volume.content == "images");
    disks.count()
}

#[tokio::test]
async fn what_stands_in_the_way_shows_at_once() {
    let (_sim, client) = start(homelab()).await;
    for (path, reason) in [
        ("pve1/qemu/100", "VM 100 is running - destroy failed"),
        (
            "pve1/qemu/101",
            "can't remove VM 101 - protection mode enabled",
        ),
        (
            "pve2/qemu/102",
            "unable to remove VM 102 - used in HA resources and purge parameter not set.",
        ),
        (
            "pve2/qemu/102?purge=1",
            "VM 102 is running - destroy failed",
        ),
        (
            "pve2/qemu/103",
            "There is a replication job '103-0' for guest '103' - Please remove that first.",
        ),
        (
            "pve1/lxc/200",
            "unable to destroy CT 200 - container is running",
        ),
        (
            "pve1/qemu/999",
            "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist",
        ),
    ] {
        assert_eq!(delete(&client, path).await.reason, reason, "{path}");
    }
}

#[tokio::test]
async fn a_lock_or_a_linked_clone_shows_in_the_task() {
    let (_sim, client) = start(homelab()).await;
    for (node, path, exit) in [
        ("pve3", "pve3/qemu/107", "VM is locked (backup)"),
        (
            "pve1",
            "pve1/qemu/900",
            "base volume 'nas:900/base-900-disk-0.qcow2' is still in use by linked cloned",
        ),
        (
            "pve1",
            "pve1/lxc/290",
            "base volume 'basevol-290-disk-0' is still in use by linked clones",
        ),
    ] {
        let upid = delete(&client, path).await.upid();
        assert_eq!(client.wait_for(node, &upid).await, exit, "{path}");
    }
}

#[tokio::test]
async fn disks_pool_and_rights_go_and_jobs_stay_without_purge() {
    let (sim, client) = start(homelab()).await;
    let upid = delete(&client, "pve1/qemu/105").await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    sim.world(|world| {
        assert!(!world.guests.contains_key(&105));
        assert_eq!(images(world), 0);
        assert!(!world.pools["lab"].guests.contains(&105));
        assert!(!world.access.acl.iter().any(|rule| rule.path == "/vms/105"));
        let job = &world.backup_jobs["backup-weekly"];
        assert_eq!(job.props["vmid"], "105,200");
    });
    let again = delete(&client, "pve1/qemu/105").await;
    assert_eq!(again.status, 500);
}

#[tokio::test]
async fn purge_reaches_jobs_ha_and_replication() {
    let mut world = homelab();
    world.guests.get_mut(&102).expect("mail").stop();
    let (sim, client) = start(world).await;
    for path in ["pve1/qemu/105", "pve2/qemu/102", "pve2/qemu/103"] {
        let node = &path[..4];
        let upid = delete(&client, &format!("{path}?purge=1")).await.upid();
        assert_eq!(client.wait_for(node, &upid).await, "OK", "{path}");
    }
    let upid = delete(&client, "pve1/lxc/200?purge=1&force=1").await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    sim.world(|world| {
        assert!(!world.backup_jobs.contains_key("backup-weekly"));
        assert!(world.ha_resources.is_empty());
        assert!(world.ha_rules.is_empty());
        assert!(world.replication_jobs.is_empty());
    });
}

#[tokio::test]
async fn unreferenced_disks_go_only_when_asked() {
    for (query, left) in [("", 1), ("?destroy-unreferenced-disks=1", 0)] {
        let mut world = homelab();
        world
            .allocate_image("pve1", "tank", 105, None, None, 1 << 30)
            .expect("an image");
        let (sim, client) = start(world).await;
        let upid = delete(&client, &format!("pve1/qemu/105{query}"))
            .await
            .upid();
        assert_eq!(client.wait_for("pve1", &upid).await, "OK");
        assert_eq!(sim.world(|world| images(world)), left);
    }
}
