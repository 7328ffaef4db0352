//! One of many guests fails, gets lost, or may not be touched.

use sim::Fault;
use tools::fault::Kind;
use tools::policy::Mode;
use tools::tool::Rendered;

use super::{running, states};
use crate::house::{House, Nobody, call};

#[tokio::test]
async fn a_guest_that_fails_does_not_hide_the_others() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(
        Fault::fail_task(
            "qmstart",
            "kvm: out of memory",
            "start failed: QEMU exited with code 1",
        )
        .vmid(105),
    );
    let fault = house
        .call("start_proxmox_vm", r#"{"vmids": [105, 203, 208]}"#)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::Failed);
    for says in [
        "Start VM 105 (staging) failed: the task ended with: start failed: QEMU exited with code 1",
        "kvm: out of memory",
        "Start container 203 (media); Start container 208 (backup-helper)",
    ] {
        assert!(fault.message.contains(says), "{says}: {fault}");
    }
    let outcome = Rendered::of(&*fault.outcome.unwrap()).unwrap();
    let step = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    assert_eq!(
        states(&outcome),
        [
            step("Start VM 105 (staging)", "failed"),
            step("Start container 203 (media)", "done"),
            step("Start container 208 (backup-helper)", "done"),
        ]
    );
    assert!(running(&house, 203) && running(&house, 208));
    assert_eq!(house.audit().await, (1, vec!["failed".to_owned()]));
}

#[tokio::test]
async fn several_failures_are_all_told() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(Fault::refuse(500, "no more room").on("POST", "/nodes/*/lxc/*/status/start"));
    let fault = house
        .call("start_proxmox_vm", r#"{"vmids": [105, 203, 208]}"#)
        .await
        .unwrap_err();
    for says in [
        "2 of 3 steps failed",
        "Start container 203 (media) failed: PVE answered 500: no more room",
        "Start container 208 (backup-helper) failed: PVE answered 500: no more room",
        "Start VM 105 (staging)",
    ] {
        assert!(fault.message.contains(says), "{says}: {fault}");
    }
    assert!(
        fault
            .hint
            .unwrap()
            .contains(r#"stop_proxmox_vm {"vmids":[105,203,208]}"#),
        "what is stopped already is left alone by it"
    );
}

#[tokio::test]
async fn a_lost_answer_is_found_by_the_guests_own_task() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(
        Fault::drop_after()
            .on("POST", "/nodes/*/lxc/203/status/start")
            .times(1),
    );
    let answer = house
        .call("start_proxmox_vm", r#"{"vmids": [105, 203, 208]}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let task = answer.data["steps"][1]["task"].as_str().unwrap();
    assert!(task.contains(":vzstart:203:"), "{task}");
    assert_eq!(house.writes().len(), 3, "each was sent once");
}

#[tokio::test]
async fn a_request_that_was_lost_leaves_that_guest_unknown_and_the_others_done() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(Fault::drop_before().on("POST", "/nodes/*/lxc/203/status/start"));
    let answer = house
        .call("start_proxmox_vm", r#"{"vmids": [105, 203, 208]}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    let states: Vec<_> = states(&answer)
        .into_iter()
        .map(|(_, state)| state)
        .collect();
    assert_eq!(states, ["done", "unknown", "done"]);
    assert!(
        answer.data["next"]
            .as_str()
            .unwrap()
            .contains("get_proxmox_vm_status with vmid 203 "),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_privilege_missing_for_one_guest_is_named_and_nothing_is_sent() {
    let house = House::new().await;
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "secret");
        world.grant("narrow@pve", "/vms/105", &["VM.Audit", "VM.PowerMgmt"]);
        world.grant("narrow@pve", "/vms/203", &["VM.Audit"]);
    });
    let token = ("narrow@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let engine = house.with_token(&token, tools::policy::Policy::default());
    let start = call("start_proxmox_vm", r#"{"vmids": [105, 203]}"#);
    let fault = engine.call(start, &Nobody).await.unwrap_err();
    assert_eq!(
        fault.message,
        "the token lacks VM.PowerMgmt on /vms/203; nothing was sent"
    );
    assert_eq!(house.writes(), [""; 0]);
}

/// A container has no reset; the whole call says so before anything is sent.
#[tokio::test]
async fn what_one_kind_does_not_have_is_refused_for_all() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house
        .call(
            "stop_proxmox_vm",
            r#"{"vmids": [100, 200], "action": "reset"}"#,
        )
        .await
        .unwrap_err();
    assert!(fault.message.contains("container 200 (dns)"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}
