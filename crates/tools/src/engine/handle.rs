//! Where a plan stands that was begun, whoever began it: this process, another one on the same store, or one that is dead.
//!
//! Everybody who asks how a change is going asks [`Engine::handle`]. It only reads. A plan whose worker is gone is worked
//! out from the tasks that PVE ran for it and from what its steps should have brought about; what was not sent by then
//! never is.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use pve::{Reader, Upid, Vmid};

use super::Engine;
use super::agent;
use super::apply::{failure, finished, running_hint};
use super::doubt::Before;
use super::question::LIFETIME;
use super::step::{Known, doing, ended};
use super::worker::AtWork;
use crate::baseline::{Baseline, Baselines};
use crate::begun::{Begun, Unended};
use crate::fault::{Fault, Kind};
use crate::outcome::{Outcome, Status, StepOutcome, StepState};
use crate::plan::{Action, Plan, Step};
use crate::store::{AuditEntry, PlanState, StoredHandle, StoredPlan, StoredStep};

/// How often a look reads what PVE brings about after its task: it may come again.
const LOOKS_WHILE_SETTLING: u32 = 1;
/// Why a step that was never sent will not be.
const WORKER_GONE: &str = "oxmox ended before this was sent";

/// A plan that was begun, as it stands now.
#[derive(Debug, Clone)]
pub struct Handle {
    /// What is known of it. `running` while it goes on.
    pub outcome: Outcome,
    /// Whether that is the last word.
    pub ended: bool,
    /// What is going on, with the last line of the task's log.
    pub doing: Option<String>,
    /// Unix time at which it was begun, or shown if it was not.
    pub begun: i64,
    /// Unix time at which something was last known of it.
    pub updated: i64,
    /// Who wants it to end.
    pub cancelled_by: Option<String>,
    /// What still runs though it was cancelled, because it is unsafe to stop and nobody has decided to stop it all the
    /// same.
    pub unsafe_to_stop: Vec<String>,
    /// The error that it ended in, as the call itself would have told it.
    pub fault: Option<Fault>,
}

impl Engine {
    /// Writes down that this process is about to send a plan.
    pub(super) async fn begin(
        self: &Arc<Self>,
        outcome: &Outcome,
        opened: &AuditEntry,
    ) -> Result<AtWork, Fault> {
        let at_work = self.at_work(&outcome.plan).await?;
        let worker = &self.worker().await?.id;
        self.store()
            .await?
            .begin_handle(&outcome.plan, worker, &outcome.steps, (opened, self.now()))
            .await?;
        Ok(at_work)
    }

    /// Where a plan stands. Reads only; if it has come to its end and nobody has written that down, it is written down
    /// now, once.
    pub async fn handle(&self, id: &str) -> Result<Handle, Fault> {
        let store = self.store().await?;
        let stored = store.plan(id).await?.ok_or_else(|| no_such_plan(id))?;
        let Some(held) = store.handle(id).await? else {
            return Ok(not_begun(&stored));
        };
        if let Some(outcome) = store.plan_outcome(id).await? {
            return self.again(outcome, &stored, held).await;
        }
        // Asked before the steps are read: what a worker writes before it leaves is then seen.
        let at_work = self.is_at_work(&held.worker, id).await?;
        let steps = store.steps(id).await?;
        // It may have ended between the two looks.
        if let Some(outcome) = store.plan_outcome(id).await? {
            return self.again(outcome, &stored, held).await;
        }
        if at_work {
            let steps = steps.into_iter().map(|step| step.outcome).collect();
            return Ok(self.going_on(&stored, held, steps).await);
        }
        self.reconcile(&stored, held, steps).await
    }

    /// Where a plan of this caller stands. Of another's there is nothing to be learned, not even that there is one.
    pub(super) async fn handle_of(&self, id: &str, caller: &str) -> Result<Handle, Fault> {
        match self.store().await?.plan(id).await? {
            Some(stored) if stored.caller == caller => self.handle(id).await,
            _ => Err(no_such_plan(id)),
        }
    }

