//! Guests are backed up, and get their peace back afterwards.

use std::time::Duration;

use sim::worlds::homelab;
use sim::{Clock, Sim, World};

use crate::client::Client;

async fn paused() -> (Sim, Client) {
    let sim = Sim::builder(homelab())
        .clock(Clock::Manual)
        .start()
        .await
        .expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

fn lock(world: &World, vmid: u32) -> Option<String> {
    world.guests[&vmid].config.get("lock").map(str::to_owned)
}

#[tokio::test]
async fn a_backup_in_stop_mode_stops_and_restarts_the_guest() {
    let (sim, client) = paused().await;
    let form =
        "vmid=200&storage=vault&mode=stop&notes-template={{guestname}}+on+{{node}}&protected=1";
    let upid = client.post("/nodes/pve1/vzdump", form).await.upid();
    sim.advance(Duration::ZERO);
    let during = sim.world(|world| (world.guests[&200].is_running(), lock(world, 200)));
    assert_eq!(during, (false, Some("backup".to_owned())));
    sim.advance(Duration::from_hours(1));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let after = sim.world(|world| (world.guests[&200].is_running(), lock(world, 200)));
    assert_eq!(after, (true, None));
    let reply = client
        .get("/nodes/pve1/storage/vault/content?vmid=200")
        .await;
    let backups = reply.data().as_array().expect("a list");
    let made = backups.last().expect("a backup");
    assert_eq!(
        (&made["notes"], &made["protected"]),
        (&"dns on pve1".into(), &1.into())
    );
}

#[tokio::test]
async fn a_stopped_job_unlocks_its_guest() {
    let (sim, client) = paused().await;
    let upid = client
        .post("/nodes/pve1/vzdump", "vmid=202&storage=vault")
        .await
        .upid();
    sim.advance(Duration::from_secs(1));
    assert_eq!(
        sim.world(|world| lock(world, 202)).as_deref(),
        Some("backup")
    );
    let target = format!("/api2/json/nodes/pve1/tasks/{upid}");
    client
        .send("DELETE", &target, "")
        .await
        .expect("an answer")
        .data();
    sim.advance(Duration::from_secs(1));
    assert_eq!(sim.world(|world| lock(world, 202)), None);
}

#[tokio::test]
async fn one_bad_guest_does_not_stop_the_others() {
    let (sim, client) = paused().await;
    let upid = client
        .post("/nodes/pve3/vzdump", "vmid=107,203&storage=vault")
        .await
        .upid();
    sim.advance(Duration::from_hours(1));
    assert_eq!(client.wait_for("pve3", &upid).await, "job errors");
    let log = client
        .get(&format!("/nodes/pve3/tasks/{upid}/log?limit=0"))
        .await;
    let lines = log.data().to_string();
    assert!(
        lines.contains("ERROR: Backup of VM 107 failed - VM is locked (backup)"),
        "{lines}"
    );
    assert!(lines.contains("INFO: Finished Backup of VM 203"), "{lines}");
    assert_eq!(
        sim.world(|world| lock(world, 107)).as_deref(),
        Some("backup")
    );
}

#[tokio::test]
async fn guests_of_other_nodes_are_left_alone() {
    let (sim, client) = paused().await;
    let before = sim.world(|world| world.volumes.len());
    let reply = client
        .post("/nodes/pve1/vzdump", "vmid=203&storage=vault")
        .await;
    assert_eq!(reply.data(), "OK");
    assert_eq!(sim.world(|world| world.volumes.len()), before);
}
