//! Backups: where to, what is in them, what is pruned, and what does not count as one.

use serde_json::Value;
use tools::policy::Mode;

use crate::house::House;

/// The backups of a guest, as the simulator has them.
fn backups(house: &House, vmid: u32) -> Vec<String> {
    house.sim.world(|world| {
        let all = world.volumes.iter();
        all.filter(|volume| volume.content == "backup" && volume.vmid == Some(vmid))
            .map(|volume| volume.volid.clone())
            .collect()
    })
}

fn destroyed(data: &serde_json::Map<String, Value>) -> Vec<String> {
    let all = data["affects"].as_array().unwrap().iter();
    all.filter(|item| item["effect"] == "destroyed")
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_backup_has_its_notes_and_its_protection() {
    for storage in ["nas", "vault"] {
        let house = House::in_mode(Mode::Trusted).await;
        let args = format!(
            r#"{{"vmid": 105, "storage": "{storage}", "notes": "a\\b\nof {{{{guestname}}}}", "protected": true}}"#
        );
        house.call("backup_proxmox_vm", &args).await.unwrap();
        house.sim.world(|world| {
            let made = world
                .volumes
                .iter()
                .rfind(|volume| volume.vmid == Some(105) && volume.content == "backup")
                .unwrap();
            assert!(made.volid.starts_with(storage) && made.protected);
            assert_eq!(made.notes.as_deref(), Some("a\\b\nof staging"));
        });
    }
}

/// PVE answers a vzdump for a guest of another node with OK, and does nothing.
#[tokio::test]
async fn an_ok_without_a_backup_is_not_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(sim::Fault::answer("POST", "/nodes/*/vzdump", "OK").times(1));
    let args = r#"{"vmid": 105, "storage": "nas"}"#;
    let answer = house.call("backup_proxmox_vm", args).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    house.call("backup_proxmox_vm", args).await.unwrap();
    let upid = house.sim.world(|world| {
        let task = world.tasks.iter().find(|task| task.upid.kind == "vzdump");
        task.unwrap().upid.to_string()
    });
    // A task that ended well, and made nothing.
    house
        .sim
        .fault(sim::Fault::answer("POST", "/nodes/*/vzdump", upid));
    let fault = house.call("backup_proxmox_vm", args).await.unwrap_err();
    assert!(
        fault
            .message
            .contains("it is not so that nas lists a new backup of VM 105 (staging)"),
        "{fault}"
    );
}

