//! Snapshots: what can have one, what it holds, and what its removal takes along.

use serde_json::Value;
use tools::fault::Kind;
use tools::policy::Mode;

use crate::house::House;

/// The note on the first affected thing of a kind.
fn note<'a>(data: &'a serde_json::Map<String, Value>, kind: &str) -> &'a str {
    let all = data["affects"].as_array().unwrap();
    let item = all.iter().find(|item| item["kind"] == kind).unwrap();
    item["note"].as_str().unwrap()
}

#[tokio::test]
async fn without_a_name_it_gets_one_from_the_time() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call("snapshot_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    let name = answer.data["undo"]["arguments"]["snapshot"]
        .as_str()
        .unwrap();
    assert!(name.starts_with("at-20"), "{name}");
    assert_eq!(house.config(105, "parent").as_deref(), Some(name));
    let undo = serde_json::to_string(&answer.data["undo"]["arguments"]).unwrap();
    house
        .call("delete_proxmox_vm_snapshot", &undo)
        .await
        .unwrap();
    assert_eq!(house.config(105, "parent"), None);
}

#[tokio::test]
async fn a_container_has_no_memory_to_save() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call("snapshot_proxmox_vm", r#"{"vmid": 202, "vmstate": true}"#)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::BadInput);
    assert_eq!(fault.hint.as_deref(), Some("leave vmstate out"));
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_vm_that_is_off_has_none_either_and_that_is_said() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call("snapshot_proxmox_vm", r#"{"vmid": 105, "vmstate": true}"#)
        .await
        .unwrap();
    assert!(
        answer.text.contains("there is no memory to save"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn memory_is_shown_with_the_room_it_takes() {
    let house = House::new().await;
    let preview = house
        .preview("snapshot_proxmox_vm", r#"{"vmid": 106, "vmstate": true}"#)
        .await
        .unwrap();
    let state = preview.data["affects"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["kind"] == "memory state")
        .unwrap();
    assert_eq!(state["bytes"], 2 * (8_u64 << 30) + (500 << 20));
}

#[tokio::test]
async fn memory_cannot_be_saved_with_a_shared_directory() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(106, "virtiofs0", "share");
    let fault = house
        .call("snapshot_proxmox_vm", r#"{"vmid": 106, "vmstate": true}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("virtiofs0"), "{fault}");
    assert_eq!(fault.hint.as_deref(), Some("leave vmstate out"));
}

#[tokio::test]
async fn how_still_the_disks_are_is_said() {
    let house = House::new().await;
    let said = async |vmid: u32| {
        let args = format!(r#"{{"vmid": {vmid}}}"#);
        let preview = house.preview("snapshot_proxmox_vm", &args).await.unwrap();
        note(&preview.data, "snapshot").to_owned()
    };
    assert!(said(100).await.contains("guest agent freezes"));
    assert!(said(110).await.contains("as after a power cut"));
    assert!(said(202).await.contains("frozen for the moment"));
    assert!(said(105).await.contains("is off"));
    house.set(106, "agent", "1,freeze-fs-on-backup=0");
    assert!(said(106).await.contains("says not to freeze"));
    house
        .sim
        .world(|world| world.guests.get_mut(&100).unwrap().inside.agent = false);
    assert!(said(100).await.contains("as after a power cut"));
}

#[tokio::test]
async fn disks_that_cannot_have_one_are_named() {
    let house = House::in_mode(Mode::Trusted).await;
    for (vmid, key, value, why) in [
        (
            105,
            "scsi1",
            "nas:105/vm-105-disk-1.raw,size=4G",
            "raw file",
        ),
        (
            106,
            "scsi1",
            "/dev/disk/by-id/x,size=4G",
            "a path of the node",
        ),
        (202, "mp0", "/srv/data,mp=/data", "a path of the node"),
    ] {
        house.set(vmid, key, value);
        let args = format!(r#"{{"vmid": {vmid}}}"#);
        let fault = house.call("snapshot_proxmox_vm", &args).await.unwrap_err();
        assert!(
            fault.message.contains(key) && fault.message.contains(why),
            "{vmid}: {fault}"
        );
        assert!(fault.hint.unwrap().contains("backup_proxmox_vm"));
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_pve_would_refuse_in_its_task_is_refused_before() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, words) in [
        (
            r#"{"vmid": 100, "name": "weekly"}"#,
            "has a snapshot weekly already",
        ),
        (
            r#"{"vmid": 100, "name": "current"}"#,
            "keeps the name current",
        ),
        (
            r#"{"vmid": 202, "name": "vzdump"}"#,
            "keeps the name vzdump",
        ),
        (r#"{"vmid": 900}"#, "is a template"),
        (r#"{"vmid": 107}"#, "is locked (backup)"),
        (r#"{"vmid": 100, "name": "1st"}"#, "is not a snapshot name"),
    ] {
        let fault = house.call("snapshot_proxmox_vm", args).await.unwrap_err();
        assert!(fault.message.contains(words), "{args}: {fault}");
        assert!(fault.hint.is_some(), "{args}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn the_missing_privilege_is_named() {
    let house = House::new().await;
    for (tool, args) in [
        ("snapshot_proxmox_vm", r#"{"vmid": 100}"#),
        (
            "rollback_proxmox_vm",
            r#"{"vmid": 100, "snapshot": "weekly"}"#,
        ),
    ] {
        let preview = house
            .call_with(
                ("/vms/100", &["VM.Audit"]),
                "preview_proxmox_change",
                &format!(r#"{{"tool": "{tool}", "arguments": {args}}}"#),
            )
            .await
            .unwrap();
        assert!(
            preview.text.contains("VM.Snapshot") && preview.text.contains("/vms/100"),
            "{}",
            preview.text
        );
    }
}

#[tokio::test]
async fn an_unknown_snapshot_is_answered_with_those_there_are() {
    let house = House::in_mode(Mode::Trusted).await;
    for tool in ["delete_proxmox_vm_snapshot", "rollback_proxmox_vm"] {
        let fault = house
            .call(tool, r#"{"vmid": 100, "snapshot": "wekly"}"#)
            .await
            .unwrap_err();
        assert_eq!(fault.kind, Kind::NotFound);
        assert!(
            fault.hint.unwrap().contains("before-upgrade and weekly"),
            "{tool}"
        );
        let fault = house
            .call(tool, r#"{"vmid": 105, "snapshot": "any"}"#)
            .await
            .unwrap_err();
        assert!(fault.hint.unwrap().contains("it has none"), "{tool}");
    }
}

#[tokio::test]
async fn a_removal_shows_what_hangs_on_it() {
    let house = House::in_mode(Mode::Trusted).await;
    let preview = house
        .preview(
            "delete_proxmox_vm_snapshot",
            r#"{"vmid": 202, "snapshot": "before-forgejo-12"}"#,
        )
        .await
        .unwrap();
    assert!(
        preview.text.contains("nightly") && preview.text.contains("then builds on no other"),
        "{}",
        preview.text
    );
    house
        .call(
            "snapshot_proxmox_vm",
            r#"{"vmid": 106, "name": "live", "vmstate": true}"#,
        )
        .await
        .unwrap();
    let preview = house
        .preview(
            "delete_proxmox_vm_snapshot",
            r#"{"vmid": 106, "snapshot": "live"}"#,
        )
        .await
        .unwrap();
    let state = preview.data["affects"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["kind"] == "memory state")
        .unwrap();
    assert_eq!(state["effect"], "destroyed");
    assert!(state["bytes"].as_u64().unwrap() > 8 << 30);
}

/// A removal that broke off leaves a lock that no call takes away.
#[tokio::test]
async fn a_lock_of_a_broken_removal_is_for_a_person() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(100, "lock", "snapshot-delete");
    let fault = house
        .call(
            "delete_proxmox_vm_snapshot",
            r#"{"vmid": 100, "snapshot": "weekly", "force": true}"#,
        )
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("is locked (snapshot-delete)"),
        "{fault}"
    );
    assert!(fault.hint.unwrap().contains("qm unlock"));
    assert_eq!(house.writes(), [""; 0]);
}

/// A task that ends well proves nothing: what was to come about is looked for.
#[tokio::test]
async fn a_snapshot_that_is_not_listed_is_not_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("snapshot_proxmox_vm", r#"{"vmid": 105, "name": "first"}"#)
        .await
        .unwrap();
    let upid = house.sim.world(|world| {
        let task = world
            .tasks
            .iter()
            .find(|task| task.upid.kind == "qmsnapshot");
        task.unwrap().upid.to_string()
    });
    // The answer names a task that ended well long ago; in truth nothing was done.
    house
        .sim
        .fault(sim::Fault::answer("POST", "/nodes/*/qemu/*/snapshot", upid));
    let fault = house
        .call("snapshot_proxmox_vm", r#"{"vmid": 105, "name": "second"}"#)
        .await
        .unwrap_err();
    assert!(
        fault.message.contains(
            "PVE reported success, but it is not so that VM 105 (staging) has the snapshot second"
        ),
        "{fault}"
    );
}

/// Before 9.1 the option was about backups alone, as its name says.
#[tokio::test]
async fn an_older_pve_freezes_for_a_snapshot_whatever_is_said_about_backups() {
    for (version, words) in [("8.4.1", "guest agent freezes"), ("9.1.8", "not to freeze")] {
        let house = House::new().await;
        house
            .sim
            .world(|world| version.clone_into(&mut world.version));
        house.set(100, "agent", "1,freeze-fs-on-backup=0");
        let args = r#"{"vmid": 100}"#;
        let preview = house.preview("snapshot_proxmox_vm", args).await.unwrap();
        assert!(preview.text.contains(words), "{version}: {}", preview.text);
        let args = r#"{"vmid": 100, "storage": "nas"}"#;
        let preview = house.preview("backup_proxmox_vm", args).await.unwrap();
        assert!(preview.text.contains("not to freeze"), "{}", preview.text);
    }
}
