//! Moves that do not work, and answers that are lost.

use serde_json::json;
use sim::Fault;
use tools::fault::Kind;
use tools::policy::Mode;

use super::{MIGRATE, place};
use crate::house::House;

#[tokio::test]
async fn a_migration_that_fails_says_where_the_guest_is() {
    for (vmid, task, more) in [
        (109, "qmigrate", r#", "with_local_disks": true"#),
        (200, "vzmigrate", r#", "restart": true"#),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        house
            .sim
            .fault(Fault::fail_task(task, "copy failed", "migration aborted"));
        let args = format!(r#"{{"vmid": {vmid}, "target": "pve2"{more}}}"#);
        let fault = house.call(MIGRATE, &args).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Failed);
        for says in ["migration aborted", "copy failed", "is still on pve1"] {
            assert!(fault.message.contains(says), "{says}: {fault}");
        }
        assert_eq!(place(&house, vmid).0, "pve1");
    }
}

/// The second of three steps fails: the VM is down, on its old node, and both are said.
#[tokio::test]
async fn a_restart_that_gets_stuck_says_what_was_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(Fault::fail_task(
        "qmigrate",
        "no route to host",
        "migration aborted",
    ));
    let args = r#"{"vmid": 110, "target": "pve1", "restart": true}"#;
    let fault = house.call(MIGRATE, args).await.unwrap_err();
    for says in [
        "VM 110 (desktop) is still on pve2 and stopped",
        "Shut down VM 110 (desktop)",
        "not sent: Start VM 110 (desktop)",
    ] {
        assert!(fault.message.contains(says), "{says}: {fault}");
    }
    // It has not moved: there is nothing to move back.
    assert!(!fault.to_string().contains(MIGRATE), "{fault}");
}

/// The last of them fails: now there is.
#[tokio::test]
async fn a_restart_that_does_not_come_up_says_how_to_move_back() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(Fault::fail_task("qmstart", "no bridge", "start failed"));
    let args = r#"{"vmid": 110, "target": "pve1", "restart": true}"#;
    let fault = house.call(MIGRATE, args).await.unwrap_err();
    let hint = fault.hint.unwrap();
    let (_, back) = hint.split_once("migrate_proxmox_vm ").expect(&hint);
    house.sim.clear_faults();
    let answer = house.call(MIGRATE, back).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(place(&house, 110).0, "pve2");
}

#[tokio::test]
async fn a_lost_answer_is_found_by_its_task_and_sent_once() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(
        Fault::drop_after()
            .on("POST", "/nodes/*/qemu/105/migrate")
            .times(1),
    );
    let answer = house
        .call(MIGRATE, r#"{"vmid": 105, "target": "pve2"}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(house.writes(), ["POST /nodes/pve1/qemu/105/migrate"]);
    house
        .sim
        .fault(Fault::drop_before().on("POST", "/nodes/*/lxc/203/migrate"));
    let lost = house
        .call(MIGRATE, r#"{"vmid": 203, "target": "pve2"}"#)
        .await
        .unwrap();
    assert_eq!(lost.data["status"], "unknown", "{}", lost.text);
}

/// The vmid was given to another guest while it was on its way: that one is not started.
#[tokio::test]
async fn another_guest_under_the_same_number_is_not_started() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(Fault::answer(
        "GET",
        "/nodes/pve1/qemu/110/config",
        json!({"smbios1": "uuid=00000000-0000-4000-8000-00000000dead", "vmgenid": "00000000-0000-4000-8000-00000000beef",
               "meta": "creation-qemu=10.1.2,ctime=1"}),
    ));
    let args = r#"{"vmid": 110, "target": "pve1", "restart": true}"#;
    let fault = house.call(MIGRATE, args).await.unwrap_err();
    assert!(
        fault.message.contains("now belongs to another guest"),
        "{fault}"
    );
    assert_eq!(house.writes().len(), 2, "the start was not sent");
}
