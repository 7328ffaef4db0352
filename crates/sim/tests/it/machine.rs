//! Machines are made, changed and given disks.

use std::time::Duration;

use serde_json::Value;
use sim::worlds::homelab;
use sim::{Clock, Sim};

use crate::client::{Client, Reply};

async fn put(client: &Client, path: &str, form: &str) -> Reply {
    let target = format!("/api2/json{path}");
    client.send("PUT", &target, form).await.expect("an answer")
}

async fn config(client: &Client, vm: &str) -> Value {
    client.get(&format!("{vm}/config")).await.data().clone()
}

/// The entry of one key in `pending`.
async fn pending(client: &Client, vm: &str, key: &str) -> Value {
    let reply = client.get(&format!("{vm}/pending")).await;
    let entries = reply.data().as_array().expect("a list").clone();
    let found = entries.into_iter().find(|entry| entry["key"] == key);
    found.unwrap_or_default()
}

#[tokio::test]
async fn a_new_machine_has_its_disk_and_can_start() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve1/qemu/300");
    let form = "vmid=300&name=new&scsi0=local-lvm:8&net0=virtio,bridge=vmbr0&ide2=none,media=cdrom&start=1";
    let upid = client.post("/nodes/pve1/qemu", form).await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let config = config(&client, vm).await;
    assert_eq!(config["scsi0"], "local-lvm:vm-300-disk-0,size=8G");
    assert_eq!(config["boot"], "order=scsi0;ide2;net0");
    let card = config["net0"].as_str().expect("a card");
    assert!(card.starts_with("virtio=BC:24:11:"), "{card}");
    sim.advance(Duration::from_secs(5));
    let status = client.get(&format!("{vm}/status/current")).await;
    assert_eq!(status.data()["status"], "running");
}

#[tokio::test]
async fn a_machine_does_not_start_without_its_bridge_or_disk() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve1/qemu/105");
    let start = format!("{vm}/status/start");
    put(&client, &format!("{vm}/config"), "net0=virtio,bridge=vmbr7").await;
    let upid = client.post(&start, "").await.upid();
    let exit = "start failed: QEMU exited with code 1";
    assert_eq!(client.wait_for("pve1", &upid).await, exit);
    put(&client, &format!("{vm}/config"), "delete=net0").await;
    let disk = "/api2/json/nodes/pve1/storage/local-lvm/content/local-lvm:vm-105-disk-0";
    let upid = client
        .send("DELETE", disk, "")
        .await
        .expect("an answer")
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let upid = client.post(&start, "").await.upid();
    let exit = "volume 'local-lvm:vm-105-disk-0' does not exist";
    assert_eq!(client.wait_for("pve1", &upid).await, exit);
}

#[tokio::test]
async fn a_failed_creation_leaves_nothing() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let form = "vmid=300&scsi0=local-lvm:8&scsi1=local-lvm:8,format=qcow2";
    let upid = client.post("/nodes/pve1/qemu", form).await.upid();
    let exit = "unable to create VM 300 - unsupported format 'qcow2'";
    assert_eq!(client.wait_for("pve1", &upid).await, exit);
    let reply = client.get("/nodes/pve1/qemu/300/config").await;
    assert_eq!(reply.status, 500);
    let content = client
        .get("/nodes/pve1/storage/local-lvm/content?vmid=300")
        .await;
    assert_eq!(content.data().as_array().map(Vec::len), Some(0));
}

#[tokio::test]
async fn a_running_machine_takes_what_it_can_and_the_rest_waits() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve3/qemu/106");
    let form = "cores=2&name=renamed&scsi1=local-lvm:1&ide0=local-lvm:1";
    assert_eq!(
        put(&client, &format!("{vm}/config"), form).await.status,
        200
    );
    let cores = pending(&client, vm, "cores").await;
    assert_eq!((&cores["value"], &cores["pending"]), (&4.into(), &2.into()));
    assert_eq!(pending(&client, vm, "name").await["value"], "renamed");
    let plugged = pending(&client, vm, "scsi1").await;
    assert_eq!(plugged["value"], "local-lvm:vm-106-disk-2,size=1G");
    assert!(pending(&client, vm, "ide0").await["value"].is_null());
    let upid = client.post(&format!("{vm}/status/stop"), "").await.upid();
    assert_eq!(client.wait_for("pve3", &upid).await, "OK");
    let config = config(&client, vm).await;
    assert_eq!(config["cores"], 2);
    assert_eq!(config["ide0"], "local-lvm:vm-106-disk-1,size=1G");
}

