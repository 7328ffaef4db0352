//! Ends a plan on its caller's behalf: what was not sent is not sent, and what PVE runs for it is stopped where that is
//! safe. What is not is stopped only after a second decision.
//!
//! Stopping a task is a change like any other: a plan of one step, applied, audited and read back.

use std::sync::Arc;

use pve::{Request, Upid, encode_segment};

use super::consent::Frozen;
use super::record::Attempt;
use super::{Call, Engine, Reply, Silent};
use crate::fault::Fault;
use crate::need::Need;
use crate::outcome::{StepOutcome, StepState};
use crate::plan::{Check, Effect, Expect, Impact, Plan, Step, Undo};
use crate::policy::Decision;
use crate::registry::Extras;
use crate::spec::{Risk, Spec, Special, Toolset};

/// How often a step that is just being sent is looked at for its task.
const LOOKS: u32 = 20;

/// The types of tasks that leave nothing half-done when they are stopped: PVE cleans up after them, or they only wait.
/// Whatever is not named here (restore, rollback, delete, move, migrate, and what PVE may add) is unsafe.
const SAFE_TO_STOP: &[&str] = &[
    "vzdump",
    "qmclone",
    "vzclone",
    "qmstart",
    "vzstart",
    "qmshutdown",
    "vzshutdown",
    "qmreboot",
    "vzreboot",
    "hastart",
    "hastop",
    "download",
    "imgcopy",
    "aptupdate",
];

const SPEC: Spec = Spec {
    name: "stop_task",
    title: "Stop a task",
    toolset: Toolset::Core,
    risk: Risk::Disrupt,
    idempotent: true,
    special: Special::NONE,
    needs: Need::Nothing,
    examples: &[],
};

/// What became of the wish to end a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancelled {
    /// It had come to its end before.
    Over,
    /// Nothing more is sent, and nothing of it runs any longer.
    Stopped,
    /// Nothing more is sent, but these steps are not known to have stopped: somebody let them come to their end, or they
    /// were told to stop and have not yet.
    GoesOn(Vec<String>),
    /// Nothing more is sent, but these steps run on: they are unsafe to stop, and it takes a second decision.
    Undecided(Vec<String>),
}

impl Engine {
    /// Ends a plan that `caller` began. Nothing of it is sent from now on.
    pub async fn cancel(self: &Arc<Self>, id: &str, caller: &str) -> Result<Cancelled, Fault> {
        let handle = self.handle_of(id, caller).await?;
        if handle.ended {
            return Ok(Cancelled::Over);
        }
        let store = self.store().await?;
        // One that was not begun is withdrawn; it may be begun right now, and then there is more to end.
        if store.handle(id).await?.is_none()
            && let Some(stored) = store.plan(id).await?
            && store
                .decide_plan(&stored, false, caller, self.now())
                .await?
        {
            self.secret_texts.forget(id);
            return Ok(Cancelled::Stopped);
        }
        store.cancel_handle(id, caller, self.now()).await?;
        self.stop_tasks(id, caller, false).await
    }

    /// The second decision, on the steps that are unsafe to stop. It is taken once; a no lets them come to their end.
    pub async fn insist(
        self: &Arc<Self>,
        id: &str,
        caller: &str,
        stop: bool,
    ) -> Result<Cancelled, Fault> {
        let handle = self.handle_of(id, caller).await?;
        if handle.ended {
            return Ok(Cancelled::Over);
        }
        let taken = self
            .store()
            .await?
            .insist_on_handle(id, stop, self.now())
            .await?;
        if taken && stop {
            return self.stop_tasks(id, caller, true).await;
        }
        let running = self.running_steps(id).await?;
        Ok(going_on(
            running.into_iter().map(|step| step.step).collect(),
        ))
    }

    async fn stop_tasks(
        self: &Arc<Self>,
        id: &str,
        caller: &str,
        all: bool,
    ) -> Result<Cancelled, Fault> {
        let steps = self.running_steps(id).await?;
        let cluster = self.handle(id).await?.outcome.cluster;
        let (mut undecided, mut unstopped) = (Vec::new(), Vec::new());
        for StepOutcome { step, task, .. } in steps {
            match task.as_deref().map(str::parse::<Upid>) {
                Some(Ok(upid)) if all || is_safe_to_stop(&upid) => {
                    if !self.stop_task(&cluster, &upid, &step, caller).await? {
                        unstopped.push(step);
                    }
                }
                // A step whose task has no name yet cannot be told to stop, whoever insists.
                _ if all => unstopped.push(step),
                _ => undecided.push(step),
            }
        }
        if undecided.is_empty() {
            Ok(going_on(unstopped))
        } else {
            Ok(Cancelled::Undecided(undecided))
        }
    }

