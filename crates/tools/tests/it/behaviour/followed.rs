//! get_proxmox_task with the id of a plan: how the caller's own changes go, and nobody else's.

use std::time::Duration;

use tools::fault::Kind;

use super::handles::{START, begun, slow_house};
use crate::house::{House, Nobody, call, done};

#[tokio::test]
async fn a_task_is_found_by_its_plan() {
    let house = House::new().await;
    let clone = r#"{"vmid": 900, "new_vmid": 300, "start": true}"#;
    let answer = house.call("clone_proxmox_vm", clone).await.unwrap();
    let plan = answer.data["plan"].as_str().unwrap();
    let look = |id: &str| format!(r#"{{"upid": "{id}", "wait": 5}}"#);
    let told = house.call("get_proxmox_task", &look(plan)).await.unwrap();
    // The last task of the two.
    assert_eq!(told.data["task_type"], "qmstart");
    assert!(told.text.contains("applied: Clone VM 900"), "{}", told.text);
    for wrong in ["abcdefgh", "UPID:pve1", "no plan"] {
        let fault = house.call("get_proxmox_task", &look(wrong)).await;
        assert!(fault.is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn a_plan_is_waited_for_no_longer_than_asked() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = begun(&house, START.0, START.1).await;
    let wait = Duration::from_secs(3);
    let asked = format!(r#"{{"upid": "{plan}", "wait": {}}}"#, wait.as_secs());
    let since = std::time::Instant::now();
    let told = house.call("get_proxmox_task", &asked).await.unwrap();
    assert_eq!(told.data["state"], "running");
    assert!((wait..2 * wait).contains(&since.elapsed()));
}

#[tokio::test]
async fn anothers_plan_is_not_to_be_found() {
    let house = House::new().await;
    let answer = house.call("start_proxmox_vm", r#"{"vmid": 105}"#).await;
    let plan = answer.unwrap().data["plan"].as_str().unwrap().to_owned();
    let asked_by = async |caller: &str, id: &str| {
        let mut call = call("get_proxmox_task", &format!(r#"{{"upid": "{id}"}}"#));
        call.caller = caller.into();
        done(house.engine.call(call, &Nobody).await)
    };
    assert!(asked_by(crate::house::CALLER, &plan).await.is_ok());
    let theirs = asked_by("somebody else", &plan).await.unwrap_err();
    let nobodys = asked_by("somebody else", "abcdefgh").await.unwrap_err();
    assert_eq!(theirs.kind, Kind::NotFound);
    let same = nobodys.to_string().replace("abcdefgh", &plan);
    assert_eq!(
        theirs.to_string(),
        same,
        "it must not tell that there is one"
    );
}
