//! What can become of a task that PVE has started, and of its word that all is well.

use sim::{Fault, Sim};
use tools::outcome::StepState::{Failed, Running, Unknown};
use tools::plan::{Step, Wait};

use super::{Column, has_task, hold, is_first};

/// Lets this happen to the tasks of a step.
fn strike(sim: &Sim, step: &Step, fault: impl Fn(&str) -> Fault) {
    let Wait::Task(trace) = &step.wait else {
        return;
    };
    for kind in &trace.types {
        let fault = fault(kind);
        sim.fault(match trace.vmid {
            Some(vmid) => fault.vmid(vmid.get()),
            None => fault,
        });
    }
}

pub(super) const FAILED: Column = Column {
    name: "a task that fails",
    comes: "`failed`, with the exit status and the last lines of the log.",
    meets: has_task,
    strike: |sim, _, step| {
        strike(sim, step, |kind| {
            Fault::fail_task(kind, "the cat sat on it", "no paws left")
        });
    },
    allows: |_, _| vec![Failed],
    words: &["the cat sat on it", "no paws left"],
    ..Column::PLAIN
};

pub(super) const LOST: Column = Column {
    name: "a task that PVE has forgotten",
    comes: "`unknown`: it was started, and how it went cannot be read.",
    // Every task is, so that nothing follows the first.
    meets: |plan, step| has_task(plan, step) && is_first(plan, step),
    strike: |sim, _, _| {
        let forgotten = Fault::refuse(400, "no such task");
        sim.fault(forgotten.on("GET", "/nodes/*/tasks/*/status"));
    },
    allows: |_, _| vec![Unknown],
    words: &["the task was started", "no such task"],
    ..Column::PLAIN
};

pub(super) const IDLE: Column = Column {
    name: "a task that ends well and has done nothing",
    comes: "`failed`: PVE reported success, but it is not so. `unknown` where it is only likely to be seen, `running` where it may still come.",
    meets: has_task,
    strike: |sim, _, step| strike(sim, step, Fault::idle_task),
    allows: |_, _| vec![Failed, Unknown, Running],
    is_void: true,
    excuses: &[
        ("reset_vm", "a VM runs before and after it"),
        (
            "rollback_container_snapshot",
            "nothing has changed since the snapshot, so that nothing changes back",
        ),
        (
            "manage_node_service",
            "a service runs before and after a restart",
        ),
        ("run_apt_update", "the lists may be as new as those before"),
    ],
    ..Column::PLAIN
};

#[tokio::test]
async fn failed() {
    hold(&FAILED).await;
}

#[tokio::test]
async fn lost() {
    hold(&LOST).await;
}

#[tokio::test]
async fn idle() {
    hold(&IDLE).await;
}
