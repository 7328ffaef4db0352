//! Limits on what callers leave in the store: how many plans wait for approval, and how large a plan is.

use tools::engine::Call;
use tools::fault::Kind;
use tools::policy::Mode;
use tools::store::{Store, StoredPlan};

use super::store::plan_to_store;
use crate::house::{CALLER, House, Nobody, object};

const NOW: i64 = 1;

/// A waiting plan of this caller, different from all others.
fn waiting(like: &StoredPlan, caller: &str, index: usize) -> StoredPlan {
    let id = format!("{caller}/{index}");
    StoredPlan {
        caller: caller.to_owned(),
        arguments: id.clone(),
        expires: i64::MAX,
        id,
        ..like.clone()
    }
}

#[tokio::test]
async fn caller_with_20_waiting_plans_is_refused() {
    let like = plan_to_store().await;
    let house = House::new().await;
    let store = house.engine.store().await.unwrap();
    for index in 0..20 {
        let plan = waiting(&like, CALLER, index);
        store.keep_plan(&plan, NOW).await.unwrap();
    }
    let arguments = r#"{"vmid": 105}"#;
    let fault = house.call("delete_proxmox_vm", arguments).await;
    let fault = fault.unwrap_err();
    assert_eq!(fault.kind, Kind::Refused);
    assert!(fault.message.contains("20 plans of this caller"), "{fault}");
    assert!(
        fault.to_string().contains("approved or rejected"),
        "{fault}"
    );
    // Another caller is not held back.
    let call = Call::new("delete_proxmox_vm", object(arguments), "other");
    assert!(house.engine.call(call, &Nobody).await.is_ok());
    // A decision makes room.
    let decided = waiting(&like, CALLER, 0);
    let decide = store.decide_plan(&decided, false, "person", NOW);
    assert!(decide.await.unwrap());
    house.call("delete_proxmox_vm", arguments).await.unwrap();
    // A repeated call finds its question, and a changed plan replaces it.
    house.call("delete_proxmox_vm", arguments).await.unwrap();
    house.set(105, "cores", "7");
    house.call("delete_proxmox_vm", arguments).await.unwrap();
}

#[tokio::test]
async fn name_that_a_client_gives_itself_does_not_raise_the_limit() {
    let like = plan_to_store().await;
    let store = Store::in_memory().unwrap();
    for index in 0..20 {
        let plan = waiting(&like, &format!("http:client-{index}"), 0);
        store.keep_plan(&plan, NOW).await.unwrap();
    }
    for name in ["http:another", "http"] {
        let refused = store.keep_plan(&waiting(&like, name, 1), NOW).await;
        assert!(refused.is_err(), "{name}");
        assert!(store.plan(&format!("{name}/1")).await.unwrap().is_none());
    }
    let other = waiting(&like, "stdio:another", 0);
    store.keep_plan(&other, NOW).await.unwrap();
}

#[tokio::test]
async fn concurrent_calls_do_not_pass_the_limit() {
    let like = plan_to_store().await;
    let store = Store::in_memory().unwrap();
    let plans: Vec<_> = (0..40).map(|index| waiting(&like, "ci", index)).collect();
    let kept = plans.iter().map(|plan| store.keep_plan(plan, NOW));
    let kept = futures_util::future::join_all(kept).await;
    assert_eq!(kept.iter().filter(|kept| kept.is_ok()).count(), 20);
    assert_eq!(store.count_waiting(NOW).await.unwrap(), 20);
}

#[tokio::test]
async fn store_with_200_waiting_plans_is_full() {
    let like = plan_to_store().await;
    let store = Store::in_memory().unwrap();
    for caller in 0..10 {
        for index in 0..20 {
            let plan = waiting(&like, &format!("caller-{caller}"), index);
            store.keep_plan(&plan, NOW).await.unwrap();
        }
    }
    let refused = store.keep_plan(&waiting(&like, "new", 0), NOW).await;
    let fault = refused.unwrap_err();
    assert!(
        fault.message.starts_with("200 plans are waiting"),
        "{fault}"
    );
}

#[tokio::test]
async fn expired_plans_do_not_count_and_are_deleted_after_a_day() {
    let like = plan_to_store().await;
    let store = Store::in_memory().unwrap();
    let (day, expires) = (24 * 3600, 900);
    for index in 0..20 {
        let plan = StoredPlan {
            expires,
            ..waiting(&like, "ci", index)
        };
        store.keep_plan(&plan, NOW).await.unwrap();
    }
    for (expires, is_kept) in [(expires + day, true), (expires + day + 1, false)] {
        let next = StoredPlan {
            expires,
            ..waiting(&like, "ci", usize::try_from(expires).unwrap())
        };
        store.keep_plan(&next, expires - 1).await.unwrap();
        assert_eq!(store.plan("ci/0").await.unwrap().is_some(), is_kept);
    }
}

#[tokio::test]
async fn plan_of_more_than_256_kib_is_refused() {
    for mode in [Mode::Ask, Mode::Trusted] {
        let house = House::in_mode(mode).await;
        let text = "x".repeat(300 * 1024);
        let arguments = format!(r#"{{"vmid": 105, "set": {{"description": "{text}"}}}}"#);
        let fault = house.call("update_proxmox_vm", &arguments).await;
        let fault = fault.unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{}", fault.message.len());
        assert!(fault.message.contains("at most 256.0 KiB"), "{fault}");
        assert!(fault.to_string().contains("smaller call"), "{fault}");
        assert!(fault.to_string().len() < 1_000);
        assert_eq!(house.writes(), [""; 0]);
        let store = house.engine.store().await.unwrap();
        assert_eq!(store.count_waiting(0).await.unwrap(), 0);
    }
}
