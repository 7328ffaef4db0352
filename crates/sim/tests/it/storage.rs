//! What storages show of their volumes, and what becomes of volumes.

use serde_json::Value;
use sim::Sim;
use sim::worlds::homelab;

use crate::client::{Client, Reply};

pub(crate) async fn start() -> (Sim, Client) {
    let sim = Sim::start(homelab()).await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

async fn send(client: &Client, method: &str, path: &str) -> Reply {
    let target = format!("/api2/json{path}");
    client.send(method, &target, "").await.expect("an answer")
}

pub(crate) async fn content(client: &Client, query: &str) -> Vec<Value> {
    let reply = client.get(&format!("/nodes/pve1/storage/{query}")).await;
    reply.data().as_array().expect("a list").clone()
}

#[tokio::test]
async fn the_base_of_a_linked_clone_is_told_by_type() {
    let (_sim, client) = start().await;
    let files = content(&client, "nas/content?vmid=111").await;
    let volid = "nas:900/base-900-disk-0.qcow2/111/vm-111-disk-0.qcow2";
    let clone = files.iter().find(|volume| volume["volid"] == volid);
    assert_eq!(
        clone.expect("the disk")["parent"],
        "../900/base-900-disk-0.qcow2"
    );
    let datasets = content(&client, "tank/content?vmid=205").await;
    assert_eq!(datasets[0]["parent"], "basevol-290-disk-0@__base__");
    assert_eq!(datasets[0]["content"], "rootdir");
    let thin = content(&client, "local-lvm/content?vmid=200").await;
    assert_eq!(thin[0].get("parent"), None);
}

#[tokio::test]
async fn backups_of_a_backup_server_name_their_guest() {
    let (_sim, client) = start().await;
    let backups = content(&client, "vault/content?content=backup&vmid=202").await;
    assert_eq!(backups.len(), 2);
    assert_eq!(backups[0]["subtype"], "lxc");
    assert_eq!(backups[0]["format"], "pbs-ct");
    assert_eq!(backups[0]["notes"], "git");
}

#[tokio::test]
async fn a_volume_goes_although_a_guest_uses_it_but_a_base_image_stays() {
    let (sim, client) = start().await;
    let path = "/nodes/pve1/storage/local-lvm/content/local-lvm:vm-202-disk-0";
    let upid = send(&client, "DELETE", path).await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let gone = sim.world(|world| world.volume("pve1", "local-lvm:vm-202-disk-0").is_none());
    assert!(gone);
    let path = "/nodes/pve1/storage/nas/content/nas:900/base-900-disk-0.qcow2";
    let upid = send(&client, "DELETE", path).await.upid();
    assert_eq!(
        client.wait_for("pve1", &upid).await,
        "base volume '900/base-900-disk-0.qcow2' is still in use by linked clones"
    );
    let reply = send(&client, "DELETE", &format!("{path}?delay=5")).await;
    assert_eq!(reply.status, 500);
}

#[tokio::test]
async fn pruning_keeps_the_newest_and_the_protected() {
    let (_sim, client) = start().await;
    let rule = "prune-backups=keep-last%3D1";
    let marks = content(&client, &format!("nas/prunebackups?{rule}")).await;
    let mark = |part: &str| {
        let found = marks
            .iter()
            .find(|entry| entry["volid"].as_str().is_some_and(|id| id.contains(part)));
        found.expect("a backup")["mark"].clone()
    };
    assert_eq!(mark("lxc-200-2026_11_08"), "keep");
    assert_eq!(mark("lxc-200-2026_11_01"), "remove");
    assert_eq!(mark("qemu-103"), "protected");
    let path = format!("/nodes/pve1/storage/nas/prunebackups?{rule}");
    let upid = send(&client, "DELETE", &path).await.upid();
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let left = content(&client, "nas/content?content=backup&vmid=200").await;
    assert_eq!(left.len(), 1);
}

#[tokio::test]
async fn a_storage_can_be_defined_turned_off_and_forgotten() {
    let (_sim, client) = start().await;
    let form = "storage=scratch&type=dir&path=/srv/scratch&content=iso&nodes=pve1";
    client.post("/storage", form).await.data();
    let status = client.get("/nodes/pve1/storage/scratch/status").await;
    assert_eq!(status.data()["active"], 1);
    assert_eq!(
        client
            .get("/nodes/pve2/storage/scratch/status")
            .await
            .data()["active"],
        0
    );
    send(&client, "PUT", "/storage/scratch?disable=1")
        .await
        .data();
    let reply = client.get("/nodes/pve1/storage/scratch/content").await;
    assert_eq!(reply.reason, "storage 'scratch' is disabled");
    send(&client, "DELETE", "/storage/scratch").await.data();
    let reply = client.get("/storage/scratch").await;
    assert_eq!(reply.reason, "storage 'scratch' does not exist");
}
