//! A person stops everything, or lets nothing but looks through.

use tools::plan::Plan;
use tools::policy::{Decision, Mode, Policy};
use tools::tool::Ran;

use crate::house::{Furnish, House, object};

#[tokio::test]
async fn a_freeze_stops_everything_and_a_thaw_lets_it_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("frozen");
    let policy = Policy {
        mode: Mode::Trusted,
        freeze: Some(file.clone()),
        ..Policy::default()
    };
    let house = House::furnished(Furnish {
        policy,
        ..Furnish::default()
    })
    .await;
    std::fs::write(&file, "").unwrap();
    let fault = house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("frozen"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
    // It runs already: there is nothing to stop.
    let running = house.call("start_proxmox_vm", r#"{"vmid": 100}"#).await;
    assert_eq!(running.unwrap().data["status"], "applied");
    std::fs::remove_file(&file).unwrap();
    house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
}

async fn plan_of_start(house: &House, vmid: u32) -> Plan {
    let is_start = |tool: &&'static dyn tools::tool::Tool| tool.spec().name == "start_proxmox_vm";
    let tool = tools::registry::all().find(is_start).unwrap();
    let args = object(&format!(r#"{{"vmid": {vmid}}}"#));
    match tool.run(args, &house.context()).await.unwrap() {
        Ran::Plan(plan) => *plan,
        Ran::Answer(answer) => panic!("no plan: {}", answer.text),
    }
}

/// The engine looks before it asks the policy, and the policy before it decides. What is already so sends nothing that could
/// be stopped.
#[tokio::test]
async fn the_policy_knows_of_a_freeze_by_itself() {
    let house = House::new().await;
    let dir = tempfile::tempdir().unwrap();
    let policy = |file: &str| Policy {
        mode: Mode::Trusted,
        freeze: Some(dir.path().join(file)),
        ..Policy::default()
    };
    std::fs::write(dir.path().join("frozen"), "").unwrap();
    let stopped = plan_of_start(&house, 105).await;
    let running = plan_of_start(&house, 100).await;
    assert!(matches!(
        policy("frozen").decide(&stopped),
        Decision::Deny(_)
    ));
    assert_eq!(policy("frozen").decide(&running), Decision::Run);
    assert_eq!(policy("thawed").decide(&stopped), Decision::Run);
}
