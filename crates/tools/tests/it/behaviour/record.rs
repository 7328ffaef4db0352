//! What the audit trail records of an attempt: what was planned, what it affected, and nothing that is only the caller's.

use serde_json::{Value, json};
use sim::Fault;
use tools::policy::Mode;

use crate::house::{CALLER, House};

/// The opening and the closing of the only attempt.
async fn recorded(house: &House) -> [Value; 2] {
    let trail = house.trail().await;
    let entries: Vec<_> = trail.iter().map(|link| json!(link.entry)).collect();
    entries.try_into().unwrap()
}

#[tokio::test]
async fn an_attempt_is_recorded_as_it_was_planned_with_what_it_affected() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 105, "set": {"cores": 4}}"#;
    let shown = house.preview("update_proxmox_vm", args).await.unwrap();
    let done = house.call("update_proxmox_vm", args).await.unwrap();
    let [opened, closed] = recorded(&house).await;
    assert_eq!(opened["caller"], CALLER);
    assert_eq!(opened["tool"], "update_proxmox_vm");
    assert_eq!(
        opened["arguments"],
        json!({"vmid": 105, "set": {"cores": 4}})
    );
    assert_eq!(opened["summary"], shown.data["summary"]);
    assert_eq!(opened["risk"], "change");
    assert!(opened["digest"].as_str().unwrap().len() >= 32, "{opened}");
    assert_eq!(closed["plan"], done.data["plan"]);
    assert_eq!(closed["steps"].as_array().unwrap().len(), 1);
    let affects = closed["affects"].as_array().unwrap();
    assert_eq!(affects.len(), 1, "{closed}");
    assert!(affects[0].as_str().unwrap().contains("cores"), "{closed}");
}

/// The error that a caller gets is no second attempt.
#[tokio::test]
async fn what_pve_refuses_is_recorded_once() {
    let house = House::in_mode(Mode::Trusted).await;
    let refused = Fault::refuse(403, "Permission check failed");
    house
        .sim
        .fault(refused.on("POST", "/nodes/*/qemu/*/status/start"));
    let answer = house.call("start_proxmox_vm", r#"{"vmid": 105}"#).await;
    assert!(answer.is_err(), "{answer:?}");
    let [_, closed] = recorded(&house).await;
    assert_eq!(closed["result"], "failed");
    let reason = closed["reason"].as_str().unwrap();
    assert!(reason.contains("Permission check failed"), "{reason}");
}

/// Whoever sends a password twice has called it something else once.
#[tokio::test]
async fn a_secret_is_not_recorded_whatever_its_argument_is_called() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 105, "set": {"cipassword": "Kanarienvogel7", "description": "Kanarienvogel7"}}"#;
    house.agreed("update_proxmox_vm", args).await.unwrap();
    let [opened, _] = recorded(&house).await;
    let set = &opened["arguments"]["set"];
    assert_eq!(set["cipassword"], "<redacted>");
    assert_eq!(set["description"], "<redacted>");
}

/// What a command printed is for the caller alone.
#[tokio::test]
async fn what_a_command_printed_is_not_recorded() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "command": "uptime"}"#;
    let answer = house.agreed("run_proxmox_vm_command", args).await.unwrap();
    assert!(!answer.data["steps"][0]["result"].is_null(), "{answer:?}");
    let [_, closed] = recorded(&house).await;
    assert_eq!(closed["steps"][0]["state"], "done");
    assert_eq!(closed["steps"][0].get("result"), None, "{closed}");
}

#[tokio::test]
async fn a_look_inside_is_recorded_by_the_tool_that_took_it() {
    let house = House::logged_in(Mode::Trusted).await;
    house
        .call("read_vm_terminal", r#"{"vmid": 200}"#)
        .await
        .unwrap();
    let [opened, _] = recorded(&house).await;
    let said = "look inside a guest with read_vm_terminal";
    assert_eq!(opened["summary"], said);
    assert_eq!(opened["risk"], "read");
}
