//! Guests move to other nodes.

use std::time::Duration;

use serde_json::{Value, json};
use sim::worlds::homelab;
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
    let reply = client.get(&path).await;
    let text = |line: &Value| line["t"].as_str().expect("a text").to_owned();
    reply
        .data()
        .as_array()
        .expect("lines")
        .iter()
        .map(text)
        .collect()
}

/// Starts a migration, lets it end, and answers exit status and log.
async fn migrate(
    sim: &Sim,
    client: &Client,
    node: &str,
    guest: &str,
    form: &str,
) -> (String, Vec<String>) {
    let path = format!("/nodes/{node}/{guest}/migrate");
    let upid = client.post(&path, form).await.upid();
    sim.advance(Duration::from_mins(10));
    let exit = client.wait_for(node, &upid).await;
    (exit, log(client, node, &upid).await)
}

#[tokio::test]
async fn preconditions_name_local_disks_and_missing_storages() {
    let (_sim, client) = manual(homelab()).await;
    let answer = client.get("/nodes/pve2/qemu/103/migrate").await;
    let answer = answer.data();
    assert_eq!(answer["running"], 0);
    assert_eq!(answer["allowed_nodes"], json!(["pve1"]));
    let missing = &answer["not_allowed_nodes"]["pve3"]["unavailable_storages"];
    assert_eq!(*missing, json!(["tank"]));
    let disk = &answer["local_disks"][0];
    assert_eq!(disk["volid"], "tank:vm-103-disk-0");
    assert_eq!(disk["drivename"], "scsi0");
    let shared = client.get("/nodes/pve2/qemu/102/migrate").await;
    assert_eq!(shared.data()["local_disks"], json!([]));
    let container = client.get("/nodes/pve1/lxc/200/migrate").await;
    assert_eq!(container.data()["allowed-nodes"], json!(["pve2", "pve3"]));
}

#[tokio::test]
async fn what_is_wrong_shows_at_once_or_in_the_task() {
    let (sim, client) = manual(homelab()).await;
    for (node, guest, form, reason) in [
        (
            "pve1",
            "qemu/100",
            "target=pve2",
            "can't migrate running VM without --online",
        ),
        (
            "pve1",
            "qemu/105",
            "target=nope",
            "no such cluster node 'nope'",
        ),
        (
            "pve2",
            "qemu/103",
            "target=pve3",
            "storage 'tank' is not available on node 'pve3'",
        ),
        ("pve3", "qemu/107", "target=pve1", "VM is locked (backup)"),
        (
            "pve1",
            "lxc/200",
            "target=pve2",
            "can't migrate running container without --online or --restart",
        ),
    ] {
        let reply = client
            .post(&format!("/nodes/{node}/{guest}/migrate"), form)
            .await;
        assert_eq!(reply.reason, reason, "{guest}");
    }
    let (exit, lines) = migrate(&sim, &client, "pve1", "lxc/200", "target=pve2&online=1").await;
    assert_eq!(exit, "migration aborted");
    let end =
        "migration aborted (duration 00:00:00): lxc live migration is currently not implemented";
    assert!(lines[0].ends_with(end), "{lines:#?}");
    let (exit, lines) = migrate(&sim, &client, "pve1", "qemu/109", "target=pve2&online=1").await;
    assert_eq!(exit, "migration aborted");
    let said = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(said(
        "can't live migrate attached local disks without with-local-disks option"
    ));
    assert!(said(
        "Problem found while scanning volumes - can't migrate VM - check log"
    ));
    assert!(sim.world(|world| world.guests[&109].config.get("lock").is_none()));
}

#[tokio::test]
async fn a_stopped_machine_takes_its_disks_along() {
    let (sim, client) = manual(homelab()).await;
    let upid = client
        .post(
            "/nodes/pve1/qemu/105/migrate",
            "target=pve2&targetstorage=tank",
        )
        .await
        .upid();
    sim.advance(Duration::from_secs(5));
    let config = client.get("/nodes/pve1/qemu/105/config").await;
    assert_eq!(config.data()["lock"], "migrate");
    sim.advance(Duration::from_mins(1));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let config = client.get("/nodes/pve2/qemu/105/config").await;
    let disk = "tank:vm-105-disk-0,discard=on,iothread=1,size=16G";
    assert_eq!(config.data()["scsi0"], disk);
    assert!(config.data()["lock"].is_null());
    sim.world(|world| {
        assert!(world.volume("pve2", "tank:vm-105-disk-0").is_some());
        assert!(world.volume("pve1", "local-lvm:vm-105-disk-0").is_none());
    });
}

