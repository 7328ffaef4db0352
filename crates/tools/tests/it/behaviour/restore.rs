//! Restoring a backup: over the guest, beside it, and after it is gone.

use serde_json::{Value, json};
use tools::fault::Kind;
use tools::policy::Mode;

use crate::house::House;

const OF_STAGING: &str = "nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst";

fn effects<'a>(data: &'a serde_json::Map<String, Value>, effect: &str) -> Vec<&'a str> {
    let all = data["affects"].as_array().unwrap().iter();
    all.filter(|item| item["effect"] == effect)
        .map(|item| item["id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn over_a_vm_its_disks_and_snapshots_go_and_others_stay() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("snapshot_proxmox_vm", r#"{"vmid": 105, "name": "today"}"#)
        .await
        .unwrap();
    house.set(105, "scsi1", "local-lvm:vm-105-disk-7,size=4G");
    house.set(105, "cores", "7");
    let args = r#"{"vmid": 105, "backup": "latest"}"#;
    let preview = house.preview("rollback_proxmox_vm", args).await.unwrap();
    assert_eq!(
        effects(&preview.data, "destroyed"),
        ["105", "local-lvm:vm-105-disk-0", "today"]
    );
    assert_eq!(effects(&preview.data, "kept"), ["local-lvm:vm-105-disk-7"]);
    assert_eq!(effects(&preview.data, "created"), ["scsi0 on local-lvm"]);
    for words in [OF_STAGING, "2.2 GiB", "cores 7 -> 2", "is lost"] {
        assert!(preview.text.contains(words), "{words}: {}", preview.text);
    }
    house.call("rollback_proxmox_vm", args).await.unwrap();
    assert_eq!(house.config(105, "cores").as_deref(), Some("2"));
    assert_eq!(
        house.config(105, "unused0").as_deref(),
        Some("local-lvm:vm-105-disk-7")
    );
    assert!(!house.runs(105));
}

#[tokio::test]
async fn a_running_guest_is_not_overwritten() {
    let house = House::in_mode(Mode::Trusted).await;
    for vmid in [100, 202] {
        let args = format!(r#"{{"vmid": {vmid}, "backup": "latest"}}"#);
        let fault = house.call("rollback_proxmox_vm", &args).await.unwrap_err();
        assert!(fault.message.contains("is running"), "{fault}");
        let hint = fault.hint.unwrap();
        assert!(
            hint.contains("stop_proxmox_vm") && hint.contains("new_vmid"),
            "{hint}"
        );
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_container_goes_where_it_was_and_pves_default_does_not_decide() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("stop_proxmox_vm", r#"{"vmid": 202}"#)
        .await
        .unwrap();
    let before = house.config(202, "rootfs");
    let answer = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 202, "backup": "latest", "start": true}"#,
        )
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let after = house.config(202, "rootfs");
    assert!(after.as_deref().unwrap().starts_with("local-lvm:"));
    assert_ne!(after, before, "a new volume");
    assert!(house.runs(202));
}

#[tokio::test]
async fn beside_the_guest_it_gets_addresses_of_its_own() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 100, "backup": "vault:backup/vm/100/2026-11-14T01:00:05Z", "new_vmid": 310, "start": true}"#,
        )
        .await
        .unwrap();
    assert_eq!(answer.data["risk"], "change");
    assert_eq!(answer.data["undo"]["arguments"]["vmid"], 310);
    assert_ne!(house.config(310, "net0"), house.config(100, "net0"));
    assert_ne!(house.config(310, "smbios1"), house.config(100, "smbios1"));
    assert!(house.runs(310) && house.runs(100));
}

#[tokio::test]
async fn a_taken_id_is_refused() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 100, "backup": "latest", "new_vmid": 105}"#,
        )
        .await
        .unwrap_err();
    assert_eq!(fault.message, "the vmid 105 is taken");
}

#[tokio::test]
async fn a_deleted_guest_comes_back() {
    let house = House::in_mode(Mode::Trusted).await;
    let mac = house.config(105, "net0");
    house
        .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    let fault = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 105, "backup": "latest"}"#,
        )
        .await
        .unwrap_err();
    assert!(fault.hint.unwrap().contains("send node"));
    let answer = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 105, "backup": "latest", "node": "pve2"}"#,
        )
        .await
        .unwrap();
    assert_eq!(answer.data["risk"], "change", "nothing is destroyed");
    assert_eq!(house.config(105, "net0"), mac, "the very same guest");
}

#[tokio::test]
async fn the_latest_is_the_newest_of_all_storages() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("backup_proxmox_vm", r#"{"vmid": 200, "storage": "vault"}"#)
        .await
        .unwrap();
    let preview = house
        .preview(
            "rollback_proxmox_vm",
            r#"{"vmid": 200, "backup": "latest", "new_vmid": 310}"#,
        )
        .await
        .unwrap();
    assert!(
        preview.text.contains("vault:backup/ct/200/"),
        "{}",
        preview.text
    );
}

