//! Going back to a snapshot: what is lost, what comes back with it, and where storages set limits.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn the_settings_that_go_back_are_shown_old_and_new() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(105, "cipassword", "canary-of-that-time");
    house
        .call("snapshot_proxmox_vm", r#"{"vmid": 105, "name": "then"}"#)
        .await
        .unwrap();
    house.set(105, "cores", "7");
    house.set(105, "tags", "new");
    house.set(105, "cipassword", "canary-of-today");
    house.set(105, "scsi1", "local-lvm:vm-105-disk-1,size=4G");
    let preview = house
        .preview(
            "rollback_proxmox_vm",
            r#"{"vmid": 105, "snapshot": "then"}"#,
        )
        .await
        .unwrap();
    for words in [
        "cores 7 -> 2",
        "tags new -> unset",
        "cipassword (not shown)",
        "scsi1: added since, stays as an unused disk",
        "scsi0: all written since",
        "cannot be undone",
    ] {
        assert!(preview.text.contains(words), "{words}: {}", preview.text);
    }
    assert!(!preview.text.contains("canary"), "{}", preview.text);
    house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 105, "snapshot": "then"}"#,
        )
        .await
        .unwrap();
    assert_eq!(house.config(105, "cores").as_deref(), Some("2"));
    assert_eq!(house.config(105, "lock"), None);
}

/// PVE brings the old flag back without a word, also where it takes a protection off.
#[tokio::test]
async fn a_flag_that_comes_back_is_shown() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(105, "protection", "1");
    house
        .call("snapshot_proxmox_vm", r#"{"vmid": 105, "name": "then"}"#)
        .await
        .unwrap();
    house.set(105, "protection", "0");
    let args = r#"{"vmid": 105, "snapshot": "then"}"#;
    let answer = house.call("rollback_proxmox_vm", args).await.unwrap();
    assert!(answer.text.contains("protection 0 -> 1"), "{}", answer.text);
    let fault = house.call("rollback_proxmox_vm", args).await.unwrap_err();
    assert!(fault.message.contains("is protected"), "{fault}");
}

#[tokio::test]
async fn a_running_guest_ends_off_unless_told_to_start() {
    for (vmid, snapshot) in [(100, "weekly"), (202, "nightly")] {
        for (start, runs) in [(false, false), (true, true)] {
            let house = House::in_mode(Mode::Trusted).await;
            let args = format!(r#"{{"vmid": {vmid}, "snapshot": "{snapshot}", "start": {start}}}"#);
            let answer = house.call("rollback_proxmox_vm", &args).await.unwrap();
            assert_eq!(answer.data["status"], "applied", "{}", answer.text);
            assert!(
                answer.text.contains("switched off without a shutdown"),
                "{}",
                answer.text
            );
            assert_eq!(house.runs(vmid), runs, "{vmid} start {start}");
        }
    }
}

#[tokio::test]
async fn saved_memory_comes_back_running() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call(
            "snapshot_proxmox_vm",
            r#"{"vmid": 106, "name": "live", "vmstate": true}"#,
        )
        .await
        .unwrap();
    house
        .call("stop_proxmox_vm", r#"{"vmid": 106, "action": "stop"}"#)
        .await
        .unwrap();
    let answer = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 106, "snapshot": "live"}"#,
        )
        .await
        .unwrap();
    assert!(answer.text.contains("it is running"), "{}", answer.text);
    assert!(house.runs(106));
}