    /// Its worker is gone: reads what became of each step that may have been sent.
    async fn reconcile(
        &self,
        stored: &StoredPlan,
        held: StoredHandle,
        kept: Vec<StoredStep>,
    ) -> Result<Handle, Fault> {
        let pve = &self.cluster(&stored.plan.cluster)?.pve;
        let store = self.store().await?;
        let mut steps = Vec::new();
        for (index, (step, kept)) in stored.plan.steps.iter().zip(kept).enumerate() {
            let before = kept.before.as_deref().and_then(Before::parse);
            let sent = before.map(|before| (before, self.now()));
            let mut found = look(pve, step, kept.outcome.clone(), sent).await;
            if found.state == StepState::NotSent && found.detail.is_none() {
                found.detail = Some(WORKER_GONE.to_owned());
            }
            if found != kept.outcome {
                let replaced = store.replace_step(&stored.id, index, &kept.outcome, &found);
                if !replaced.await? {
                    return self.after_all(stored, held).await;
                }
            }
            steps.push(found);
        }
        if steps.iter().any(is_open) {
            return Ok(self.going_on(stored, held, steps).await);
        }
        let outcome = broken_off(finished(&stored.id, &stored.plan, steps));
        let reason = failure(&outcome, &stored.plan).map(|fault| fault.to_string());
        let closed = self.close((&outcome, &stored.plan), reason, Some(&outcome.steps));
        if !closed.await? {
            return self.after_all(stored, held).await;
        }
        Ok(of(outcome, stored, held))
    }

    /// Whoever was taken for dead lives, or somebody else was first to find out.
    async fn after_all(&self, stored: &StoredPlan, held: StoredHandle) -> Result<Handle, Fault> {
        let store = self.store().await?;
        if let Some(outcome) = store.plan_outcome(&stored.id).await? {
            return Ok(of(outcome, stored, held));
        }
        let steps = store.steps(&stored.id).await?;
        let steps = steps.into_iter().map(|step| step.outcome).collect();
        Ok(self.going_on(stored, held, steps).await)
    }

    /// It was closed. What was not over, or not known, by then may be known now.
    async fn again(
        &self,
        outcome: Outcome,
        stored: &StoredPlan,
        held: StoredHandle,
    ) -> Result<Handle, Fault> {
        if !matches!(outcome.status, Status::Running | Status::Unknown) {
            return Ok(of(outcome, stored, held));
        }
        let pve = &self.cluster(&stored.plan.cluster)?.pve;
        let mut steps = Vec::new();
        for (step, known) in stored.plan.steps.iter().zip(outcome.steps.clone()) {
            steps.push(look(pve, step, known, None).await);
        }
        if steps == outcome.steps {
            return Ok(of(outcome, stored, held));
        }
        let outcome = broken_off(finished(&stored.id, &stored.plan, steps));
        self.store().await?.mend_outcome(&outcome).await?;
        Ok(of(outcome, stored, held))
    }

    /// It goes on, in this process, another one, or only on the cluster.
    async fn going_on(
        &self,
        stored: &StoredPlan,
        held: StoredHandle,
        steps: Vec<StepOutcome>,
    ) -> Handle {
        let doing = self.doing(&stored.plan, &steps).await;
        let outcome = Outcome {
            next: Some(running_hint(&stored.id, &steps)),
            steps,
            ..Outcome::unsent(Status::Running, &stored.id, &stored.plan)
        };
        let mut handle = of(outcome.with_undo(&stored.plan), stored, held.clone());
        handle.doing = doing;
        handle.ended = false;
        if held.cancelled_by.is_some() && held.insists.is_none() {
            handle.unsafe_to_stop = super::cancel::unsafe_steps(&handle.outcome.steps);
        }
        handle
    }

    /// The step that runs, with the last line of its task's log.
    async fn doing(&self, plan: &Plan, steps: &[StepOutcome]) -> Option<String> {
        let mut both = plan.steps.iter().zip(steps);
        let (step, known) = both.find(|(_, known)| is_open(known))?;
        let pve = &self.cluster(&plan.cluster).ok()?.pve;
        let line = match known.task.as_deref().map(str::parse::<Upid>) {
            Some(Ok(upid)) => pve.task_log_tail(&upid, 1).await.ok()?.pop(),
            _ => None,
        };
        Some(doing(step, line.as_deref()))
    }
}

/// Lets the tools of one call look at what is kept: how the caller's plans stand, and what the estate was like.
pub(super) struct Looker {
    engine: Arc<Engine>,
    caller: String,
}

impl Looker {
    /// For a call of this caller.
    pub(super) fn new(engine: &Arc<Engine>, caller: &str) -> Self {
        Self {
            engine: engine.clone(),
            caller: caller.to_owned(),
        }
    }
}

impl fmt::Debug for Looker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Looker")
    }
}

impl Begun for Looker {
    fn look<'a>(&'a self, plan: &'a str) -> BoxFuture<'a, Result<Handle, Fault>> {
        Box::pin(self.engine.handle_of(plan, &self.caller))
    }