#[tokio::test]
async fn a_running_machine_stays_where_it_can_run() {
    let mut world = homelab();
    world
        .guests
        .get_mut(&109)
        .unwrap()
        .config
        .set("cores", "12");
    let (sim, client) = manual(world).await;
    let form = "target=pve3&online=1&with-local-disks=1";
    let (exit, lines) = migrate(&sim, &client, "pve1", "qemu/109", form).await;
    assert_eq!(exit, "migration problems", "{lines:#?}");
    let said = "[pve3] MAX 8 vcpus allowed per VM on this node";
    assert!(lines.iter().any(|line| line.ends_with(said)), "{lines:#?}");
    sim.world(|world| {
        let guest = &world.guests[&109];
        assert!(guest.is_running() && guest.node == "pve1");
        assert!(guest.config.get("lock").is_none());
        assert!(world.volume("pve3", "local-lvm:vm-109-disk-0").is_none());
    });
}

#[tokio::test]
async fn a_running_machine_moves_without_a_stop() {
    let (sim, client) = manual(homelab()).await;
    let form = "target=pve3&online=1&with-local-disks=1";
    let (exit, lines) = migrate(&sim, &client, "pve1", "qemu/109", form).await;
    assert_eq!(exit, "OK", "{lines:#?}");
    let end = &lines[lines.len() - 2];
    assert!(
        end.contains("migration finished successfully (duration 00:00:"),
        "{end}"
    );
    sim.world(|world| {
        let guest = &world.guests[&109];
        assert_eq!(guest.node, "pve3");
        assert!(guest.is_running() && guest.config.get("lock").is_none());
        assert!(world.volume("pve3", "local-lvm:vm-109-disk-0").is_some());
    });
}

#[tokio::test]
async fn a_container_goes_down_and_comes_up_elsewhere() {
    let (sim, client) = manual(homelab()).await;
    let form = "target=pve3&restart=1";
    let (exit, lines) = migrate(&sim, &client, "pve1", "lxc/200", form).await;
    assert_eq!(exit, "OK", "{lines:#?}");
    let on_pve3 = sim.world(|world| {
        let guest = &world.guests[&200];
        guest.node == "pve3" && guest.is_running()
    });
    assert!(on_pve3);
}

#[tokio::test]
async fn a_snapshot_on_lvm_keeps_a_guest_where_it_is() {
    let (sim, client) = manual(homelab()).await;
    let (exit, lines) = migrate(&sim, &client, "pve1", "lxc/202", "target=pve2&restart=1").await;
    assert_eq!(exit, "migration aborted");
    let said = lines
        .iter()
        .any(|line| line.contains("non-migratable snapshot exists"));
    assert!(said, "{lines:#?}");
    assert!(sim.world(|world| world.guests[&202].is_running()));
}

#[tokio::test]
async fn ha_moves_what_it_manages_unless_it_is_frozen() {
    for frozen in [false, true] {
        let mut world = homelab();
        world.ha_frozen = frozen;
        let (sim, client) = manual(world).await;
        let form = "target=pve1&online=1";
        let (exit, lines) = migrate(&sim, &client, "pve2", "qemu/102", form).await;
        assert_eq!(exit, "OK");
        assert_eq!(lines[0], "Requesting HA migration for VM 102 to node pve1");
        let node = sim.world(|world| world.guests[&102].node.clone());
        assert_eq!(node, if frozen { "pve2" } else { "pve1" });
    }
}

#[tokio::test]
async fn ha_keeps_apart_and_together_what_its_rules_say() {
    let mut world = homelab();
    for sid in ["vm:100", "ct:201"] {
        let mut resource = world.ha_resources["vm:102"].clone();
        sid[..2].clone_into(&mut resource.kind);
        world.ha_resources.insert(sid.to_owned(), resource);
    }
    for (name, affinity, resources) in [
        ("apart", "negative", "vm:100,vm:102"),
        ("friends", "positive", "vm:102,ct:201"),
    ] {
        let props = [("affinity", affinity), ("resources", resources)];
        let rule = sim::world::Section {
            kind: "resource-affinity".to_owned(),
            props: props
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
        };
        world.ha_rules.insert(name.to_owned(), rule);
    }
    let (sim, client) = manual(world).await;
    let answer = client.get("/nodes/pve2/qemu/102/migrate").await;
    let answer = answer.data();
    assert_eq!(answer["dependent-ha-resources"], json!(["ct:201"]));
    assert_eq!(answer["allowed_nodes"], json!(["pve3"]));
    assert_eq!(
        answer["not_allowed_nodes"]["pve1"]["blocking-ha-resources"],
        json!([{ "sid": "vm:100", "cause": "resource-affinity" }])
    );
    let node = |vmid: u32| sim.world(|world| world.guests[&vmid].node.clone());
    let (exit, _) = migrate(&sim, &client, "pve2", "qemu/102", "target=pve1&online=1").await;
    assert_eq!((exit.as_str(), node(102).as_str()), ("OK", "pve2"));
    migrate(&sim, &client, "pve2", "qemu/102", "target=pve3&online=1").await;
    assert_eq!((node(102).as_str(), node(201).as_str()), ("pve3", "pve3"));
}