/// ZFS goes back to the newest only. PVE says so in its task; here it is said before, with the way out.
#[tokio::test]
async fn zfs_goes_back_to_the_newest_only() {
    for vmid in [103, 205] {
        let house = House::in_mode(Mode::Trusted).await;
        for name in ["one", "two"] {
            let args = format!(r#"{{"vmid": {vmid}, "name": "{name}"}}"#);
            house.call("snapshot_proxmox_vm", &args).await.unwrap();
        }
        let sent = house.writes().len();
        let back = format!(r#"{{"vmid": {vmid}, "snapshot": "one"}}"#);
        let fault = house.call("rollback_proxmox_vm", &back).await.unwrap_err();
        assert!(
            fault.message.contains("newest snapshot only")
                && fault.message.contains("two is newer"),
            "{fault}"
        );
        assert!(
            fault
                .hint
                .unwrap()
                .contains("delete two with delete_proxmox_vm_snapshot")
        );
        assert_eq!(house.writes().len(), sent);
        let newest = format!(r#"{{"vmid": {vmid}, "snapshot": "two"}}"#);
        house
            .call("delete_proxmox_vm_snapshot", &newest)
            .await
            .unwrap();
        house.call("rollback_proxmox_vm", &back).await.unwrap();
    }
}

#[tokio::test]
async fn other_storages_go_back_past_newer_ones() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call(
            "rollback_proxmox_vm",
            r#"{"vmid": 100, "snapshot": "before-upgrade"}"#,
        )
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(
        house.config(100, "parent").as_deref(),
        Some("before-upgrade")
    );
}

/// Where the token cannot see what sort of storage it is, PVE's own refusal comes through.
#[tokio::test]
async fn a_storage_that_cannot_be_seen_is_said_to_be_unchecked() {
    let house = House::in_mode(Mode::Trusted).await;
    for name in ["one", "two"] {
        let args = format!(r#"{{"vmid": 103, "name": "{name}"}}"#);
        house.call("snapshot_proxmox_vm", &args).await.unwrap();
    }
    let preview = house
        .call_with(
            ("/vms/103", &["VM.Audit", "VM.Snapshot"]),
            "preview_proxmox_change",
            r#"{"tool": "rollback_proxmox_vm", "arguments": {"vmid": 103, "snapshot": "one"}}"#,
        )
        .await
        .unwrap();
    assert!(
        preview
            .text
            .contains("Datastore.Audit on /storage/tank is missing"),
        "{}",
        preview.text
    );
}

#[tokio::test]
async fn one_of_two_privileges_is_enough() {
    for privilege in ["VM.Snapshot", "VM.Snapshot.Rollback"] {
        let house = House::new().await;
        let preview = house
            .call_with(
                ("/vms/100", &["VM.Audit", privilege]),
                "preview_proxmox_change",
                r#"{"tool": "rollback_proxmox_vm", "arguments": {"vmid": 100, "snapshot": "weekly"}}"#,
            )
            .await
            .unwrap();
        assert_eq!(
            preview.data["privileges_missing"].as_array().unwrap().len(),
            0,
            "{}",
            preview.text
        );
    }
}

#[tokio::test]
async fn what_to_go_back_to_must_be_one_thing() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, hint) in [
        (r#"{"vmid": 100}"#, "send snapshot: NAME"),
        (
            r#"{"vmid": 100, "snapshot": "weekly", "backup": "latest"}"#,
            "send one of",
        ),
        (
            r#"{"vmid": 100, "snapshot": "weekly", "new_vmid": 300}"#,
            "clone_proxmox_vm",
        ),
    ] {
        let fault = house.call("rollback_proxmox_vm", args).await.unwrap_err();
        assert!(fault.hint.as_deref().unwrap().contains(hint), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn an_incomplete_snapshot_is_refused() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| {
        world.guests.get_mut(&100).unwrap().snapshots[1].state = Some("prepare");
    });
    let args = r#"{"vmid": 100, "snapshot": "weekly"}"#;
    let fault = house.call("rollback_proxmox_vm", args).await.unwrap_err();
    assert!(fault.message.contains("is incomplete"), "{fault}");
    let preview = house
        .preview("delete_proxmox_vm_snapshot", args)
        .await
        .unwrap();
    assert!(preview.text.contains("is incomplete"), "{}", preview.text);
}
