//! Guests are restored: what a backup replaces, what it leaves, and what it takes to bring it back.

use std::time::Duration;

use sim::worlds::homelab;
use sim::{Clock, Sim};

use crate::client::Client;

const OF_STAGING: &str = "nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst";

async fn paused() -> (Sim, Client) {
    let sim = Sim::builder(homelab()).clock(Clock::Manual);
    let sim = sim.start().await.expect("starts");
    let client = Client::root(&sim);
    (sim, client)
}

async fn run(sim: &Sim, client: &Client, path: &str, form: &str) -> String {
    let upid = client.post(path, form).await.upid();
    sim.advance(Duration::from_hours(2));
    client.wait_for("pve1", &upid).await
}

#[tokio::test]
async fn disks_that_the_archive_does_not_have_stay_unused() {
    let (sim, client) = paused().await;
    let before = sim.world(|world| {
        let guest = world.guests.get_mut(&105).expect("staging");
        guest.config.set("scsi1", "local-lvm:vm-105-disk-7,size=4G");
        guest.config.get("vmgenid").map(str::to_owned)
    });
    let form = format!("vmid=105&archive={OF_STAGING}&force=1");
    assert_eq!(run(&sim, &client, "/nodes/pve1/qemu", &form).await, "OK");
    sim.world(|world| {
        let config = &world.guests[&105].config;
        assert_eq!(config.get("unused0"), Some("local-lvm:vm-105-disk-7"));
        assert!(config.get("scsi0").is_some() && config.get("scsi1").is_none());
        assert_ne!(config.get("vmgenid").map(str::to_owned), before);
        assert_eq!(config.get("lock"), None);
    });
}

/// Storages and bridges of the backup are looked at in the task, before the old disks go.
#[tokio::test]
async fn what_the_backup_brings_takes_rights_and_nothing_is_lost_without_them() {
    for (path, privilege) in [
        ("/storage/local-lvm", "Datastore.AllocateSpace"),
        ("/sdn/zones/localnetwork/vmbr0", "SDN.Use"),
    ] {
        let (sim, root) = paused().await;
        let all = [
            ("/vms/105", "VM.Backup"),
            ("/vms/105", "VM.Audit"),
            ("/storage/local-lvm", "Datastore.AllocateSpace"),
            ("/sdn/zones/localnetwork/vmbr0", "SDN.Use"),
        ];
        sim.world(|world| {
            world.add_token("keeper@pve!t", "secret");
            let mut paths: Vec<_> = all.iter().map(|(path, _)| *path).collect();
            paths.dedup();
            for on in paths {
                let held = all.iter().filter(|(at, _)| *at == on);
                let held: Vec<_> = held
                    .map(|(_, held)| *held)
                    .filter(|held| (on, *held) != (path, privilege))
                    .collect();
                world.grant("keeper@pve", on, &held);
            }
        });
        let keeper = Client::root(&sim).token("keeper@pve!t", "secret");
        let form = format!("vmid=105&archive={OF_STAGING}&force=1");
        let upid = keeper.post("/nodes/pve1/qemu", &form).await.upid();
        sim.advance(Duration::from_hours(2));
        let end = root.wait_for("pve1", &upid).await;
        assert_eq!(
            end,
            format!("Permission check failed ({path}, {privilege})")
        );
        let disk = "local-lvm:vm-105-disk-0";
        assert!(sim.world(|world| world.volume("pve1", disk).is_some()));
    }
}

/// A backup that removes none is refused once there are as many as the storage's rule keeps.
#[tokio::test]
async fn a_storages_rule_limits_backups_that_prune_nothing() {
    let (sim, client) = paused().await;
    sim.world(|world| {
        let nas = world.storages.get_mut("nas").expect("the storage");
        let rule = ("prune-backups".to_owned(), "keep-last=1".to_owned());
        nas.props.extend([rule]);
    });
    let path = "/nodes/pve1/vzdump";
    let form = "vmid=105&storage=nas&remove=0";
    assert_eq!(run(&sim, &client, path, form).await, "job errors");
    let form = "vmid=105&storage=nas";
    assert_eq!(run(&sim, &client, path, form).await, "OK");
}
