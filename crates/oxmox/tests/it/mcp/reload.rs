//! Settings that change while the server runs, and its end.

use std::sync::Arc;
use std::time::Duration;

use oxmox::http::{Live, Settings};
use serde_json::json;
use tokio::sync::watch;
use tools::engine::State;
use tools::policy::{Mode, Policy, Rule, Verdict};

use super::http::{serve, serve_by};
use super::tls::{self, certificate};
use super::{slow_world, world};

#[tokio::test]
async fn other_rules_decide_from_the_next_call_on_and_the_list_stays() {
    let world = world().await;
    let served = serve(&world).await;
    let tools = async || {
        let listed = served.ask("tools/list", json!({}), &[]).await.message();
        listed["result"]["tools"].as_array().unwrap().len()
    };
    let start = async || {
        let call = json!({"name": "start_proxmox_vm", "arguments": {"vmid": 105}});
        let told = served.ask("tools/call", call, &[]).await.message();
        told["result"]["content"][0]["text"].to_string()
    };
    let before = tools().await;
    let read_only = Policy {
        mode: Mode::ReadOnly,
        ..Policy::default()
    };
    world.engine.decide_by(read_only).unwrap();
    assert!(start().await.contains("read-only"));
    let denied = Policy {
        rules: vec![Rule {
            verdict: Some(Verdict::Deny),
            ..Rule::default()
        }],
        ..Policy::default()
    };
    world.engine.decide_by(denied).unwrap();
    let refused = start().await;
    assert!(refused.contains("rule"), "{refused}");
    assert!(world.writes().is_empty());
    world.engine.decide_by(Policy::default()).unwrap();
    start().await;
    assert_eq!(world.writes().len(), 1);
    assert_eq!(tools().await, before);
}

#[tokio::test]
async fn a_certificate_takes_the_place_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let (old, old_certificate) = certificate(dir.path(), "old");
    let (new, new_certificate) = certificate(dir.path(), "new");
    let live = |tls| {
        let settings = Settings {
            tls,
            ..Settings::default()
        };
        Live::new(&settings).unwrap()
    };
    let world = world().await;
    let (change, seen) = watch::channel(Arc::new(live(Some(old))));
    let served = serve_by(&world, seen).await;
    assert_eq!(
        tls::get(&served, &old_certificate, "/healthz").await.status,
        200
    );
    assert!(live(None).following(&change.borrow()).is_err());
    let next = live(Some(new)).following(&change.borrow()).unwrap();
    change.send_replace(Arc::new(next));
    assert_eq!(
        tls::get(&served, &new_certificate, "/healthz").await.status,
        200
    );
}

#[tokio::test]
async fn a_call_that_waits_at_the_end_gets_its_answer() {
    let world = slow_world(State::Memory).await;
    let served = serve(&world).await;
    let call = json!({"name": "start_proxmox_vm", "arguments": {"vmid": 105, "wait": 60}});
    let waiting = served.ask("tools/call", call, &[]);
    let end = async {
        while world.writes().is_empty() {
            tokio::task::yield_now().await;
        }
        served.stop.cancel();
        // Nobody new is let in.
        while tokio::net::TcpStream::connect(served.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        world.sim.advance(Duration::from_secs(30));
    };
    let (answer, ()) = tokio::join!(waiting, end);
    let answer = answer.message();
    assert_eq!(
        answer["result"]["structuredContent"]["status"], "applied",
        "{answer}"
    );
    served.task.await.unwrap().unwrap();
    assert!(world.engine.drain(Duration::from_secs(5)).await);
}
