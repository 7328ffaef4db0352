//! Deleting: the preview tells all, a person decides, and the id must still be the same guest's.

use serde_json::Value;
use tools::policy::Mode;

use crate::house::House;

fn ids<'a>(data: &'a Value, kind: &str) -> Vec<&'a str> {
    let all = data["would_affect"].as_array().unwrap().iter();
    all.filter(|item| item["kind"] == kind)
        .map(|item| item["id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn the_preview_answers_the_seeds_fields_and_more() {
    let house = House::new().await;
    let answer = house
        .call(
            "delete_proxmox_vm_preview",
            r#"{"node": "pve1", "vmid": 100, "vm_type": "qemu", "purge": false}"#,
        )
        .await
        .unwrap();
    let data = Value::Object(answer.data);
    assert_eq!(data["mode"], "dry_run");
    assert_eq!(data["tool"], "delete_proxmox_vm");
    assert_eq!(data["risk_level"], "high");
    assert_eq!(data["reversible"], false);
    assert!(data["preview"].is_object());
    assert_eq!(ids(&data, "snapshot"), ["before-upgrade", "weekly"]);
    let disk = data["would_affect"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["kind"] == "disk")
        .unwrap();
    assert_eq!(disk["bytes"], 32_u64 << 30);
    assert!(!ids(&data, "backup job").is_empty());
    assert!(!ids(&data, "backup").is_empty());
    assert_eq!(data["blocked"], true, "it runs");
    assert!(answer.text.contains("is running"), "{}", answer.text);
}

#[tokio::test]
async fn linked_clones_stand_in_the_way_of_their_template() {
    let house = House::in_mode(Mode::Trusted).await;
    for (template, clone) in [(900, "111"), (290, "205")] {
        let answer = house
            .call(
                "delete_proxmox_vm_preview",
                &format!(r#"{{"vmid": {template}}}"#),
            )
            .await
            .unwrap();
        assert_eq!(
            ids(&Value::Object(answer.data.clone()), "linked clone"),
            [clone],
            "{}",
            answer.text
        );
        let fault = house
            .call("delete_proxmox_vm", &format!(r#"{{"vmid": {template}}}"#))
            .await
            .unwrap_err();
        assert!(fault.message.contains(clone), "{fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn replication_and_ha_are_shown_and_ha_needs_purge() {
    let house = House::in_mode(Mode::Trusted).await;
    let files = house
        .call("delete_proxmox_vm_preview", r#"{"vmid": 103}"#)
        .await
        .unwrap();
    assert_eq!(
        ids(&Value::Object(files.data), "replication job"),
        ["103-0"]
    );
    let mail = house
        .call("delete_proxmox_vm", r#"{"vmid": 102, "stop": true}"#)
        .await
        .unwrap_err();
    assert!(mail.message.contains("only with purge"), "{mail}");
    assert_eq!(mail.hint.as_deref(), Some("send purge: true"));
}

#[tokio::test]
async fn a_running_guest_is_stopped_only_if_told_to() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call("delete_proxmox_vm", r#"{"vmid": 204}"#)
        .await
        .unwrap_err();
    assert!(fault.hint.unwrap().contains("stop: true"));
    let answer = house
        .call("delete_proxmox_vm", r#"{"vmid": 204, "stop": true}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied");
    assert_eq!(
        house.writes(),
        [
            "POST /nodes/pve3/lxc/204/status/stop",
            "DELETE /nodes/pve3/lxc/204"
        ]
    );
}

#[tokio::test]
async fn a_delete_never_takes_unreferenced_disks_along() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    let requests = house.sim.requests();
    let delete = requests
        .iter()
        .find(|request| request.method == "DELETE")
        .unwrap();
    assert!(
        format!("{delete:?}").contains("destroy-unreferenced-disks"),
        "{delete:?}"
    );
}

/// The id was given away between the preview and the yes: the new guest is not touched.
#[tokio::test]
async fn a_reused_vmid_is_a_conflict() {
    let house = House::new().await;
    let shown = house
        .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert_eq!(shown.data["status"], "needs_confirmation");
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    house.sim.world(|world| {
        let guest = world.guests.get_mut(&105).unwrap();
        guest
            .config
            .set("smbios1", "uuid=11111111-2222-4333-8444-555555555555");
        guest
            .config
            .set("vmgenid", "99999999-2222-4333-8444-555555555555");
    });
    let fault = house
        .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("now belongs to another guest"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

/// Only the configuration changed: the person sees the difference and decides again.
#[tokio::test]
async fn a_changed_config_is_shown_again() {
    let house = House::new().await;
    let shown = house
        .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    house.sim.world(|world| {
        world
            .guests
            .get_mut(&105)
            .unwrap()
            .config
            .set("memory", "4096");
    });
    let again = house
        .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert_eq!(again.data["status"], "needs_confirmation");
    assert_ne!(again.data["plan"], shown.data["plan"]);
    assert!(
        again
            .text
            .contains("changed since the last preview: memory"),
        "{}",
        again.text
    );
    assert_eq!(house.writes(), [""; 0]);
    house.approve(again.data["plan"].as_str().unwrap()).await;
    let done = house
        .call("delete_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert_eq!(done.data["status"], "applied", "{}", done.text);
}

#[tokio::test]
async fn a_guest_that_moved_meanwhile_is_a_conflict() {
    let house = House::new().await;
    let shown = house
        .call("delete_proxmox_vm", r#"{"vmid": 111}"#)
        .await
        .unwrap();
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    house
        .sim
        .world(|world| world.guests.get_mut(&111).unwrap().node = "pve3".to_owned());
    let fault = house
        .call("delete_proxmox_vm", r#"{"vmid": 111}"#)
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("is not on node pve2 any more"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_the_token_may_not_look_at_is_said() {
    let house = House::new().await;
    let held: (&str, &[&str]) = ("/vms/105", &["VM.Audit", "VM.Allocate"]);
    let answer = house
        .call_with(held, "delete_proxmox_vm_preview", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert!(
        answer.text.contains("could not be checked: backup jobs"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("Datastore.Audit"), "{}", answer.text);
}

/// PVE does not delete a replicated guest without purge: nothing may be switched off for a delete that cannot succeed.
#[tokio::test]
async fn a_replicated_guest_is_not_switched_off_for_nothing() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": 103}"#)
        .await
        .unwrap();
    house.sim.clear_requests();
    let fault = house
        .call("delete_proxmox_vm", r#"{"vmid": 103, "stop": true}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("is replicated"), "{fault}");
    assert_eq!(fault.hint.as_deref(), Some("send purge: true"));
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn the_preview_says_what_this_purge_does_to_the_jobs() {
    let house = House::new().await;
    let effect = |data: &Value| {
        let all = data["would_affect"].as_array().unwrap().iter();
        let job = all
            .clone()
            .find(|item| item["kind"] == "backup job")
            .unwrap();
        job["effect"].as_str().unwrap().to_owned()
    };
    let without = house
        .call("delete_proxmox_vm_preview", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert_eq!(effect(&Value::Object(without.data)), "kept");
    let with = house
        .call(
            "delete_proxmox_vm_preview",
            r#"{"vmid": 105, "purge": true}"#,
        )
        .await
        .unwrap();
    assert_eq!(effect(&Value::Object(with.data)), "changed");
}

/// PVE hides backups from a token that may not restore them. An empty list is then not "no backup".
#[tokio::test]
async fn hidden_backups_are_not_called_none() {
    let house = House::new().await;
    let held: (&str, &[&str]) = ("/", &["VM.Audit", "Sys.Audit", "Datastore.Audit"]);
    let answer = house
        .call_with(held, "delete_proxmox_vm_preview", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    assert!(
        !answer.text.contains("there is no backup"),
        "{}",
        answer.text
    );
    assert!(
        answer.text.contains("VM.Backup on /vms/105"),
        "{}",
        answer.text
    );
}

/// Somebody deletes the guest and gives its number to another while ours is being switched off.
#[tokio::test]
async fn a_vmid_reused_between_two_steps_is_not_deleted() {
    for protect in [false, true] {
        let house = House::in_mode(Mode::Trusted).await;
        let reuse = async {
            while house.writes().is_empty() {
                tokio::task::yield_now().await;
            }
            house.sim.world(|world| {
                let guest = world.guests.get_mut(&110).unwrap();
                if protect {
                    guest.config.set("tags", "Protected");
                } else {
                    guest
                        .config
                        .set("smbios1", "uuid=11111111-2222-4333-8444-555555555555");
                    guest
                        .config
                        .set("vmgenid", "99999999-2222-4333-8444-555555555555");
                }
            });
        };
        let delete = house.call("delete_proxmox_vm", r#"{"vmid": 110, "stop": true}"#);
        let (answer, ()) = tokio::join!(delete, reuse);
        let fault = answer.unwrap_err();
        assert!(fault.message.contains("it was not sent"), "{fault}");
        assert_eq!(house.writes(), ["POST /nodes/pve2/qemu/110/status/stop"]);
    }
}
