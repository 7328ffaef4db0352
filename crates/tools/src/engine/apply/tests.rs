//! What the steps of a plan add up to, and what is said of it.

use super::*;
use crate::plan::tests::{at, plan, post, stop, target};

const UPID: &str = "UPID:pve1:0000C350:0001869F:6AFA0BC0:qmstop:100:root@pam:";

fn step(state: StepState) -> StepOutcome {
    StepOutcome {
        state,
        task: (state == StepState::Running).then(|| UPID.to_owned()),
        ..StepOutcome::unsent("Stop VM 100")
    }
}

fn steps(states: &[StepState]) -> Vec<StepOutcome> {
    states.iter().copied().map(step).collect()
}

/// A plan with a step for each of these.
fn ended(states: &[StepState]) -> Outcome {
    let plan = plan(&["100"], states.iter().map(|_| stop("100")).collect());
    finished("plan-1", &plan, steps(states))
}

/// What is said of a plan with these steps that failed.
fn said(plan: &Plan, steps: Vec<StepOutcome>) -> Fault {
    failure(&finished("plan-1", plan, steps), plan).expect("a step failed")
}

#[test]
fn the_gravest_of_its_steps_is_what_became_of_a_plan() {
    use StepState::{Done, Failed, NotSent, Running, Unknown};
    for (states, status) in [
        (&[][..], Status::Applied),
        (&[Done, Done][..], Status::Applied),
        (&[Done, NotSent][..], Status::Failed),
        (&[NotSent, NotSent][..], Status::NotApplied),
        (&[Done, Running][..], Status::Running),
        (&[Running, Unknown][..], Status::Unknown),
        (&[Unknown, Failed, NotSent][..], Status::Failed),
    ] {
        assert_eq!(ended(states).status, status, "{states:?}");
    }
}

#[test]
fn what_is_next_fits_what_became_of_it() {
    use StepState::{Done, NotSent, Running, Unknown};
    let next = |states: &[StepState]| ended(states).next.unwrap_or_default();
    assert_eq!(next(&[]), NOTHING_SENT);
    assert_eq!(next(&[Done]), "");
    assert_eq!(next(&[NotSent]), "");
    assert!(next(&[Unknown]).contains("do not send it again before looking"));
    assert!(!next(&[Running]).contains("not sent"));
    assert!(next(&[Running, NotSent]).contains("the steps after it were not sent"));
}

#[test]
fn one_step_is_followed_by_its_task_and_several_by_their_plan() {
    use StepState::{Done, Running};
    let followed = |states: &[StepState]| running_hint("plan-1", &steps(states));
    assert!(followed(&[Running]).contains(UPID));
    assert!(followed(&[Done, Running]).contains("plan-1"));
    assert!(followed(&[Done]).contains("plan-1"));
}

#[test]
fn a_failure_names_what_there_was_of_each_and_nothing_else() {
    use StepState::{Done, Failed, NotSent, Unknown};
    let message = |states: &[StepState]| {
        let plan = plan(&["100"], states.iter().map(|_| stop("100")).collect());
        said(&plan, steps(states)).message
    };
    let parts = |message: String| {
        let parts = ["done before", "not known to have ended", "not sent"];
        parts.map(|part| message.contains(part))
    };
    assert_eq!(parts(message(&[Failed])), [false, false, false]);
    assert_eq!(parts(message(&[Done, Failed])), [true, false, false]);
    assert_eq!(parts(message(&[Unknown, Failed])), [false, true, false]);
    assert_eq!(parts(message(&[Failed, NotSent])), [false, false, true]);
    assert!(message(&[Failed, Failed]).starts_with("2 of 2 steps failed"));
    assert!(failure(&ended(&[Done]), &plan(&[], vec![stop("100")])).is_none());
}

/// To clean up is said only where something that cleaning up takes back was done.
#[test]
fn a_failure_offers_the_undo_of_what_was_done() {
    use StepState::{Done, Failed};
    let offered = |first: Step, states: &[StepState]| {
        let mut plan = plan(&["100"], vec![first, stop("100")]);
        plan.undo = Undo::Call {
            tool: "start_proxmox_vm".to_owned(),
            arguments: serde_json::Map::new(),
        };
        let hint = said(&plan, steps(states)).hint;
        hint.is_some_and(|hint| hint.contains("start_proxmox_vm"))
    };
    assert!(offered(stop("100"), &[Done, Failed]));
    assert!(!offered(stop("100"), &[Failed, Failed]));
    assert!(!offered(stop("100").prepares(), &[Done, Failed]));
}

/// Somebody took the id of a guest that was to be made, and nothing else is called that.
#[test]
fn an_id_is_taken_where_a_guest_was_to_be_made() {
    let hint = |guards: Vec<Guard>, state: StepState, detail: &str| {
        let mut plan = plan(&[], vec![post("/nodes/pve1/qemu"), stop("101")]);
        plan.targets = vec![target("100")];
        plan.guards = guards;
        let made = StepOutcome {
            detail: Some(detail.to_owned()),
            ..step(state)
        };
        let hint = said(&plan, vec![made, step(StepState::Failed)]).hint;
        hint.unwrap_or_default()
    };
    let (failed, exists) = (
        StepState::Failed,
        "unable to create VM 100: config file already exists",
    );
    let vmid = at("100").vmid;
    let free = || vec![Guard::VmidFree(vmid)];
    assert!(hint(free(), failed, exists).contains("make the call with another id"));
    assert!(hint(vec![Guard::NextVmid(vmid)], failed, exists).contains("the next free id"));
    for other in [
        hint(Vec::new(), failed, exists),
        hint(free(), StepState::Done, exists),
        hint(free(), failed, "no space left on device"),
    ] {
        assert!(!other.contains("has taken the id"), "{other}");
    }
}