    /// The steps that run. One that is just being sent is waited for until PVE has named its task.
    async fn running_steps(&self, id: &str) -> Result<Vec<StepOutcome>, Fault> {
        let mut running = Vec::new();
        for _ in 0..LOOKS {
            let handle = self.handle(id).await?;
            let poll = self.cluster(&handle.outcome.cluster)?.pve.task_poll();
            running = handle.outcome.steps;
            running.retain(|step| step.state == StepState::Running);
            if handle.ended || running.iter().all(|step| step.task.is_some()) {
                break;
            }
            tokio::time::sleep(poll).await;
        }
        Ok(running)
    }

    /// Stops a task of PVE: planned, audited and read back like every change. False: it is not known to have stopped.
    async fn stop_task(
        self: &Arc<Self>,
        cluster: &str,
        upid: &Upid,
        of: &str,
        caller: &str,
    ) -> Result<bool, Fault> {
        let arguments = crate::context::arguments([("upid", upid.to_string().into())]);
        let attempt = Arc::new(Attempt::new(self, &Call::new(SPEC.name, arguments, caller)));
        let plan = stop_plan(cluster, upid, of);
        attempt.planned(&plan);
        let stopped = match self.policy().decide(&plan) {
            Decision::Deny(fault) => Err(fault),
            // To end it is the decision.
            Decision::Run | Decision::Ask => {
                let frozen = Frozen::fresh(plan, Some(caller));
                self.apply(*frozen, &Extras::default(), &attempt, &Silent)
                    .await
            }
        };
        match stopped {
            Ok(Reply::Done(answer)) => Ok(answer.data["status"] == "applied"),
            Ok(Reply::Running(..) | Reply::Ask(_)) => Ok(false),
            Err(fault) => Err(attempt.refused(fault).await),
        }
    }
}

/// How a plan was left of which these steps are not known to have stopped.
fn going_on(steps: Vec<String>) -> Cancelled {
    if steps.is_empty() {
        Cancelled::Stopped
    } else {
        Cancelled::GoesOn(steps)
    }
}

fn stop_plan(cluster: &str, upid: &Upid, of: &str) -> Plan {
    let path = format!(
        "/nodes/{}/tasks/{}",
        upid.node(),
        encode_segment(upid.as_str())
    );
    let says = format!("Stop the task of: {of}");
    let mut plan = Plan::new(&SPEC, cluster, says.clone());
    plan.impact
        .push(Impact::new(Effect::Interrupted, "task", upid.to_string()));
    plan.undo = Undo::Impossible {
        because: "a stopped task does not go on; the change can be made anew".to_owned(),
    };
    let check = Check {
        says: "the task has stopped".to_owned(),
        read: Request::get(format!("{path}/status")),
        expect: vec![Expect::Is("status".to_owned(), "stopped".into())],
        settles: true,
        guessed: false,
        and: None,
    };
    plan.steps
        .push(Step::request(says, Request::delete(path)).after(check));
    crate::risk::judge_plan(&mut plan);
    plan
}

fn is_safe_to_stop(upid: &Upid) -> bool {
    SAFE_TO_STOP.contains(&upid.task_type())
}

/// What runs and is unsafe to stop.
pub(super) fn unsafe_steps(steps: &[StepOutcome]) -> Vec<String> {
    let is_unsafe = |step: &&StepOutcome| {
        let task = step.task.as_deref().and_then(|task| task.parse().ok());
        step.state == StepState::Running && task.is_some_and(|upid| !is_safe_to_stop(&upid))
    };
    let found = steps.iter().filter(is_unsafe);
    found.map(|step| step.step.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_is_what_runs_and_must_not_be_stopped() {
        let step = |state, task: &str| StepOutcome {
            state,
            task: Some(format!(
                "UPID:pve1:0000C350:0001869F:6AFA0BC0:{task}:105:root@pam:"
            )),
            ..StepOutcome::unsent(task)
        };
        let safe = SAFE_TO_STOP[0];
        let steps = [
            step(StepState::Running, "qmdestroy"),
            step(StepState::Running, safe),
            step(StepState::Done, "qmdestroy"),
            StepOutcome {
                state: StepState::Running,
                ..StepOutcome::unsent("has no task")
            },
        ];
        assert_eq!(unsafe_steps(&steps), ["qmdestroy"]);
    }
}
