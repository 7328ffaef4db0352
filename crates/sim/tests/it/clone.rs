//! Clones of machines and containers.

use std::time::Duration;

use serde_json::Value;
use sim::world::access::{Role, Rule, Subject};
use sim::worlds::homelab;
use sim::{Clock, Fault, Sim, World};

use crate::client::Client;

async fn log(client: &Client, upid: &str) -> Vec<String> {
    let reply = client
        .get(&format!("/nodes/pve1/tasks/{upid}/log?limit=0"))
        .await;
    let lines = reply.data().as_array().expect("lines").clone();
    let text = |line: &Value| line["t"].as_str().expect("a text").to_owned();
    lines.iter().map(text).collect()
}

async fn manual() -> (Sim, Client) {
    let sim = Sim::builder(homelab()).clock(Clock::Manual);
    let sim = sim.start().await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

#[tokio::test]
async fn a_full_clone_tells_how_far_it_is_and_is_locked_until_its_end() {
    let (sim, client) = manual().await;
    let form = "newid=120&name=copy&pool=lab&full=1";
    let upid = client.post("/nodes/pve1/qemu/105/clone", form).await.upid();
    sim.advance(Duration::from_secs(10));
    let lines = log(&client, &upid).await;
    assert_eq!(lines[0], "creating a clone of VM 105 with ID 120");
    assert!(lines.contains(&"allocated target volume 'local-lvm:vm-120-disk-0'".to_owned()));
    let last = lines.last().expect("a line");
    assert_eq!(last, "transferred 3.9 GiB of 16.0 GiB (24.39%)");
    let config = client.get("/nodes/pve1/qemu/120/config").await;
    assert_eq!(config.data()["lock"], "clone");
    let again = client.post("/nodes/pve1/qemu/120/clone", "newid=121").await;
    assert_eq!(again.reason, "VM is locked (clone)");

    sim.advance(Duration::from_secs(40));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let lines = log(&client, &upid).await;
    assert!(lines.contains(&"transferred 16.0 GiB of 16.0 GiB (100.00%)".to_owned()));
    let config = client.get("/nodes/pve1/qemu/120/config").await;
    let source = client.get("/nodes/pve1/qemu/105/config").await;
    assert!(config.data()["lock"].is_null());
    assert_eq!(config.data()["name"], "copy");
    assert_eq!(
        config.data()["scsi0"],
        "local-lvm:vm-120-disk-0,discard=on,iothread=1,size=16G"
    );
    for key in ["net0", "smbios1"] {
        assert_ne!(config.data()[key], source.data()[key], "{key}");
    }
    assert!(sim.world(|world| world.pools["lab"].guests.contains(&120)));
}

#[tokio::test]
async fn a_template_is_linked_to() {
    let (sim, client) = manual().await;
    let form = "newid=120&target=pve3";
    let upid = client.post("/nodes/pve1/qemu/900/clone", form).await.upid();
    sim.advance(Duration::from_secs(5));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let config = client.get("/nodes/pve3/qemu/120/config").await;
    assert_eq!(
        config.data()["scsi0"],
        "nas:900/base-900-disk-0.qcow2/120/vm-120-disk-0.qcow2,discard=on,size=16G"
    );
    assert_eq!(config.data()["name"], "Copy-of-VM-debian-13");
    assert!(config.data()["template"].is_null());

    let form = "newid=220&description=a%20copy";
    let linked = client.post("/nodes/pve1/lxc/290/clone", form).await;
    let upid = linked.upid();
    let state =
        |vmid: u32| sim.world(|world| world.guests[&vmid].config.get("lock").map(str::to_owned));
    assert_eq!(state(290).as_deref(), Some("disk"));
    assert_eq!(state(220).as_deref(), Some("create"));
    sim.advance(Duration::from_secs(5));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    assert_eq!((state(290), state(220)), (None, None));
    let config = client.get("/nodes/pve1/lxc/220/config").await;
    assert_eq!(
        config.data()["rootfs"],
        "tank:basevol-290-disk-0/subvol-220-disk-0,size=4G"
    );
    assert_eq!(config.data()["description"], "a copy\n");
}

#[tokio::test]
async fn several_clones_of_one_machine_run_side_by_side() {
    let (sim, client) = manual().await;
    let mut upids = Vec::new();
    for newid in [120, 121] {
        let form = format!("newid={newid}&full=1");
        upids.push(
            client
                .post("/nodes/pve1/qemu/900/clone", &form)
                .await
                .upid(),
        );
    }
    sim.advance(Duration::from_secs(45));
    for upid in upids {
        assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    }
}

#[tokio::test]
async fn nothing_stays_of_a_clone_that_fails_or_is_stopped() {
    let (sim, client) = manual().await;
    let volumes = || sim.world(|world| world.volumes.len());
    let before = volumes();
    sim.fault(Fault::fail_task("qmclone", "qemu-img: no space", "clone failed: no space").times(1));
    let path = "/nodes/pve1/qemu/105/clone";
    let failing = client.post(path, "newid=120").await.upid();
    sim.advance(Duration::from_secs(15));
    assert!(sim.world(|world| world.guests.contains_key(&120)));
    sim.advance(Duration::from_secs(30));
    assert_eq!(
        client.wait_for("pve1", &failing).await,
        "clone failed: no space"
    );
    assert!(!sim.world(|world| world.guests.contains_key(&120)));

    let upid = client.post(path, "newid=120").await.upid();
    sim.advance(Duration::from_secs(15));
    assert_eq!(volumes(), before + 1);
    let target = format!("/api2/json/nodes/pve1/tasks/{upid}");
    client.send("DELETE", &target, "").await.expect("an answer");
    assert_eq!(
        client.wait_for("pve1", &upid).await,
        "clone failed: interrupted by signal"
    );
    assert!(!sim.world(|world| world.guests.contains_key(&120)));
    assert_eq!(volumes(), before);
}

#[tokio::test]
async fn a_taken_id_is_refused_at_once_or_in_the_task() {
    let (sim, client) = manual().await;
    let at_once = [
        (
            "qemu/105",
            100,
            "unable to create VM 100: config file already exists",
        ),
        ("lxc/205", 201, "CT 201 already exists on node 'pve2'"),
        ("lxc/205", 102, "VM 102 already exists on node 'pve2'"),
    ];
    for (source, newid, reason) in at_once {
        let path = format!("/nodes/pve1/{source}/clone");
        let reply = client.post(&path, &format!("newid={newid}")).await;
        assert_eq!(reply.reason, reason);
    }
    for newid in [102, 200] {
        let form = format!("newid={newid}");
        let upid = client
            .post("/nodes/pve1/qemu/105/clone", &form)
            .await
            .upid();
        sim.advance(Duration::from_secs(1));
        let exit = client.wait_for("pve1", &upid).await;
        let file = format!("/etc/pve/nodes/pve1/qemu-server/{newid}.conf");
        let expected = format!("close (rename) atomic file '{file}' failed: File exists");
        assert_eq!(exit, expected);
        assert!(sim.world(|world| world.guests.contains_key(&newid)));
    }
}

#[tokio::test]
async fn a_clone_of_a_running_machine_mirrors_its_disks() {
    let (sim, client) = manual().await;
    let upid = client
        .post("/nodes/pve1/qemu/109/clone", "newid=120")
        .await
        .upid();
    sim.advance(Duration::from_secs(15));
    assert_eq!(client.wait_for("pve1", &upid).await, "OK");
    let lines = log(&client, &upid).await;
    assert!(lines.contains(&"drive mirror is starting for drive-scsi0".to_owned()));
    let end = "drive-scsi0: transferred 4.0 GiB of 4.0 GiB (100.00%) in 11s, ready";
    assert!(lines.contains(&end.to_owned()), "{lines:#?}");
    let running = client.post("/nodes/pve1/lxc/200/clone", "newid=220").await;
    assert_eq!(
        running.reason,
        "Full clone of a running container is only possible from a snapshot"
    );
}

fn grant(world: &mut World, path: &str, privilege: &str) {
    let role = Role {
        privs: [privilege.to_owned()].into(),
        special: false,
    };
    world.access.roles.insert(privilege.to_owned(), role);
    world.access.acl.push(Rule {
        path: path.to_owned(),
        subject: Subject::User("bob@pve".to_owned()),
        role: privilege.to_owned(),
        propagate: true,
    });
}

#[tokio::test]
async fn rights_on_source_target_storage_and_bridge_are_needed() {
    let sim = Sim::start(homelab()).await.expect("starts");
    let (who, secret) = ("bob@pve!power", "b0b00000-0000-4000-8000-000000000001");
    let bob = Client::anonymous(&sim).token(who, secret);
    let path = "/nodes/pve1/qemu/105/clone";
    let space = "/storage/local-lvm";
    let bridge = "/sdn/zones/localnetwork/vmbr0";
    for (missing, at, privilege) in [
        (" (/vms/105, VM.Clone)", "/vms/105", "VM.Clone"),
        ("", "/vms/120", "VM.Allocate"),
        (
            " (/storage/local-lvm, Datastore.AllocateSpace)",
            space,
            "Datastore.AllocateSpace",
        ),
        (
            " (/sdn/zones/localnetwork/vmbr0, SDN.Use)",
            bridge,
            "SDN.Use",
        ),
    ] {
        let reason = format!("Permission check failed{missing}");
        assert_eq!(bob.post(path, "newid=120").await.reason, reason);
        sim.world(|world| grant(world, at, privilege));
    }
    bob.post(path, "newid=120").await.upid();
}
