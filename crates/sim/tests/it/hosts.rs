//! Nodes: power, services, and actions on all their guests; and the worlds for scale and for bad days.

use std::time::Duration;

use serde_json::{Value, json};
use sim::worlds::{degraded, fleet, homelab};
use sim::{Clock, Sim, World};

use crate::client::Client;

async fn manual(world: World) -> (Sim, Client) {
    let sim = Sim::builder(world).clock(Clock::Manual);
    let sim = sim.start().await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

async fn log(client: &Client, node: &str, upid: &str) -> Vec<String> {
    let path = format!("/nodes/{node}/tasks/{upid}/log?limit=0");
    let lines = client.get(&path).await;
    let lines = lines.data().as_array().expect("lines").clone();
    let text = |line: &Value| line["t"].as_str().expect("a text").to_owned();
    lines.iter().map(text).collect()
}

#[tokio::test]
async fn a_reboot_takes_two_minutes_and_what_starts_on_boot_comes_back() {
    let (sim, client) = manual(homelab()).await;
    client
        .post("/nodes/pve2/status", "command=reboot")
        .await
        .data();
    assert_eq!(client.get("/nodes/pve2/status").await.status, 595);
    sim.advance(Duration::from_secs(130));
    assert_eq!(client.get("/nodes/pve2/status").await.status, 200);
    let world = homelab();
    let here = world.guests.values().filter(|guest| guest.node == "pve2");
    for guest in here.filter(|guest| !guest.is_template()) {
        let path = format!(
            "/nodes/pve2/{}/{}/status/current",
            guest.kind.name(),
            guest.vmid
        );
        let expected = if guest.config.flag("onboot") {
            "running"
        } else {
            "stopped"
        };
        let status = client.get(&path).await;
        assert_eq!(status.data()["status"], expected, "{path}");
    }
}

#[tokio::test]
async fn services_are_started_and_the_essential_ones_not_stopped() {
    let (sim, client) = manual(homelab()).await;
    let state = async || {
        let state = client.get("/nodes/pve2/services/chrony/state").await;
        state.data()["active-state"].clone()
    };
    assert_eq!(state().await, "failed");
    let upid = client
        .post("/nodes/pve2/services/chrony/start", "")
        .await
        .upid();
    sim.advance(Duration::from_secs(5));
    assert_eq!(client.wait_for("pve2", &upid).await, "OK");
    assert_eq!(state().await, "active");
    let upid = client
        .post("/nodes/pve2/services/pveproxy/stop", "")
        .await
        .upid();
    sim.advance(Duration::from_secs(5));
    assert_eq!(
        client.wait_for("pve2", &upid).await,
        "invalid service cmd 'pveproxy stop': refusing to stop essential service!"
    );
}

#[tokio::test]
async fn an_unused_disk_becomes_a_storage() {
    let (sim, client) = manual(homelab()).await;
    let path = "/nodes/pve3/disks/zfs";
    let taken = client
        .post(path, "name=fast&raidlevel=single&devices=/dev/sda")
        .await;
    assert_eq!(taken.reason, "device '/dev/sda' is already in use");
    let lonely = client
        .post(path, "name=fast&raidlevel=mirror&devices=/dev/sdb")
        .await;
    assert_eq!(lonely.reason, "mirror needs at least 2 disks");
    let form = "name=fast&raidlevel=single&devices=/dev/sdb&add_storage=1";
    let upid = client.post(path, form).await.upid();
    sim.advance(Duration::from_secs(10));
    assert_eq!(client.wait_for("pve3", &upid).await, "OK");
    let unused = client.get("/nodes/pve3/disks/list?type=unused").await;
    assert_eq!(*unused.data(), json!([]));
    let storage = client.get("/nodes/pve3/storage/fast/status").await;
    assert_eq!(storage.data()["type"], "zfspool");
    let pools = client.get(path).await;
    assert_eq!(pools.data()[0]["name"], "fast");
}

#[tokio::test]
async fn a_bulk_action_waits_for_the_tasks_it_starts() {
    let (sim, client) = manual(homelab()).await;
    let path = "/cluster/bulk-action/guest/shutdown";
    let upid = client.post(path, "vms=100&vms=105").await.upid();
    sim.advance(Duration::from_mins(5));
    assert_eq!(client.wait_for("pve1", &upid).await, "WARNINGS: 1");
    assert_eq!(
        log(&client, "pve1", &upid).await,
        [
            "Shutting down guests: 100, 105",
            "WARN: Skipping VM 105, not running.",
            "Shutting down VM 100 (Timeout = 180 seconds)",
            "TASK WARNINGS: 1",
        ]
    );
    let status = client.get("/nodes/pve1/qemu/100/status/current").await;
    assert_eq!(status.data()["status"], "stopped");
}

#[tokio::test]
async fn starting_all_waits_for_quorum() {
    let (sim, client) = manual(homelab()).await;
    sim.world(|world| world.quorum_lost = true);
    let upid = client.post("/nodes/pve1/startall", "").await.upid();
    sim.advance(Duration::from_secs(30));
    assert_eq!(
        log(&client, "pve1", &upid).await,
        ["waiting for quorum ..."]
    );
    sim.world(|world| world.quorum_lost = false);
    sim.advance(Duration::from_secs(30));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!(
        log(&client, "pve1", &upid).await[..2],
        ["waiting for quorum ...", "got quorum"]
    );
}

#[tokio::test]
async fn a_bad_day_shows_everywhere() {
    let (_sim, client) = manual(degraded()).await;
    let nodes = client.get("/cluster/resources?type=node").await;
    let nodes = nodes.data().as_array().expect("nodes").clone();
    let lost = nodes.iter().find(|node| node["node"] == "pve3");
    assert_eq!(lost.expect("pve3")["status"], "offline");
    let storage = client.get("/nodes/pve1/storage/nas/status").await;
    assert_eq!(storage.data()["active"], 0);
    let content = client.get("/nodes/pve1/storage/nas/content").await;
    assert_eq!(content.reason, "storage 'nas' is not online");
    let errors = client
        .get("/nodes/pve2/tasks?errors=1&typefilter=vzdump")
        .await;
    assert_eq!(errors.data().as_array().expect("tasks").len(), 1);
}

#[tokio::test]
async fn a_fleet_is_listed_whole() {
    let (_sim, client) = manual(fleet(1000)).await;
    let guests = client.get("/cluster/resources?type=vm").await;
    assert_eq!(guests.data().as_array().expect("guests").len(), 1000);
    let nodes = client.get("/nodes").await;
    assert_eq!(nodes.data().as_array().expect("nodes").len(), 4);
    assert_eq!(*client.get("/cluster/nextid").await.data(), json!("1100"));
}

#[tokio::test]
async fn each_node_tells_the_cluster_of_what_runs_and_a_few_others() {
    let (sim, client) = manual(homelab()).await;
    for _ in 0..30 {
        client.post("/nodes/pve1/services/chrony/reload", "").await;
        sim.advance(Duration::from_mins(1));
    }
    let ended = client.post("/nodes/pve1/services/chrony/reload", "").await;
    sim.advance(Duration::from_mins(1));
    let running = client.post("/nodes/pve1/services/chrony/reload", "").await;
    let told = client.get("/cluster/tasks").await;
    let told = told.data().as_array().expect("tasks").clone();
    let mut nodes: Vec<_> = told.iter().map(|task| task["node"].clone()).collect();
    nodes.dedup();
    assert_eq!(nodes, ["pve3", "pve2", "pve1"]);
    let here: Vec<_> = told.iter().filter(|task| task["node"] == "pve1").collect();
    assert_eq!(here.len(), 25);
    assert_eq!(here[0]["upid"], *running.data());
    assert_eq!(here[0].get("endtime"), None);
    assert_eq!(here[1]["upid"], *ended.data());
}
