//! What became of a plan whose worker is gone: worked out from the tasks that PVE ran for it and from what its steps should
//! have brought about. What was not sent by then never is; what cannot be read now is left open for another look.

use std::time::Duration;

use pve::{Reader, Upid};

use super::agent;
use super::apply::{failure, finished};
use super::attribute::{Search, Sent};
use super::doubt::Before;
use super::handle::{is_open, of};
use super::read_back::{Known, ended};
use super::{Engine, Handle};
use crate::fault::Fault;
use crate::outcome::{Outcome, Status, StepOutcome, StepState};
use crate::plan::{Action, Step};
use crate::store::{StoredHandle, StoredPlan, StoredStep};

/// How often a look reads what PVE brings about after its task: it may come again.
const LOOKS_WHILE_SETTLING: u32 = 1;
/// Why a step that was never sent will not be.
const WORKER_GONE: &str = "oxmox ended before this was sent";
/// Why nobody was told what became of a step.
const UNANSWERED: &str = "oxmox ended while it was being sent";
/// Why a caller who brought another token along does not settle what became of it.
const OTHER_EYES: &str =
    "it was sent by another identity, and PVE does not show everything to everybody";

impl Engine {
    /// Its worker is gone: reads what became of each step that may have been sent.
    pub(super) async fn reconcile(
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
            let sent = before.as_ref().map(|before| Sent {
                id: &stored.id,
                plan: &stored.plan,
                index,
                step,
                before,
            });
            let looked = self.look_at(pve, step, kept.outcome.clone(), sent);
            let mut found = looked.await;
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
    pub(super) async fn again(
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
            steps.push(self.look_at(pve, step, known, None).await);
        }
        if steps == outcome.steps {
            return Ok(of(outcome, stored, held));
        }
        let outcome = broken_off(finished(&stored.id, &stored.plan, steps));
        self.store().await?.mend_outcome(&outcome).await?;
        Ok(of(outcome, stored, held))
    }

    /// What is known of a step now: by its task, or, where none was named, by how things stood before it was sent.
    async fn look_at(
        &self,
        pve: &Reader,
        step: &Step,
        known: StepOutcome,
        sent: Option<Sent<'_>>,
    ) -> StepOutcome {
        if !matches!(known.state, StepState::Running | StepState::Unknown) {
            return known;
        }
        // Whoever brought another token along may see less than there is; oxmox itself looks again and again.
        if let Some(sent) = &sent
            && self.is_on_behalf
            && !sent.before.is_by(pve)
        {
            return left_open(known, OTHER_EYES);
        }
        if let (Action::AgentExec(exec), Some(pid)) = (&step.action, agent::pid_of(&known)) {
            return agent::look_again(pve, &exec.at, pid, known).await;
        }
        if let Some(Ok(upid)) = known.task.as_deref().map(str::parse::<Upid>) {
            let now = look_at_task(pve, step, &upid).await;
            return told(known, now, Some(&upid));
        }
        let Some(sent) = sent else {
            return known;
        };
        match self.unanswered(pve, &sent).await {
            Ok((now, task)) => told(known, now, task.as_ref()),
            Err(why) => left_open(known, &why),
        }
    }

    /// What became of a request of which nobody knows whether it reached PVE: as if its answer had been lost. An error:
    /// why that cannot be told now.
    async fn unanswered(
        &self,
        pve: &Reader,
        sent: &Sent<'_>,
    ) -> Result<(Known, Option<Upid>), String> {
        let Sent { step, before, .. } = sent;
        match self.task_of(pve, sent).await {
            Search::Found(upid) => Ok((look_at_task(pve, step, &upid).await, Some(upid))),
            Search::Unseen(why) => Err(why),
            Search::Nothing => {
                if let Some(why) = before.unreadable(pve, step).await {
                    return Err(why);
                }
                let asked = (UNANSWERED, self.now());
                let known = before.without_answer(pve, step, asked, LOOKS_WHILE_SETTLING);
                Ok((known.await, None))
            }
        }
    }
}

/// A step with what has come to be known of it.
fn told(known: StepOutcome, now: Known, task: Option<&Upid>) -> StepOutcome {
    StepOutcome {
        state: now.state,
        detail: now.detail,
        task: task.map(ToString::to_string),
        ..known
    }
}

/// A step of which nothing can be told now. What was given up by its own sender is not waited for.
fn left_open(known: StepOutcome, why: &str) -> StepOutcome {
    if known.state != StepState::Running {
        return known;
    }
    StepOutcome {
        detail: Some(format!(
            "{UNANSWERED}, and what became of it cannot be read yet: {why}"
        )),
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

/// A plan of which some steps were done and others were never sent says so.
fn broken_off(mut outcome: Outcome) -> Outcome {
    let any = |state| outcome.steps.iter().any(|step| step.state == state);
    if outcome.next.is_none() && any(StepState::NotSent) {
        let next = "what was not sent is not sent by itself; look at what was done, then make the call anew for the rest";
        outcome.next = Some(next.to_owned());
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{plan, stop};

    #[test]
    fn what_was_not_sent_is_said_once() {
        let next = |state, next: Option<&str>| {
            let plan = plan(&["100"], vec![stop("100")]);
            let mut outcome = Outcome::unsent(Status::Failed, "p", &plan);
            outcome.steps = vec![StepOutcome {
                state,
                ..StepOutcome::unsent("")
            }];
            outcome.next = next.map(str::to_owned);
            broken_off(outcome).next
        };
        let said = next(StepState::NotSent, None).unwrap();
        assert!(said.contains("is not sent by itself"), "{said}");
        assert_eq!(next(StepState::Done, None), None);
        assert_eq!(next(StepState::NotSent, Some("look")).unwrap(), "look");
    }
}
