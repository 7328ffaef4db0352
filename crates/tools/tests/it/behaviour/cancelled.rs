//! A change that somebody wants to end while it goes on.

use futures_util::future::BoxFuture;
use sim::Fault;
use tools::engine::{Asked, Cancelled, Progress, Question, Talk};
use tools::outcome::{Status, StepState};
use tools::store::AuditEntry;

use super::handles::{CLONE, begun, slow_house, until_ended, until_task};
use crate::house::{CALLER, House};

#[tokio::test]
async fn a_cancelled_plan_stops_its_task_and_sends_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = begun(&house, CLONE.0, CLONE.1).await;
    let stranger = house.engine.cancel(&plan, "somebody else").await;
    assert!(stranger.is_err());
    let cancelled = house.engine.cancel(&plan, CALLER).await.unwrap();
    assert_eq!(cancelled, Cancelled::Stopped);
    let ended = until_ended(&house, &house.engine, &plan).await;
    assert_eq!(ended.cancelled_by.as_deref(), Some(CALLER));
    let states: Vec<_> = ended.outcome.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Failed, StepState::NotSent]);
    let writes = house.writes();
    assert_eq!(writes.len(), 2, "{writes:?}");
    assert!(
        writes[1].starts_with("DELETE /nodes/pve1/tasks/UPID"),
        "{writes:?}"
    );
    // The stop is a change of its own.
    let (opened, mut closed) = house.audit().await;
    closed.sort();
    assert_eq!(
        (opened, closed),
        (2, vec!["applied".to_owned(), "failed".to_owned()])
    );
    let over = house.engine.cancel(&plan, CALLER).await.unwrap();
    assert_eq!(over, Cancelled::Over);
}

/// A program inside a guest is no task of PVE that could be ended, whoever insists.
#[tokio::test]
async fn what_has_no_task_goes_on_whoever_insists() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let args = r#"{"vmid": 106, "command": ["sleep 90"], "timeout": 0}"#;
    let answer = house.agreed("run_proxmox_vm_command", args).await.unwrap();
    let plan = answer.data["plan"].as_str().unwrap();
    house.engine.cancel(plan, CALLER).await.unwrap();
    let insisted = house.engine.insist(plan, CALLER, true).await.unwrap();
    assert!(matches!(insisted, Cancelled::GoesOn(_)), "{insisted:?}");
}

#[tokio::test]
async fn what_is_unsafe_to_stop_takes_a_second_decision() {
    for stop in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let house = slow_house(dir.path()).await;
        let asked = r#"{"vmid": 105, "wait": 0}"#;
        let answer = house.agreed("delete_proxmox_vm", asked).await.unwrap();
        let plan = answer.data["plan"].as_str().unwrap();
        until_task(&house.engine, plan).await;
        let before = house.writes().len();
        let cancelled = house.engine.cancel(plan, CALLER).await.unwrap();
        let Cancelled::Undecided(steps) = cancelled else {
            panic!("{cancelled:?}");
        };
        assert!(steps[0].contains("105"), "{steps:?}");
        let handle = house.engine.handle(plan).await.unwrap();
        assert_eq!(handle.unsafe_to_stop, steps);
        assert_eq!(house.writes().len(), before);
        let insisted = house.engine.insist(plan, CALLER, stop).await.unwrap();
        let expected = if stop {
            Cancelled::Stopped
        } else {
            Cancelled::GoesOn(steps)
        };
        assert_eq!(insisted, expected);
        assert_eq!(house.writes().len(), before + usize::from(stop));
        let ended = until_ended(&house, &house.engine, plan).await;
        let expected = if stop {
            Status::Failed
        } else {
            Status::Applied
        };
        assert_eq!(ended.outcome.status, expected, "{:?}", ended.outcome);
        if !stop {
            assert_eq!(why_closed(&house, plan).await, None);
        }
    }
}

/// Why the trail says that a plan ended as it did.
async fn why_closed(house: &House, wanted: &str) -> Option<String> {
    let closed = house
        .trail()
        .await
        .into_iter()
        .find_map(|link| match link.entry {
            AuditEntry::Closed { plan, reason, .. } if plan == wanted => Some(reason),
            _ => None,
        });
    closed.expect("a closing entry")
}

/// What runs is let to its end, and what comes after it is not sent: nothing failed, and the trail says who wanted it so.
#[tokio::test]
async fn a_plan_that_was_cancelled_between_two_steps_says_by_whom() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let args = r#"{"vmid": 110, "stop": true, "wait": 0}"#;
    let answer = house.agreed("delete_proxmox_vm", args).await.unwrap();
    let plan = answer.data["plan"].as_str().unwrap();
    until_task(&house.engine, plan).await;
    let cancelled = house.engine.cancel(plan, CALLER).await.unwrap();
    assert!(
        matches!(cancelled, Cancelled::Undecided(_)),
        "{cancelled:?}"
    );
    house.engine.insist(plan, CALLER, false).await.unwrap();
    let ended = until_ended(&house, &house.engine, plan).await;
    let states: Vec<_> = ended.outcome.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Done, StepState::NotSent]);
    assert_eq!(
        why_closed(&house, plan).await.as_deref(),
        Some("cancelled by test")
    );
}

/// PVE takes the wish to stop a task, and the task goes on.
#[tokio::test]
async fn what_does_not_stop_is_not_said_to_have_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = begun(&house, CLONE.0, CLONE.1).await;
    let deaf = Fault::answer("DELETE", "/nodes/*/tasks/*", serde_json::Value::Null);
    house.sim.fault(deaf);
    let cancelled = house.engine.cancel(&plan, CALLER).await.unwrap();
    let Cancelled::GoesOn(steps) = cancelled else {
        panic!("{cancelled:?}");
    };
    assert!(steps[0].contains("Clone"), "{steps:?}");
}

/// A caller whose token was revoked while the call was being planned.
struct ShutOut;

impl Talk for ShutOut {
    fn progress(&self, _: Progress) {}

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async { Asked::Nobody })
    }

    fn admitted(&self) -> BoxFuture<'_, Result<(), tools::fault::Fault>> {
        Box::pin(async { Err(tools::fault::Fault::refused("the token was revoked")) })
    }
}

#[tokio::test]
async fn call_whose_token_was_revoked_meanwhile_sends_nothing() {
    let house = House::new().await;
    let fault = house.ask("start_proxmox_vm", r#"{"vmid": 105}"#, &ShutOut);
    let fault = fault.await.unwrap_err();
    assert_eq!(fault.message, "the token was revoked");
    assert_eq!(house.writes(), [""; 0]);
    assert_eq!(house.audit().await, (1, vec!["refused".to_owned()]));
}
