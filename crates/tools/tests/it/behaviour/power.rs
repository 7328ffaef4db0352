//! Starting and stopping, and how VMs, containers and HA differ.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn what_runs_already_is_left_alone() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, vmid) in [
        ("start_proxmox_vm", 100),
        ("start_proxmox_vm", 200),
        ("stop_proxmox_vm", 105),
        ("stop_proxmox_vm", 203),
    ] {
        let answer = house
            .call(tool, &format!(r#"{{"vmid": {vmid}}}"#))
            .await
            .unwrap();
        assert_eq!(answer.data["status"], "applied");
        assert!(answer.text.contains("nothing to do"), "{}", answer.text);
        assert!(
            answer.text.starts_with("nothing was sent: "),
            "{}",
            answer.text
        );
    }
    assert_eq!(house.writes(), [""; 0]);
    let (_, results) = house.audit().await;
    assert!(results.iter().all(|it| it == "nothing_sent"), "{results:?}");
}

#[tokio::test]
async fn a_paused_vm_is_resumed_and_not_started() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": 108}"#)
        .await
        .unwrap();
    assert_eq!(house.writes(), ["POST /nodes/pve3/qemu/108/status/resume"]);
}

#[tokio::test]
async fn a_reboot_is_seen_by_the_new_process() {
    let house = House::in_mode(Mode::Trusted).await;
    for vmid in [100, 200] {
        let answer = house
            .call(
                "stop_proxmox_vm",
                &format!(r#"{{"vmid": {vmid}, "action": "reboot"}}"#),
            )
            .await
            .unwrap();
        assert_eq!(answer.data["status"], "applied");
    }
}

#[tokio::test]
async fn templates_and_locked_guests_do_not_start() {
    let house = House::in_mode(Mode::Trusted).await;
    let template = house
        .call("start_proxmox_vm", r#"{"vmid": 900}"#)
        .await
        .unwrap_err();
    assert!(template.message.contains("is a template"), "{template}");
    let locked = house
        .call("start_proxmox_vm", r#"{"vmid": 107}"#)
        .await
        .unwrap_err();
    assert!(locked.message.contains("is locked (backup)"), "{locked}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn containers_have_no_reset_and_no_pause() {
    let house = House::in_mode(Mode::Trusted).await;
    for action in ["reset", "suspend"] {
        let fault = house
            .call(
                "stop_proxmox_vm",
                &format!(r#"{{"vmid": 200, "action": "{action}"}}"#),
            )
            .await
            .unwrap_err();
        assert!(fault.hint.unwrap().starts_with("send action:"), "{action}");
    }
}

/// HA's task ends OK as soon as the wish is queued. Done is what was read back.
#[tokio::test]
async fn a_guest_under_ha_is_done_when_it_is_seen() {
    let house = House::in_mode(Mode::Trusted).await;
    let stopped = house
        .call("stop_proxmox_vm", r#"{"vmid": 102}"#)
        .await
        .unwrap();
    assert_eq!(stopped.data["status"], "applied", "{}", stopped.text);
    let task = stopped.data["steps"][0]["task"].as_str().unwrap();
    assert!(task.contains(":hastop:"), "{task}");
    let started = house
        .call("start_proxmox_vm", r#"{"vmid": 102}"#)
        .await
        .unwrap();
    assert_eq!(started.data["status"], "applied", "{}", started.text);
}

#[tokio::test]
async fn a_guest_that_ha_does_not_start_stays_running_and_is_not_called_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("stop_proxmox_vm", r#"{"vmid": 102}"#)
        .await
        .unwrap();
    house.sim.world(|world| world.ha_frozen = true);
    let answer = house
        .call("start_proxmox_vm", r#"{"vmid": 102}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "running", "{}", answer.text);
    assert!(answer.text.contains("not yet"), "{}", answer.text);
}

#[tokio::test]
async fn waiting_ends_and_the_task_goes_on() {
    let house = House::in_mode(Mode::Trusted).await;
    let answer = house
        .call(
            "clone_proxmox_vm",
            r#"{"vmid": 105, "new_vmid": 300, "wait": 0}"#,
        )
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "running");
    assert!(house.engine.drain(std::time::Duration::from_secs(10)).await);
    let (opened, closed) = house.audit().await;
    assert_eq!((opened, closed), (1, vec!["applied".to_owned()]));
}

/// Undoing goes back to what the guest was: paused, not off. Nothing goes back to hibernation.
#[tokio::test]
async fn the_way_back_is_to_what_it_was() {
    let house = House::in_mode(Mode::Trusted).await;
    let resumed = house.call("start_proxmox_vm", r#"{"vmid": 108}"#).await;
    let undo = resumed.unwrap().data["undo"].clone();
    assert_eq!(undo["tool"], "stop_proxmox_vm");
    assert_eq!(undo["arguments"]["action"], "suspend");
    let back = house
        .call("stop_proxmox_vm", &undo["arguments"].to_string())
        .await;
    assert_eq!(back.unwrap().data["status"], "applied");

    let several = r#"{"vmids": [105, 108]}"#;
    let preview = house.preview("start_proxmox_vm", several).await.unwrap();
    let words = "stop_proxmox_vm shuts down 105; stop_proxmox_vm with action suspend pauses 108";
    assert!(preview.text.contains(words), "{}", preview.text);

    house.set(105, "lock", "suspended");
    let args = r#"{"vmid": 105}"#;
    let preview = house.preview("start_proxmox_vm", args).await.unwrap();
    assert!(
        preview.text.contains("is used up by waking"),
        "{}",
        preview.text
    );
}
