//! Pressing keys.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn the_seeds_call_works_unchanged() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call(
            "send_vm_key",
            r#"{"node": "pve2", "vmid": 110, "key": "ctrl-alt-delete"}"#,
        )
        .await
        .unwrap();
    let requests = house.sim.requests();
    let sent = requests
        .iter()
        .find(|request| request.method == "PUT")
        .unwrap();
    assert_eq!(sent.path, "/nodes/pve2/qemu/110/sendkey");
    assert!(format!("{:?}", sent.params).contains("ctrl-alt-delete"));
}

#[tokio::test]
async fn a_stopped_vm_and_a_container_are_refused_before_anything_is_sent() {
    let house = House::in_mode(Mode::Trusted).await;
    let stopped = house
        .call("send_vm_key", r#"{"vmid": 105, "key": "ret"}"#)
        .await
        .unwrap_err();
    assert!(stopped.message.contains("is stopped"), "{stopped}");
    assert!(stopped.hint.unwrap().contains("start_proxmox_vm"));
    let container = house
        .call("send_vm_key", r#"{"vmid": 200, "key": "ret"}"#)
        .await
        .unwrap_err();
    assert!(container.message.contains("has no keyboard"), "{container}");
    assert_eq!(house.writes(), [""; 0]);
}