#[tokio::test]
async fn a_disk_is_detached_attached_and_destroyed() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve1/qemu/105");
    let change = format!("{vm}/config");
    put(&client, &change, "delete=scsi0").await;
    let detached = config(&client, vm).await;
    assert_eq!(detached["unused0"], "local-lvm:vm-105-disk-0");
    assert_eq!(detached["boot"], " ");
    put(&client, &change, "scsi3=local-lvm:vm-105-disk-0").await;
    let attached = config(&client, vm).await;
    assert_eq!(attached["scsi3"], "local-lvm:vm-105-disk-0,size=16G");
    assert!(attached["unused0"].is_null());
    put(&client, &format!("{vm}/unlink"), "idlist=scsi3&force=1").await;
    assert!(config(&client, vm).await["scsi3"].is_null());
    let content = client
        .get("/nodes/pve1/storage/local-lvm/content?vmid=105")
        .await;
    assert_eq!(content.data().as_array().map(Vec::len), Some(0));
}

#[tokio::test]
async fn a_disk_moves_in_its_time() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve1/qemu/105");
    let form = "disk=scsi0&storage=nas&format=qcow2&delete=1";
    let upid = client.post(&format!("{vm}/move_disk"), form).await.upid();
    sim.advance(Duration::from_secs(1));
    let on_the_way = config(&client, vm).await;
    assert!(
        on_the_way["scsi0"]
            .as_str()
            .is_some_and(|disk| disk.starts_with("local-lvm:"))
    );
    let busy = put(&client, &format!("{vm}/config"), "name=x").await;
    let lock = "can't lock file '/var/lock/qemu-server/lock-105.conf' - got timeout";
    assert_eq!(busy.reason, lock);
    sim.advance(Duration::from_mins(10));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let moved = "nas:105/vm-105-disk-0.qcow2,discard=on,iothread=1,size=16G";
    assert_eq!(config(&client, vm).await["scsi0"], moved);
}

#[tokio::test]
async fn a_machine_comes_back_from_its_backup() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let content = client
        .get("/nodes/pve1/storage/nas/content?content=backup&vmid=105")
        .await;
    let archive = content.data()[0]["volid"]
        .as_str()
        .expect("a backup")
        .to_owned();
    let form = format!("vmid=310&archive={archive}&storage=local-lvm&unique=1");
    let upid = client.post("/nodes/pve1/qemu", &form).await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let restored = config(&client, "/nodes/pve1/qemu/310").await;
    let disk = restored["scsi0"].as_str().expect("a disk");
    assert!(disk.starts_with("local-lvm:vm-310-disk-0,"), "{disk}");
    let old = config(&client, "/nodes/pve1/qemu/105").await;
    assert_ne!(restored["net0"], old["net0"]);
    assert!(restored["lock"].is_null());
}

#[tokio::test]
async fn a_setting_has_one_line() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let refused = "unable to parse value of 'ciuser' - property contains a line feed";
    let reply = put(&client, "/nodes/pve1/qemu/105/config", "ciuser=a%0Ab").await;
    assert!(reply.reason.contains(refused), "{}", reply.reason);
    let form = "vmid=300&name=new&scsi0=local-lvm:8&ciuser=a%0Ab";
    let upid = client.post("/nodes/pve1/qemu", form).await.upid();
    let exit = client.wait_for("pve1", &upid).await;
    assert_eq!(exit, format!("unable to create VM 300 - {refused}"));
    let reply = put(&client, "/nodes/pve1/qemu/105/config", "description=a%0Ab").await;
    assert_eq!(reply.status, 200);
    let reply = put(&client, "/nodes/pve3/lxc/203/config", "timezone=host%0Ax").await;
    assert_ne!(reply.status, 200);
}