    fn may_have_made<'a>(
        &'a self,
        cluster: &'a str,
        vmid: Vmid,
    ) -> BoxFuture<'a, Result<Option<Unended>, Fault>> {
        Box::pin(async move {
            let makes = |stored: &StoredPlan| {
                let mut made = stored.plan.made();
                stored.plan.cluster == cluster && made.any(|target| target.at.vmid == vmid)
            };
            let unended = self
                .engine
                .store()
                .await?
                .unended_plans(&self.caller)
                .await?;
            Ok(unended.into_iter().find(makes).map(|stored| Unended {
                summary: stored.plan.summary,
                id: stored.id,
            }))
        })
    }
}

impl Baselines for Looker {
    fn baseline<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Baseline>, Fault>> {
        Box::pin(async { self.engine.store().await?.baseline(name).await })
    }
}

/// What is known of a step now: by its task, or, where none was named, by how things stood before it and what time it is.
async fn look(
    pve: &Reader,
    step: &Step,
    known: StepOutcome,
    sent: Option<(Before, i64)>,
) -> StepOutcome {
    if !matches!(known.state, StepState::Running | StepState::Unknown) {
        return known;
    }
    if let (Action::AgentExec(exec), Some(pid)) = (&step.action, agent::pid_of(&known)) {
        return agent::look_again(pve, &exec.at, pid, known).await;
    }
    let task = match (known.task.as_deref().map(str::parse::<Upid>), &sent) {
        (Some(Ok(upid)), _) => Some(upid),
        (_, Some((before, now))) => before.task_since(pve, step, *now).await,
        _ => None,
    };
    let now = match (&task, sent) {
        (Some(upid), _) => look_at_task(pve, step, upid).await,
        // The request may have reached PVE or not: as if its answer had been lost.
        (None, Some((before, now))) => {
            let asked = ("oxmox ended while it was being sent", now);
            before
                .without_answer(pve, step, asked, LOOKS_WHILE_SETTLING)
                .await
        }
        (None, None) => return known,
    };
    StepOutcome {
        state: now.state,
        detail: now.detail,
        task: task.map(|upid| upid.to_string()),
        ..known
    }
}

async fn look_at_task(pve: &Reader, step: &Step, upid: &Upid) -> Known {
    match ended(pve, upid, Duration::ZERO, |_| {}).await {
        Ok(Some(end)) => end.read_back(pve, step, LOOKS_WHILE_SETTLING).await,
        Ok(None) => Known {
            state: StepState::Running,
            detail: None,
            result: None,
        },
        Err(known) => known,
    }
}

/// Whether more may come to be known of a step: its task runs, or cannot be asked at the moment.
fn is_open(step: &StepOutcome) -> bool {
    match step.state {
        StepState::Running => true,
        StepState::Unknown => step.task.is_some(),
        _ => false,
    }
}

/// A plan of which some steps were done and others were never sent says so.
fn broken_off(mut outcome: Outcome) -> Outcome {
    let any = |state| outcome.steps.iter().any(|step| step.state == state);
    if outcome.next.is_none() && any(StepState::NotSent) {
        let next = "what was not sent is not sent by itself; look at what was done, then make the call anew for the rest";
        outcome.next = Some(next.to_owned());
    }
    outcome
}

fn of(outcome: Outcome, stored: &StoredPlan, held: StoredHandle) -> Handle {
    Handle {
        ended: !matches!(outcome.status, Status::Running),
        fault: failure(&outcome, &stored.plan),
        outcome,
        doing: None,
        begun: held.begun,
        updated: held.updated,
        cancelled_by: held.cancelled_by,
        unsafe_to_stop: Vec::new(),
    }
}

/// A plan that was shown, and never sent.
fn not_begun(stored: &StoredPlan) -> Handle {
    let (status, ended) = match stored.state {
        PlanState::Waiting | PlanState::Approved => (Status::NeedsConfirmation, false),
        _ => (Status::NotApplied, true),
    };
    // One that runs unasked is kept when it is planned, and never waits.
    let shown = match stored.arguments.as_str() {
        "" => stored.expires,
        _ => stored.expires - LIFETIME,
    };
    Handle {
        outcome: Outcome::unsent(status, &stored.id, &stored.plan),
        ended,
        doing: None,
        begun: shown,
        updated: shown,
        cancelled_by: None,
        unsafe_to_stop: Vec::new(),
        fault: None,
    }
}

fn no_such_plan(id: &str) -> Fault {
    Fault::new(Kind::NotFound, format!("there is no plan {id}")).hint(
        "the id is the `plan` in the answer of a change, and good for whoever made that change",
    )
}
