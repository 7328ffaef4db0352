//! The names under which callers follow their plans: nobody else can guess one, or use it.

use tools::policy::Mode;

use crate::house::{CALLER, House};

#[tokio::test]
async fn a_plan_is_followed_under_a_name_that_is_good_for_its_caller_alone() {
    let house = House::in_mode(Mode::Trusted).await;
    let start = house.call("start_proxmox_vm", r#"{"vmid": 105}"#).await;
    let other = house.call("stop_proxmox_vm", r#"{"vmid": 110}"#).await;
    let id = |answer: &tools::tool::Rendered| answer.data["plan"].as_str().unwrap().to_owned();
    let (plan, other) = (id(&start.unwrap()), id(&other.unwrap()));
    let engine = &house.engine;
    let task = engine.task_id(&plan).await.unwrap();
    assert_eq!(engine.task_plan(&task, CALLER).await.unwrap(), plan);
    let (_, seal) = task.split_once('.').unwrap();
    assert!(seal.len() >= 16, "{task}");
    for (task, caller) in [
        (task.clone(), "somebody else"),
        (plan.clone(), CALLER),
        (format!("{plan}."), CALLER),
        (format!("{plan}.{}", seal.to_uppercase() + "x"), CALLER),
        (format!("{other}.{seal}"), CALLER),
        (format!("nothing.{seal}"), CALLER),
    ] {
        let fault = engine.task_plan(&task, caller).await.unwrap_err();
        assert_eq!(fault.message, "there is no such task", "{task} {caller}");
    }
    let fault = engine.task_id("nothing").await.unwrap_err();
    assert_eq!(fault.message, "there is no such task");
}
