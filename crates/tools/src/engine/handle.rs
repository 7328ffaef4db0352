//! Where a plan stands that was begun, whoever began it: this process, another one on the same store, or one that is dead.
//!
//! Everybody who asks how a change is going asks [`Engine::handle`]. It only reads.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use pve::{Upid, Vmid};

use super::Engine;
use super::apply::{failure, running_hint};
use super::consent::Frozen;
use super::question::LIFETIME;
use super::record::Attempt;
use super::step::doing;
use super::worker::AtWork;
use crate::baseline::{Baseline, Baselines};
use crate::begun::{Begun, Unended};
use crate::fault::{Fault, Kind};
use crate::outcome::{Outcome, Status, StepOutcome, StepState};
use crate::plan::Plan;
use crate::store::{Opening, PlanState, StoredHandle, StoredPlan};

/// Said of a plan that nobody decided on, or came back for, in time.
const EXPIRED: &str = "it has expired, and nothing was sent: the same call shows a new plan";

/// A plan that was begun, as it stands now.
#[derive(Debug, Clone)]
pub struct Handle {
    /// What is known of it. `running` while it goes on.
    pub outcome: Outcome,
    /// Whether that is the last word.
    pub ended: bool,
    /// Whether somebody said yes to it and whoever asked may still come back for it.
    pub approved: bool,
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
    /// Takes a plan and writes down that this process is about to send it, at one stroke: whoever looks sees it wait or
    /// run, and exactly one caller ever gets it.
    pub(super) async fn begin(
        self: &Arc<Self>,
        frozen: &Frozen,
        outcome: &Outcome,
        attempt: &Attempt,
    ) -> Result<AtWork, Fault> {
        let (store, now) = (self.store().await?, self.now());
        let at_work = self.at_work(&outcome.plan).await?;
        let opened = attempt.opened(frozen.confirmed_by.as_deref());
        let opening = Opening {
            worker: &self.worker().await?.id,
            steps: &outcome.steps,
            opened: &opened,
            now,
        };
        let Some((id, state)) = &frozen.shown else {
            let unasked = self.unasked(&frozen.plan, attempt);
            store.begin_unasked(&unasked, &opening).await?;
            return Ok(at_work);
        };
        if store.begin_plan(id, *state, &opening).await? {
            self.secret_texts.forget(id);
            return Ok(at_work);
        }
        Err(Fault::new(
            Kind::Conflict,
            format!("plan {id} was decided on in the meantime"),
        )
        .hint("the same call without `confirm` shows where it stands"))
    }

    /// Where a plan stands. Reads only; if it has come to its end and nobody has written that down, it is written down
    /// now, once.
    pub async fn handle(&self, id: &str) -> Result<Handle, Fault> {
        let store = self.store().await?;
        let stored = store.plan(id).await?.ok_or_else(|| no_such_plan(id))?;
        // The time before the look: what had expired by then was not begun later.
        let now = self.now();
        let Some(held) = store.handle(id).await? else {
            return Ok(not_begun(&stored, now));
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

    /// It goes on, in this process, another one, or only on the cluster.
    pub(super) async fn going_on(
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

/// Whether more may come to be known of a step: its task runs, or cannot be asked at the moment.
pub(super) fn is_open(step: &StepOutcome) -> bool {
    match step.state {
        StepState::Running => true,
        StepState::Unknown => step.task.is_some(),
        _ => false,
    }
}

pub(super) fn of(outcome: Outcome, stored: &StoredPlan, held: StoredHandle) -> Handle {
    Handle {
        ended: !matches!(outcome.status, Status::Running),
        approved: false,
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
fn not_begun(stored: &StoredPlan, now: i64) -> Handle {
    let is_open = matches!(stored.state, PlanState::Waiting | PlanState::Approved);
    // What has expired stays as it was in the store: neither a question nor a yes is worth anything any more.
    let is_in_time = stored.expires > now;
    let (status, ended) = if is_open && is_in_time {
        (Status::NeedsConfirmation, false)
    } else {
        (Status::NotApplied, true)
    };
    let mut outcome = Outcome::unsent(status, &stored.id, &stored.plan);
    outcome.next = (is_open && !is_in_time).then(|| EXPIRED.to_owned());
    // One that runs unasked is kept when it is planned, and never waits.
    let shown = match stored.arguments.as_str() {
        "" => stored.expires,
        _ => stored.expires - LIFETIME,
    };
    Handle {
        outcome,
        ended,
        approved: !ended && stored.state == PlanState::Approved,
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
