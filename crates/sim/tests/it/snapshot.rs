//! Snapshots: a tree that grows, shrinks and is gone back in.

use std::time::Duration;

use serde_json::Value;
use sim::worlds::homelab;
use sim::{Clock, Fault, Sim};

use crate::client::Client;

async fn manual() -> (Sim, Client) {
    let sim = Sim::builder(homelab()).clock(Clock::Manual);
    let sim = sim.start().await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

/// Snapshots of a guest as `name<parent`, the present last.
async fn tree(client: &Client, guest: &str) -> Vec<String> {
    let reply = client.get(&format!("{guest}/snapshot")).await;
    let entry = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().unwrap_or("-").to_owned();
        format!("{}<{}", text("name"), text("parent"))
    };
    let entries = reply.data().as_array().expect("a list").clone();
    entries.iter().map(entry).collect()
}

async fn delete(client: &Client, path: &str) -> String {
    let target = format!("/api2/json{path}");
    let reply = client.send("DELETE", &target, "").await;
    reply.expect("an answer").upid()
}

#[tokio::test]
async fn a_snapshot_locks_the_config_and_can_be_gone_back_to() {
    let (sim, client) = manual().await;
    let vm = "/nodes/pve1/qemu/105";
    let upid = client
        .post(&format!("{vm}/snapshot"), "snapname=first&description=x")
        .await
        .upid();
    sim.advance(Duration::ZERO);
    let reply = client.get(&format!("{vm}/snapshot")).await;
    assert_eq!(reply.data()[0]["snapstate"], "prepare");
    let locked = client.post(&format!("{vm}/clone"), "newid=120").await;
    assert_eq!(locked.reason, "VM is locked (snapshot)");
    sim.advance(Duration::from_secs(1));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(tree(&client, vm).await, ["first<-", "current<first"]);

    sim.world(|world| {
        let guest = world.guests.get_mut(&105).expect("staging");
        guest.config.set("cores", "7");
        guest.config.set("description", "today");
        guest.config.set("scsi1", "local-lvm:vm-105-disk-1,size=1G");
    });
    let path = format!("{vm}/snapshot/first/rollback");
    let upid = client.post(&path, "start=1").await.upid();
    sim.advance(Duration::from_secs(3));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    sim.world(|world| {
        let guest = &world.guests[&105];
        assert!(guest.is_running(), "start=1");
        assert_ne!(guest.config.get("cores"), Some("7"));
        assert_eq!(guest.config.get("description"), Some("today"));
        assert_eq!(guest.config.get("unused0"), Some("local-lvm:vm-105-disk-1"));
        assert_eq!(guest.config.get("lock"), None);
    });
}

#[tokio::test]
async fn ram_is_saved_beside_the_disks_and_brings_the_machine_back_running() {
    let (sim, client) = manual().await;
    let vm = "/nodes/pve1/qemu/109";
    let form = "snapname=live&vmstate=1";
    let upid = client.post(&format!("{vm}/snapshot"), form).await.upid();
    sim.advance(Duration::from_mins(1));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let state = "local-lvm:vm-109-state-live";
    assert!(sim.world(|world| world.volume("pve1", state).is_some()));
    let config = client.get(&format!("{vm}/snapshot/live/config")).await;
    assert_eq!(config.data()["vmstate"], state);
    assert_eq!(config.data()["runningmachine"], "pc-i440fx-10.0");

    sim.world(|world| world.guests.get_mut(&109).expect("router").stop());
    let path = format!("{vm}/snapshot/live/rollback");
    let upid = client.post(&path, "").await.upid();
    sim.advance(Duration::from_secs(5));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert!(sim.world(|world| world.guests[&109].is_running()));
    let upid = delete(&client, &format!("{vm}/snapshot/live")).await;
    sim.advance(Duration::from_secs(5));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert!(sim.world(|world| world.volume("pve1", state).is_none()));
}

#[tokio::test]
async fn what_comes_after_a_removed_snapshot_moves_up() {
    let (sim, client) = manual().await;
    let ct = "/nodes/pve1/lxc/202";
    let before = tree(&client, ct).await;
    let expected = [
        "before-forgejo-12<-",
        "nightly<before-forgejo-12",
        "current<nightly",
    ];
    assert_eq!(before, expected);
    let upid = delete(&client, &format!("{ct}/snapshot/before-forgejo-12")).await;
    sim.advance(Duration::from_secs(2));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(tree(&client, ct).await, ["nightly<-", "current<nightly"]);
}

#[tokio::test]
async fn what_is_wrong_shows_in_the_task_and_leaves_nothing() {
    let (sim, client) = manual().await;
    let cases = [
        (
            "pve1",
            "qemu/100",
            "snapname=weekly",
            "snapshot name 'weekly' already used",
        ),
        ("pve3", "qemu/107", "snapname=new", "VM is locked (backup)"),
        (
            "pve1",
            "qemu/900",
            "snapname=new",
            "you can't take a snapshot if it's a template",
        ),
        (
            "pve1",
            "lxc/999",
            "snapname=new",
            "Configuration file 'nodes/pve1/lxc/999.conf' does not exist",
        ),
    ];
    for (node, guest, form, exit) in cases {
        let path = format!("/nodes/{node}/{guest}/snapshot");
        let upid = client.post(&path, form).await.upid();
        sim.advance(Duration::from_secs(1));
        assert_eq!(client.wait_for(node, &upid).await, exit, "{guest}");
    }
    sim.fault(Fault::fail_task("qmsnapshot", "no space", "no space left").times(1));
    let path = "/nodes/pve1/qemu/105/snapshot";
    let upid = client.post(path, "snapname=new").await.upid();
    sim.advance(Duration::from_secs(2));
    assert_eq!(client.wait_for("pve1", &upid).await, "no space left");
    sim.world(|world| {
        let guest = &world.guests[&105];
        assert!(guest.snapshots.is_empty() && guest.config.get("lock").is_none());
    });
}

#[tokio::test]
async fn zfs_goes_back_to_the_newest_snapshot_only() {
    let (sim, client) = manual().await;
    let ct = "/nodes/pve1/lxc/205";
    for name in ["first", "second"] {
        let form = format!("snapname={name}");
        let upid = client.post(&format!("{ct}/snapshot"), &form).await.upid();
        sim.advance(Duration::from_secs(2));
        assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    }
    let path = format!("{ct}/snapshot/first/rollback");
    let upid = client.post(&path, "").await.upid();
    sim.advance(Duration::from_secs(2));
    let volume = "tank:basevol-290-disk-0/subvol-205-disk-0";
    let expected = format!("can't rollback, 'first' is not most recent snapshot on '{volume}'");
    assert_eq!(client.wait_for("pve1", &upid).await, expected);
}

#[tokio::test]
async fn a_template_has_base_images_and_no_way_back() {
    let (sim, client) = manual().await;
    let path = "/nodes/pve1/qemu/105/template";
    let upid = client.post(path, "").await.upid();
    sim.advance(Duration::from_secs(1));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let base = "local-lvm:base-105-disk-0";
    assert!(sim.world(|world| world.volume("pve1", base).is_some()));
    let config = client.get("/nodes/pve1/qemu/105/config").await;
    assert_eq!(config.data()["template"], 1);
    let disk = config.data()["scsi0"].as_str().expect("a disk");
    assert!(disk.starts_with(base), "{disk}");
    let again = client.post(path, "").await;
    assert_eq!(again.reason, "you can't convert a template to a template");
    let snapshots = client.post("/nodes/pve1/lxc/202/template", "").await;
    assert_eq!(
        snapshots.reason,
        "unable to create template, because CT contains snapshots"
    );
}
