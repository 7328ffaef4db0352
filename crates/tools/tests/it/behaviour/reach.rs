//! What a service does to its engine while it runs: other settings, figures, and the end.

use std::time::Duration;

use tools::engine::{Engine, Progress, Question, Talk};
use tools::policy::{Mode, Policy};

use crate::house::{House, call, done};

const START: (&str, &str) = ("start_proxmox_vm", r#"{"vmid": 105}"#);

fn policy(mode: Mode) -> Policy {
    Policy {
        mode,
        ..Policy::default()
    }
}

/// The tools for more are not offered, so that settings that would let them run are a mistake.
#[tokio::test]
async fn the_engine_decides_by_new_settings_unless_they_reach_further() {
    let house = House::in_mode(Mode::Ask).await;
    house.engine.decide_by(policy(Mode::ReadOnly)).unwrap();
    let fault = house.call(START.0, START.1).await.unwrap_err();
    assert!(fault.message.contains("read-only"), "{fault}");
    house.engine.decide_by(policy(Mode::Ask)).unwrap();
    house.call(START.0, START.1).await.unwrap();
    let house = House::in_mode(Mode::ReadOnly).await;
    house.engine.decide_by(policy(Mode::ReadOnly)).unwrap();
    let fault = house.engine.decide_by(policy(Mode::Ask)).unwrap_err();
    assert!(fault.message.contains("lets more happen"), "{fault}");
    assert_eq!(house.engine.policy().mode, Mode::ReadOnly);
}

#[tokio::test]
async fn the_meter_counts_calls_and_what_became_of_plans() {
    let house = House::in_mode(Mode::Trusted).await;
    house.call(START.0, START.1).await.unwrap();
    let meter = house.engine.meter();
    assert_eq!(meter.calls()[START.0].count, 1);
    assert_eq!(meter.plans().get("applied"), Some(&1));
}

/// Tells the engine to come to an end once somebody is waited for.
struct Hurrying<'a>(&'a Engine);

impl Talk for Hurrying<'_> {
    fn progress(&self, _: Progress) {
        self.0.hurry();
    }

    fn ask<'a>(
        &'a self,
        _: &'a Question,
    ) -> futures_util::future::BoxFuture<'a, tools::engine::Asked> {
        Box::pin(async { tools::engine::Asked::Nobody })
    }
}

/// Nobody decides; without the hurry the call would wait for ten minutes.
#[tokio::test]
async fn a_call_that_waits_for_a_decision_is_answered_before_the_process_ends() {
    let house = House::new().await;
    let delete = call("delete_proxmox_vm", r#"{"vmid": 105, "wait": 600}"#);
    let talk = Hurrying(&house.engine);
    let answered = tokio::time::timeout(Duration::from_mins(1), house.engine.call(delete, &talk));
    let answer = done(answered.await.expect("it was answered")).unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
}
