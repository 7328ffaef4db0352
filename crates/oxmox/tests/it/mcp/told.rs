//! What the page is told of plans and tasks: never more than is so.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use sim::worlds::homelab;
use tools::caller::Bounds;
use tools::context::Cluster;
use tools::engine::{Engine, Setup, State};
use tools::policy::Policy;

use super::browser::{Browser, delete, served};
use super::{World, settings, setup};

/// A world whose time passes when the test says so.
async fn timed_world() -> (World, Arc<AtomicI64>) {
    let sim = sim::Sim::start(homelab()).await.unwrap();
    let (reader, writer) = pve::connect(settings(&sim)).unwrap();
    let time = Arc::new(AtomicI64::new(1_800_000_000));
    let clock = time.clone();
    let setup = Setup {
        clock: Arc::new(move || clock.load(Ordering::Relaxed)),
        ..setup(State::Memory, Policy::default())
    };
    let engine = Engine::new(vec![(Cluster::new("homelab", reader), writer)], setup);
    (World { sim, engine }, time)
}

/// What the page says of a plan: its status, whether that is the last word, and whether somebody said yes.
async fn stands(browser: &Browser, plan: &Value) -> Value {
    let path = format!("/api/plan/{}", plan.as_str().unwrap());
    let seen = browser.get(&path).await.body;
    json!([seen["outcome"]["status"], seen["ended"], seen["approved"]])
}

#[tokio::test]
async fn nobody_is_told_of_a_yes_that_was_not_given_or_has_expired() {
    let (world, time) = timed_world().await;
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let id = &delete(&world, "agent").await["plan"];
    let waits = json!(["needs_confirmation", false, false]);
    assert_eq!(stands(&owner, id).await, waits);
    time.fetch_add(16 * 60, Ordering::Relaxed);
    let over = json!(["not_applied", true, false]);
    assert_eq!(stands(&owner, id).await, over);

    let id = &delete(&world, "agent").await["plan"];
    let [plan] = owner.inbox().await.try_into().unwrap();
    assert_eq!(owner.decide(&plan, true).await.status, 200);
    let approved = json!(["needs_confirmation", false, true]);
    assert_eq!(stands(&owner, id).await, approved);
    time.fetch_add(16 * 60, Ordering::Relaxed);
    assert_eq!(stands(&owner, id).await, over);
    assert!(world.writes().is_empty());
}