#[tokio::test]
async fn a_wrong_backup_is_answered_with_those_there_are() {
    let house = House::in_mode(Mode::Trusted).await;
    let of_another =
        r#"{"vmid": 103, "backup": "nas:backup/vzdump-qemu-105-2026_11_08-03_00_02.vma.zst"}"#;
    let fault = house
        .call("rollback_proxmox_vm", of_another)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::NotFound);
    assert!(
        fault
            .hint
            .unwrap()
            .contains("vzdump-qemu-103-2026_09_01-10_12_00")
    );
    let fault = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 106, "backup": "latest"}"#,
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("no backup of guest 106"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_storage_that_cannot_take_the_disks_is_answered_with_those_that_can() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, others) in [
        (
            r#"{"vmid": 105, "backup": "latest", "storage": "local"}"#,
            "local-lvm, nas and tank",
        ),
        (
            r#"{"vmid": 202, "backup": "latest", "new_vmid": 310, "storage": "nas"}"#,
            "local-lvm and tank",
        ),
    ] {
        let fault = house.call("rollback_proxmox_vm", args).await.unwrap_err();
        assert!(fault.message.contains("takes no disks"), "{fault}");
        assert!(fault.hint.as_deref().unwrap().contains(others), "{fault}");
    }
}

/// A container's mount point without the backup flag is made anew, with nothing on it.
#[tokio::test]
async fn what_was_left_out_of_the_backup_comes_back_empty_and_that_is_said() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("backup_proxmox_vm", r#"{"vmid": 208, "storage": "nas"}"#)
        .await
        .unwrap();
    let preview = house
        .preview(
            "rollback_proxmox_vm",
            r#"{"vmid": 208, "backup": "latest"}"#,
        )
        .await
        .unwrap();
    assert!(
        preview.text.contains("mp0 comes back empty"),
        "{}",
        preview.text
    );
    assert!(
        effects(&preview.data, "destroyed").contains(&"local-lvm:vm-208-disk-1"),
        "what is on it now goes"
    );
}

#[tokio::test]
async fn a_backup_of_an_earlier_guest_of_that_id_is_called_so() {
    let house = House::new().await;
    house.set(105, "smbios1", "uuid=11111111-0000-4000-8000-000000000069");
    let preview = house
        .preview(
            "rollback_proxmox_vm",
            r#"{"vmid": 105, "backup": "latest"}"#,
        )
        .await
        .unwrap();
    assert!(
        preview.text.contains("another guest that had the id 105"),
        "{}",
        preview.text
    );
}

#[tokio::test]
async fn bound_directories_are_for_root_itself() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(203, "mp0", "/srv/media,mp=/media");
    house
        .call("backup_proxmox_vm", r#"{"vmid": 203, "storage": "nas"}"#)
        .await
        .unwrap();
    let fault = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 203, "backup": "latest"}"#,
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("/srv/media"), "{fault}");
}

/// The start is a task of its own in PVE, and its failure does not fail the restore.
#[tokio::test]
async fn a_start_that_fails_is_not_called_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(sim::Fault::fail_task(
        "qmstart",
        "kvm: no memory",
        "start failed",
    ));
    let args = format!(r#"{{"vmid": 105, "backup": "{OF_STAGING}", "start": true}}"#);
    let answer = house.call("rollback_proxmox_vm", &args).await.unwrap();
    assert_eq!(answer.data["status"], "running", "{}", answer.text);
    assert!(
        answer.text.contains("not yet: it is running"),
        "{}",
        answer.text
    );
}

/// A VM whose backup has no generation id is known by the settings that go back with it.
#[tokio::test]
async fn a_restore_that_changed_nothing_is_not_called_done() {
    let house = House::in_mode(Mode::Trusted).await;
    let copied = house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 300}"#)
        .await
        .unwrap();
    let ended = copied.data["steps"][0]["task"].clone();
    house.sim.world(|world| {
        let guest = world.guests.get_mut(&105).unwrap();
        guest.config.remove("vmgenid");
        guest.config.set("cores", "7");
    });
    let config = "name: staging\ncores: 2\nscsi0: local-lvm:vm-105-disk-0,size=32G\n";
    for (path, method, answer) in [
        ("/nodes/*/vzdump/extractconfig", "GET", json!(config)),
        ("/nodes/*/qemu", "POST", ended),
    ] {
        house.sim.fault(sim::Fault::answer(method, path, answer));
    }
    let args = r#"{"vmid": 105, "backup": "latest"}"#;
    let fault = house.call("rollback_proxmox_vm", args).await.unwrap_err();
    let words = "it is not so that VM 105 (staging) is the one of the backup";
    assert!(fault.message.contains(words), "{fault}");
}
