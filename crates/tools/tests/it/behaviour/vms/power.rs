//! Pausing, hibernating, and QEMU's monitor.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn a_container_is_not_taken_for_a_vm() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in [
        ("start_vm", r#"{"vmid": 203}"#),
        ("suspend_vm", r#"{"vmid": 200}"#),
        ("delete_vm", r#"{"vmid": 203}"#),
        ("update_vm_config", r#"{"vmid": 203, "memory": 1024}"#),
        ("get_vm_status", r#"{"vmid": 203}"#),
        ("convert_vm_to_template", r#"{"vmid": 203}"#),
        (
            "send_vm_monitor_command",
            r#"{"vmid": 200, "command": "info status"}"#,
        ),
    ] {
        let fault = house.call(tool, args).await.unwrap_err();
        assert!(
            fault.message.contains("is a container, not a VM"),
            "{tool}: {fault}"
        );
        let hint = fault.hint.unwrap_or_default();
        assert!(!hint.contains("vm_type"), "{tool}: {hint}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_hibernated_vm_goes_on_where_it_was() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "todisk": true}"#;
    let preview = house.preview("suspend_vm", args).await.unwrap();
    assert!(
        preview.text.contains("statestorage=local-lvm"),
        "{}",
        preview.text
    );
    let answer = house.call("suspend_vm", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(!house.runs(106));
    assert_eq!(house.config(106, "lock").as_deref(), Some("suspended"));
    let answer = house.call("resume_vm", r#"{"vmid": 106}"#).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(house.runs(106));
    assert_eq!(house.config(106, "vmstate"), None);
}

/// PVE's own choice: what the settings name, then what other nodes see.
#[tokio::test]
async fn memory_goes_where_the_settings_say_or_where_others_see_it() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "todisk": true}"#;
    house.set(106, "scsi1", "nas:106/vm-106-disk-1.qcow2,size=1G");
    let preview = house.preview("suspend_vm", args).await.unwrap();
    assert!(
        preview.text.contains("statestorage=nas"),
        "{}",
        preview.text
    );
    house.set(106, "vmstatestorage", "local");
    let preview = house.preview("suspend_vm", args).await.unwrap();
    assert!(
        preview.text.contains("statestorage=local]"),
        "{}",
        preview.text
    );
}

#[tokio::test]
async fn what_pve_does_not_hibernate_is_refused_beforehand() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(106, "hostpci0", "mapping=gpu");
    for (vmid, why) in [
        (102, "under HA"),
        (106, "PCI devices"),
        (105, "is not running"),
    ] {
        let args = format!(r#"{{"vmid": {vmid}, "todisk": true}}"#);
        let fault = house.call("suspend_vm", &args).await.unwrap_err();
        assert!(fault.message.contains(why), "{vmid}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_look_into_the_monitor_shows_its_answer_and_asks_nobody() {
    let house = House::new().await;
    let args = r#"{"vmid": 100, "command": " info status "}"#;
    let answer = house.call("send_vm_monitor_command", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(
        answer.text.contains("VM status: running"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_command_of_the_monitor_is_for_a_person_to_allow() {
    let house = House::new().await;
    let args = r#"{"vmid": 100, "command": "system_reset"}"#;
    let answer = house.call("send_vm_monitor_command", args).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert_eq!(answer.data["risk"], "grant");
    for (vmid, command, why) in [
        (105, "info status", "is not running"),
        (100, "info status\nquit", "not one line"),
        (100, "  ", "not one line"),
        (101, "qemu-io drive-scsi0 discard", "is protected ("),
    ] {
        let args = serde_json::json!({"vmid": vmid, "command": command}).to_string();
        let fault = house.agreed("send_vm_monitor_command", &args).await;
        let fault = fault.unwrap_err();
        assert!(fault.message.contains(why), "{command}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}
