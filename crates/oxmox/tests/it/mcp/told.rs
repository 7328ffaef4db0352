//! What the page is told of plans, tasks and the trail: never more than is so.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sim::worlds::homelab;
use tools::caller::Bounds;
use tools::context::Cluster;
use tools::engine::{Call, Engine, Reply, Setup, Silent, State};
use tools::policy::Policy;

use super::browser::{Browser, delete, served};
use super::http::serve;
use super::lasting::Stream;
use super::{World, settings, setup, slow_world};
use crate::raw;

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

/// The task of a VM that is starting, for as long as the test likes.
async fn starting(world: &World) -> String {
    let arguments = tools::context::arguments([("vmid", json!(105)), ("wait", json!(0))]);
    let call = Call::new("start_proxmox_vm", arguments, "agent");
    let Reply::Running(_, plan) = world.engine.call(call, &Silent).await.unwrap() else {
        panic!("it does not go on");
    };
    loop {
        let handle = world.engine.handle(&plan).await.unwrap();
        if let Some(task) = &handle.outcome.steps[0].task {
            return task.clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_task_is_followed_to_its_end_though_a_look_at_it_fails() {
    let world = slow_world(State::Memory).await;
    let upid = starting(&world).await;
    let served = serve(&world).await;
    let page = Browser::at(&served);
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let request = raw::request(
        &format!("GET /api/follow/{upid}"),
        &served.address.to_string(),
        &[("Cookie", &owner.cookie)],
        None,
    );
    let mut told = Stream::begin(&served, &request, r#""state":"running""#).await;
    let fault = sim::Fault::refuse(500, "got timeout").on("GET", "/nodes/*/tasks/*");
    world.sim.fault(fault);
    told.until("event: trouble").await;
    world.sim.clear_faults();
    world.sim.advance(Duration::from_hours(1));
    told.until(r#""state":"ok""#).await;
    let heard = told.until_it_ends().await;
    assert_eq!(heard.matches("event: trouble").count(), 1, "{heard}");
}

#[tokio::test]
async fn what_is_no_task_is_not_looked_for_again() {
    let world = slow_world(State::Memory).await;
    let served = serve(&world).await;
    let page = Browser::at(&served);
    let owner = page.person(&world, "owner", Bounds::default()).await;
    for none in [
        "abcdefgh",
        "UPID:pve1:0000A1B2:00C3D4E5:65A1B2C3:qmstart:100:root@pam:",
    ] {
        let answer = owner.get(&format!("/api/follow/{none}")).await;
        let told = answer.body.to_string();
        assert!(told.contains("event: failed"), "{none}: {told}");
    }
}

/// A walk from the beginning is for whoever opens the trail; who has it open has what is new looked at.
#[tokio::test]
async fn the_chain_is_walked_from_the_beginning_only_when_the_trail_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let world = slow_world(State::Dir(dir.path().to_owned())).await;
    let page = served(&world, false).await;
    let owner = page.person(&world, "owner", Bounds::default()).await;
    let entries = async |path: &str| owner.get(path).await.body["entries"].clone();
    delete(&world, "agent").await;
    // The first look is whole, whatever it was asked for.
    assert_eq!(entries("/api/audit/chain/news").await, 2);
    let database = rusqlite::Connection::open(dir.path().join("oxmox.db")).unwrap();
    let edit = |from: &str, to: &str| {
        let edit = "UPDATE audit SET entry = replace(entry, ?1, ?2) WHERE seq = 1";
        assert_eq!(database.execute(edit, [from, to]).unwrap(), 1);
    };
    edit("agent", "nobody");
    delete(&world, "another").await;
    assert_eq!(entries("/api/audit/chain/news").await, 4);
    for path in ["/api/audit/chain", "/api/audit/chain/news"] {
        assert_eq!(owner.get(path).await.body["broken_at"], 1, "{path}");
    }
    edit("nobody", "agent");
    assert_eq!(entries("/api/audit/chain").await, 4);
    assert_eq!(entries("/api/audit/chain/news").await, 4);
}
