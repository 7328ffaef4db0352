//! Containers are made, changed and restored.

use std::time::Duration;

use serde_json::Value;
use sim::worlds::homelab;
use sim::{Clock, Sim};

use crate::client::{Client, Reply};

const TEMPLATE: &str = "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst";

async fn start() -> (Sim, Client) {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

async fn put(client: &Client, path: &str, query: &str) -> Reply {
    let target = format!("/api2/json{path}?{query}");
    client.send("PUT", &target, "").await.expect("an answer")
}

async fn config(client: &Client, vmid: u32) -> Value {
    let reply = client.get(&format!("/nodes/pve1/lxc/{vmid}/config")).await;
    reply.data().clone()
}

#[tokio::test]
async fn a_container_comes_from_a_template_with_pves_defaults() {
    let (_sim, client) = start().await;
    let form = format!("vmid=250&ostemplate={TEMPLATE}&storage=local-lvm&hostname=new&start=1");
    let upid = client.post("/nodes/pve1/lxc", &form).await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "WARNINGS: 1");
    let made = config(&client, 250).await;
    assert_eq!(made["rootfs"], "local-lvm:vm-250-disk-0,size=4G");
    assert_eq!(
        (&made["memory"], &made["ostype"]),
        (&512.into(), &"debian".into())
    );
    assert_eq!(made["unprivileged"], 1);
    let status = client.get("/nodes/pve1/lxc/250/status/current").await;
    assert_eq!(status.data()["status"], "running");
}

#[tokio::test]
async fn a_failed_creation_leaves_nothing_behind() {
    let (sim, client) = start().await;
    let before = sim.world(|world| world.volumes.len());
    let form = "vmid=250&ostemplate=local:vztmpl/none.tar.zst&storage=local-lvm";
    let upid = client.post("/nodes/pve1/lxc", form).await.upid();
    assert_eq!(
        client.wait_for("pve1", &upid).await,
        "unable to create CT 250 - volume 'local:vztmpl/none.tar.zst' does not exist"
    );
    let after = sim.world(|world| (world.volumes.len(), world.guests.contains_key(&250)));
    assert_eq!(after, (before, false));
}

#[tokio::test]
async fn an_id_is_taken_while_the_container_is_made() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let client = Client::root(&sim);
    let form = format!("vmid=250&ostemplate={TEMPLATE}&storage=local-lvm");
    client.post("/nodes/pve1/lxc", &form).await.upid();
    assert_eq!(config(&client, 250).await["lock"], "create");
    let again = client.post("/nodes/pve1/lxc", &form).await;
    assert_eq!(again.reason, "CT 250 already exists on node 'pve1'");
    sim.advance(Duration::from_mins(1));
    assert_eq!(config(&client, 250).await.get("lock"), None);
}

#[tokio::test]
async fn some_changes_wait_for_a_restart() {
    let (_sim, client) = start().await;
    let path = "/nodes/pve1/lxc/200";
    let changes = "description=x&memory=640&ostype=ubuntu";
    put(&client, &format!("{path}/config"), changes)
        .await
        .data();
    let now = client.get(&format!("{path}/config?current=1")).await;
    assert_eq!(now.data()["memory"], 640);
    assert_eq!(now.data()["ostype"], "debian");
    let pending = client.get(&format!("{path}/pending")).await;
    let entries = pending.data().as_array().expect("a list").clone();
    let waiting = entries
        .iter()
        .find(|entry| entry["key"] == "ostype")
        .expect("the key");
    assert_eq!(
        (&waiting["value"], &waiting["pending"]),
        (&"debian".into(), &"ubuntu".into())
    );
    let upid = client
        .post(&format!("{path}/status/reboot"), "")
        .await
        .upid();
    client.wait_for("pve1", &upid).await;
    assert_eq!(config(&client, 200).await["ostype"], "ubuntu");
}

#[tokio::test]
async fn a_mount_point_that_goes_leaves_its_volume_unused() {
    let (sim, client) = start().await;
    let path = "/nodes/pve1/lxc/200/config";
    put(&client, path, "mp0=local-lvm:2,mp=/data").await.data();
    let volume = "local-lvm:vm-200-disk-1";
    assert_eq!(
        config(&client, 200).await["mp0"],
        format!("{volume},mp=/data,size=2G")
    );
    put(&client, path, "delete=mp0").await.data();
    let upid = client
        .post("/nodes/pve1/lxc/200/status/shutdown", "")
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(config(&client, 200).await["unused0"], volume);
    put(&client, path, "delete=unused0").await.data();
    assert!(sim.world(|world| world.volume("pve1", volume).is_none()));
}

#[tokio::test]
async fn a_backup_becomes_another_container() {
    let (sim, client) = start().await;
    let backup = "vault:backup/ct/202/2026-11-15T01:00:04Z";
    let form = format!("vmid=252&ostemplate={backup}&restore=1&storage=local-lvm&unique=1");
    let upid = client.post("/nodes/pve1/lxc", &form).await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let made = config(&client, 252).await;
    assert_eq!(made["rootfs"], "local-lvm:vm-252-disk-0,size=32G");
    assert_eq!(made["hostname"], "git");
    let net = made["net0"].as_str().expect("a device");
    assert!(!net.contains("BC:24:11:01:02:02"), "{net}");
    let again = client.post("/nodes/pve1/lxc", &form).await;
    assert_eq!(again.reason, "CT 252 already exists on node 'pve1'");
    let upid = client
        .post("/nodes/pve1/lxc", &format!("{form}&force=1"))
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let disks = sim.world(|world| {
        world
            .volumes
            .iter()
            .filter(|volume| volume.vmid == Some(252))
            .count()
    });
    assert_eq!(disks, 1);
}

#[tokio::test]
async fn volumes_grow_and_move() {
    let (sim, client) = start().await;
    let path = "/nodes/pve1/lxc/205";
    let upid = put(&client, &format!("{path}/resize"), "disk=rootfs&size=%2B1G")
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(
        config(&client, 205).await["rootfs"],
        "tank:basevol-290-disk-0/subvol-205-disk-0,size=5G"
    );
    let smaller = put(&client, &format!("{path}/resize"), "disk=rootfs&size=1G").await;
    assert_eq!(smaller.reason, "unable to shrink disk size");
    let form = "volume=rootfs&storage=local-lvm&delete=1";
    let upid = client
        .post(&format!("{path}/move_volume"), form)
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(
        config(&client, 205).await["rootfs"],
        "local-lvm:vm-205-disk-0,size=5G"
    );
    let left = sim.world(|world| {
        world
            .volumes_on("pve1")
            .any(|volume| volume.name().contains("subvol-205"))
    });
    assert!(!left);
}