#[tokio::test]
async fn a_guest_that_moved_away_meanwhile_is_not_backed_up_on_the_wrong_node() {
    let house = House::new().await;
    let args = r#"{"vmid": 200, "storage": "nas", "mode": "stop"}"#;
    let asked = house.call("backup_proxmox_vm", args).await.unwrap();
    house.sim.world(|world| {
        world.guests.get_mut(&200).unwrap().node = "pve2".to_owned();
    });
    let confirm = asked.data["confirm"].as_str().unwrap();
    let again =
        format!(r#"{{"vmid": 200, "storage": "nas", "mode": "stop", "confirm": "{confirm}"}}"#);
    let fault = house.call("backup_proxmox_vm", &again).await.unwrap_err();
    assert!(
        fault.message.contains("is not on node pve1 any more"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn exactly_what_the_preview_shows_is_pruned() {
    for keep in [1, 2, 3] {
        let house = House::in_mode(Mode::Trusted).await;
        let before = backups(&house, 200);
        let args = format!(r#"{{"vmid": 200, "storage": "nas", "keep_last": {keep}}}"#);
        let preview = house.preview("backup_proxmox_vm", &args).await.unwrap();
        let doomed = destroyed(&preview.data);
        assert_eq!(
            doomed.len(),
            3_usize.saturating_sub(keep),
            "{}",
            preview.text
        );
        // Retention destroys, whether or not something is old enough by now.
        assert_eq!(preview.data["risk"], "destroy");
        house.call("backup_proxmox_vm", &args).await.unwrap();
        let after = backups(&house, 200);
        let gone: Vec<_> = before.iter().filter(|one| !after.contains(one)).collect();
        assert_eq!(gone.len(), doomed.len());
        assert!(gone.iter().all(|one| doomed.contains(one)));
    }
}

#[tokio::test]
async fn protected_backups_are_not_pruned() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 103, "storage": "nas", "keep_last": 1}"#;
    let preview = house.preview("backup_proxmox_vm", args).await.unwrap();
    assert!(destroyed(&preview.data).is_empty(), "{}", preview.text);
    house.call("backup_proxmox_vm", args).await.unwrap();
    assert_eq!(backups(&house, 103).len(), 2);
}

/// Without keep_last nothing is pruned, whatever the storage's own rule says; PVE then makes none beyond that rule.
#[tokio::test]
async fn a_storages_own_rule_is_told_and_never_applied_unasked() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        let nas = world.storages.get_mut("nas").unwrap();
        nas.props
            .insert("prune-backups".to_owned(), "keep-last=2".to_owned());
    });
    house
        .call("backup_proxmox_vm", r#"{"vmid": 105, "storage": "nas"}"#)
        .await
        .unwrap();
    assert_eq!(backups(&house, 105).len(), 2);
    let sent = house.writes().len();
    let fault = house
        .call("backup_proxmox_vm", r#"{"vmid": 105, "storage": "nas"}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("keeps at most 2 backups"), "{fault}");
    assert!(fault.hint.unwrap().contains("keep_last: 2"));
    assert_eq!(house.writes().len(), sent);
}

#[tokio::test]
async fn stop_mode_asks_interrupts_and_starts_again() {
    let house = House::new().await;
    let args = r#"{"vmid": 200, "storage": "nas", "mode": "stop"}"#;
    let asked = house.call("backup_proxmox_vm", args).await.unwrap();
    assert_eq!(asked.data["status"], "needs_confirmation");
    assert_eq!(asked.data["risk"], "disrupt");
    let answer = house.agreed("backup_proxmox_vm", args).await.unwrap();
    assert!(answer.text.contains("runs again"), "{}", answer.text);
    assert!(house.runs(200));
}

#[tokio::test]
async fn a_guest_under_ha_is_not_stopped_for_it() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call(
            "backup_proxmox_vm",
            r#"{"vmid": 102, "storage": "nas", "mode": "stop"}"#,
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("is under HA"), "{fault}");
    assert_eq!(fault.hint.as_deref(), Some("send mode: \"snapshot\""));
}

/// PVE falls back to suspend by itself where a container's disks have no snapshots; a VM needs none.
#[tokio::test]
async fn a_container_without_snapshots_is_paused() {
    let house = House::new().await;
    house.set(202, "rootfs", "nas:202/vm-202-disk-0.raw,size=32G");
    let preview = house
        .preview("backup_proxmox_vm", r#"{"vmid": 202, "storage": "nas"}"#)
        .await
        .unwrap();
    assert_eq!(preview.data["risk"], "disrupt");
    assert!(
        preview.text.contains("falls back to suspend mode"),
        "{}",
        preview.text
    );
    house.set(106, "scsi0", "nas:106/vm-106-disk-0.raw,size=64G");
    let preview = house
        .preview("backup_proxmox_vm", r#"{"vmid": 106, "storage": "nas"}"#)
        .await
        .unwrap();
    assert_eq!(preview.data["risk"], "change", "{}", preview.text);
}

#[tokio::test]
async fn what_is_not_in_it_is_said() {
    let house = House::new().await;
    house.set(105, "scsi1", "local-lvm:vm-105-disk-1,backup=0,size=4G");
    for (vmid, key) in [(105, "scsi1"), (208, "mp0")] {
        let args = format!(r#"{{"vmid": {vmid}, "storage": "nas"}}"#);
        let preview = house.preview("backup_proxmox_vm", &args).await.unwrap();
        assert!(
            preview.text.contains(&format!("not in the backup: {key}")),
            "{}",
            preview.text
        );
    }
}

#[tokio::test]
async fn the_storage_with_the_most_room_is_taken_with_its_reason() {
    let house = House::new().await;
    let preview = house
        .preview("backup_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert!(
        preview.text.contains("with the most room of"),
        "{}",
        preview.text
    );
    assert!(!preview.text.contains("storage=local "), "{}", preview.text);
}

#[tokio::test]
async fn wrong_arguments_are_answered_with_right_ones() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, words, hint) in [
        (
            r#"{"vmid": 105, "storage": "tank"}"#,
            "no storage tank takes backups on pve1",
            "nas",
        ),
        (
            r#"{"vmid": 105, "storage": "nas", "notes": "{{date}}"}"#,
            "knows no {{date}}",
            "{{guestname}}",
        ),
        (
            r#"{"vmid": 107, "storage": "nas"}"#,
            "is locked (backup)",
            "wait",
        ),
        (
            r#"{"vmid": 105, "storage": "nas", "keep_last": 2, "prune": "keep-daily=7"}"#,
            "both say what stays",
            "keep-last=2",
        ),
        (
            r#"{"vmid": 105, "storage": "nas", "prune": "keep-minutely=7"}"#,
            "keep-minutely",
            "keep-daily=7",
        ),
        (
            r#"{"vmid": 105, "storage": "nas", "keep_last": 0}"#,
            "keep_last",
            "1",
        ),
    ] {
        let fault = house.call("backup_proxmox_vm", args).await.unwrap_err();
        assert!(fault.message.contains(words), "{args}: {fault}");
        assert!(fault.hint.as_deref().unwrap().contains(hint), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

/// PVE freezes by itself or not at all; the preview says which.
#[tokio::test]
async fn the_preview_says_in_what_state_the_disks_are_caught() {
    let house = House::new().await;
    let says = async |vmid: u32, mode: &str| {
        let args = format!(r#"{{"vmid": {vmid}, "storage": "nas", "mode": "{mode}"}}"#);
        let preview = house.preview("backup_proxmox_vm", &args).await.unwrap();
        let all = preview.data["affects"].as_array().unwrap();
        let made = all.iter().find(|item| item["effect"] == "created").unwrap();
        made["note"].as_str().unwrap().to_owned()
    };
    for (vmid, mode, words) in [
        (100, "snapshot", "the guest agent freezes the file systems"),
        (100, "stop", "taken as it was shut down"),
        (100, "suspend", "a paused VM's agent freezes nothing"),
        (110, "snapshot", "no guest agent answers"),
        (105, "snapshot", "the guest is off"),
        (202, "snapshot", "its processes are frozen for the moment"),
        (202, "stop", "taken while it is shut down"),
        (202, "suspend", "while it is paused"),
    ] {
        let note = says(vmid, mode).await;
        assert!(note.contains(words), "{vmid} {mode}: {note}");
    }
    house.set(100, "agent", "1,freeze-fs=0");
    assert!(says(100, "snapshot").await.contains("says not to freeze"));
}
