//! Guests start and stop, in tasks that end while a client polls.

use std::time::Duration;

use sim::worlds::homelab;
use sim::{Clock, Sim};

use crate::client::Client;

async fn state(client: &Client, path: &str) -> String {
    let reply = client.get(&format!("{path}/status/current")).await;
    reply.data()["status"]
        .as_str()
        .expect("a status")
        .to_owned()
}

#[tokio::test]
async fn a_machine_starts_and_shuts_down() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve1/qemu/105");
    let upid = client.post(&format!("{vm}/status/start"), "").await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(state(&client, vm).await, "running");
    let upid = client
        .post(&format!("{vm}/status/shutdown"), "")
        .await
        .upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(state(&client, vm).await, "stopped");
}

#[tokio::test]
async fn nothing_happens_before_its_time() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve1/qemu/105");
    client.post(&format!("{vm}/status/start"), "").await.upid();
    assert_eq!(state(&client, vm).await, "stopped");
    sim.advance(Duration::from_secs(1));
    assert_eq!(state(&client, vm).await, "running");
}

#[tokio::test]
async fn what_is_wrong_with_a_machine_shows_in_the_task() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    for (path, node, exit) in [
        ("/nodes/pve1/qemu/100", "pve1", "VM 100 already running"),
        ("/nodes/pve3/qemu/107", "pve3", "VM is locked (backup)"),
        (
            "/nodes/pve1/qemu/900",
            "pve1",
            "you can't start a vm if it's a template",
        ),
    ] {
        let upid = client
            .post(&format!("{path}/status/start"), "")
            .await
            .upid();
        assert_eq!(client.wait_for(node, &upid).await, exit);
    }
}

#[tokio::test]
async fn a_machine_with_more_processors_than_its_node_does_not_start() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve1/qemu/105");
    for (cores, exit) in [
        (
            "cores=17&sockets=2&vcpus=1",
            "MAX 32 vcpus allowed per VM on this node",
        ),
        ("cores=16&sockets=2", "OK"),
    ] {
        let config = format!("/api2/json{vm}/config");
        let changed = client.send("PUT", &config, cores).await;
        assert_eq!(changed.expect("an answer").status, 200, "{cores}");
        let upid = client.post(&format!("{vm}/status/start"), "").await.upid();
        assert_eq!(client.wait_for("pve1", &upid).await, exit, "{cores}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_container_shows_at_once() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    let reply = client.post("/nodes/pve1/lxc/200/status/start", "").await;
    assert_eq!(
        (reply.status, reply.reason.as_str()),
        (500, "CT 200 already running")
    );
    let reply = client.post("/nodes/pve3/lxc/203/status/stop", "").await;
    assert_eq!(reply.reason, "CT 203 not running");
}

#[tokio::test]
async fn ha_acts_after_its_task_has_ended() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (client, vm) = (Client::root(&sim), "/nodes/pve2/qemu/102");
    let upid = client.post(&format!("{vm}/status/stop"), "").await.upid();
    assert!(upid.contains(":hastop:102:"), "{upid}");
    assert_eq!(client.wait_for("pve2", &upid).await, "OK");
    assert_eq!(state(&client, vm).await, "running");
    sim.advance(Duration::from_secs(30));
    assert_eq!(state(&client, vm).await, "stopped");
}

#[tokio::test]
async fn a_stopped_task_leaves_its_guest_alone() {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let client = Client::root(&sim);
    let upid = client
        .post("/nodes/pve1/qemu/105/status/start", "")
        .await
        .upid();
    let task = format!("/api2/json/nodes/pve1/tasks/{upid}");
    assert_eq!(
        client
            .send("DELETE", &task, "")
            .await
            .expect("an answer")
            .status,
        200
    );
    sim.advance(Duration::from_mins(1));
    assert_eq!(client.wait_for("pve1", &upid).await, "received interrupt");
    assert_eq!(state(&client, "/nodes/pve1/qemu/105").await, "stopped");
}

/// Saved RAM takes more than switching off, and lands on a storage.
#[tokio::test]
async fn hibernating_takes_a_disk_and_room_for_it() {
    let sim = Sim::start(homelab()).await.expect("starts");
    sim.world(|world| {
        world.add_token("eve@pve!t", "secret");
        world.grant("eve@pve", "/vms/106", &["VM.PowerMgmt"]);
    });
    let eve = Client::anonymous(&sim).token("eve@pve!t", "secret");
    let suspend = "/nodes/pve3/qemu/106/status/suspend";
    let missing = eve.post(suspend, "todisk=1").await;
    assert_eq!(
        missing.reason,
        "Permission check failed (/vms/106, VM.Config.Disk)"
    );
    let both = ["VM.PowerMgmt", "VM.Config.Disk"];
    sim.world(|world| world.grant("eve@pve", "/vms/106", &both));
    let missing = eve.post(suspend, "todisk=1").await;
    assert_eq!(
        missing.reason,
        "Permission check failed (/storage/local-lvm, Datastore.AllocateSpace)"
    );
    let space = ["Datastore.AllocateSpace"];
    sim.world(|world| world.grant("eve@pve", "/storage/local-lvm", &space));
    let upid = eve.post(suspend, "todisk=1").await.upid();
    let root = Client::root(&sim);
    assert_eq!(root.wait_for("pve3", &upid).await, "OK");
    let config = root.get("/nodes/pve3/qemu/106/config").await;
    assert_eq!(config.data()["lock"], "suspended");
    let saved = config.data()["vmstate"].as_str().expect("a volume");
    assert!(
        saved.starts_with("local-lvm:vm-106-state-suspend-"),
        "{saved}"
    );
    assert_eq!(state(&root, "/nodes/pve3/qemu/106").await, "stopped");
    let ha = root
        .post("/nodes/pve2/qemu/102/status/suspend", "todisk=1")
        .await;
    assert_eq!(ha.reason, "Cannot suspend HA managed VM to disk");
}
