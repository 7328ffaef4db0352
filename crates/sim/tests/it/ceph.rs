//! Ceph as PVE shows it, and where it is not installed.

use serde_json::json;
use sim::worlds::homelab;
use sim::{Clock, Sim, World};

use crate::client::Client;

async fn started(world: World) -> (Sim, Client) {
    let sim = Sim::builder(world).clock(Clock::Manual);
    let sim = sim.start().await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

#[tokio::test]
async fn where_it_is_not_installed_only_versions_are_told() {
    let mut world = homelab();
    world.ceph = None;
    let (_sim, client) = started(world).await;
    for path in [
        "/cluster/ceph/status",
        "/nodes/pve1/ceph/osd",
        "/cluster/ceph/metadata",
    ] {
        let answer = client.get(path).await;
        assert_eq!(answer.status, 500, "{path}");
    }
    let versions = client.get("/cluster/ceph/metadata?scope=versions").await;
    assert_eq!(versions.data(), &json!({}));
}

#[tokio::test]
async fn a_disk_in_service_has_its_number_in_the_list_of_disks() {
    let (_sim, client) = started(homelab()).await;
    let disks = client.get("/nodes/pve2/disks/list").await;
    let osds: Vec<_> = disks
        .data()
        .as_array()
        .expect("a list")
        .iter()
        .map(|disk| (disk["devpath"].clone(), disk["osdid"].clone()))
        .filter(|(_, id)| *id != json!(-1))
        .collect();
    assert_eq!(osds, [(json!("/dev/nvme1n1"), json!(1))]);
}

#[tokio::test]
async fn no_token_makes_an_osd() {
    let (_sim, client) = started(homelab()).await;
    let answer = client.post("/nodes/pve3/ceph/osd", "dev=/dev/sdb").await;
    assert_eq!(answer.status, 403);
}
