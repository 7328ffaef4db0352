//! Backups that cannot be listed, and backups that others make or change between preview and start.

use sim::Fault;

use crate::house::House;

const BACKUP: &str = "backup_proxmox_vm";

/// Without a list of the old ones, a new one could not be told from them.
#[tokio::test]
async fn what_cannot_be_listed_is_said_and_nothing_is_sent() {
    let house = House::new().await;
    let offline = Fault::refuse(500, "storage 'nas' is not online");
    house
        .sim
        .fault(offline.on("GET", "/nodes/*/storage/nas/content"));
    let args = r#"{"vmid": 105, "storage": "nas"}"#;
    let shown = house.preview(BACKUP, args).await.unwrap();
    let words = "a new one could not be told from them";
    assert!(shown.text.contains(words), "{}", shown.text);
    house.call(BACKUP, args).await.unwrap_err();
    assert_eq!(house.writes(), [""; 0]);
}

/// A job made one meanwhile. It would be taken for ours.
#[tokio::test]
async fn a_backup_that_a_job_made_meanwhile_gives_a_new_preview() {
    let house = House::new().await;
    let args = r#"{"vmid": 200, "storage": "nas", "mode": "stop"}"#;
    let asked = house.call(BACKUP, args).await.unwrap();
    add_one(&house);
    let confirm = asked.data["confirm"].as_str().unwrap();
    let args =
        format!(r#"{{"vmid": 200, "storage": "nas", "mode": "stop", "confirm": "{confirm}"}}"#);
    assert_asked_again(&house, &args, "the backups of container 200 (dns) on nas").await;
}

/// What a person agreed to lose is lost, and nothing else.
#[tokio::test]
async fn other_backups_than_the_person_saw_are_not_pruned() {
    for change in [add_one, unprotect] {
        let house = House::new().await;
        house.sim.world(|world| protect_first(world, true));
        let args = r#"{"vmid": 200, "storage": "nas", "keep_last": 1}"#;
        let asked = house.call(BACKUP, args).await.unwrap();
        assert_eq!(asked.data["risk"], "destroy", "{}", asked.text);
        house.approve(asked.data["plan"].as_str().unwrap()).await;
        change(&house);
        assert_asked_again(&house, args, "changed since the last preview: ").await;
    }
}

async fn assert_asked_again(house: &House, args: &str, words: &str) {
    let again = house.call(BACKUP, args).await.unwrap();
    assert_eq!(again.data["status"], "needs_confirmation", "{}", again.text);
    assert!(again.text.contains(words), "{}", again.text);
    assert_eq!(house.writes(), [""; 0]);
}

fn is_one(volume: &sim::world::storage::Volume) -> bool {
    volume.vmid == Some(200) && volume.content == "backup" && volume.volid.starts_with("nas:")
}

fn add_one(house: &House) {
    house.sim.world(|world| {
        let mut new = world.volumes.iter().find(|it| is_one(it)).unwrap().clone();
        "nas:backup/vzdump-lxc-200-2026_11_15-12_00_00.tar.zst".clone_into(&mut new.volid);
        world.volumes.push(new);
    });
}

fn unprotect(house: &House) {
    house.sim.world(|world| protect_first(world, false));
}

fn protect_first(world: &mut sim::World, protected: bool) {
    let mut all = world.volumes.iter_mut();
    all.find(|it| is_one(it)).unwrap().protected = protected;
}
