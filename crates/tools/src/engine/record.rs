//! The audit trail of one attempted change: exactly one opened and one closed entry, whatever happens.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::{Call, Engine};
use crate::echo::{self, LongTexts};
use crate::fault::{Fault, Kind};
use crate::hold::Held;
use crate::keys;
use crate::outcome::{Outcome, Status, StepOutcome};
use crate::plan::{Impact, Plan};
use crate::spec::Risk;
use crate::store::AuditEntry;

/// An attempted change on its way through the engine.
pub(super) struct Attempt {
    engine: Arc<Engine>,
    caller: String,
    tool: String,
    known: Mutex<Known>,
    /// The arguments that are too long for the trail.
    long: LongTexts,
    /// What it is about to make, until it is over.
    held: Arc<Held>,
}

/// What is known of it so far.
#[derive(Default)]
struct Known {
    plan: String,
    arguments: Value,
    summary: Option<String>,
    risk: Option<Risk>,
    digest: Option<String>,
    cluster: Option<String>,
    opened: bool,
}

impl Attempt {
    pub(super) fn new(engine: &Arc<Engine>, call: &Call) -> Self {
        let mut arguments = call.arguments.clone();
        arguments.remove("confirm");
        crate::clean::arguments(&mut arguments);
        Self {
            engine: engine.clone(),
            caller: call.caller.name.clone(),
            tool: call.tool.clone(),
            long: LongTexts::of(&call.arguments),
            held: Arc::new(engine.holds.call()),
            known: Mutex::new(Known {
                plan: keys::short_id(),
                arguments: Value::Object(arguments),
                ..Known::default()
            }),
        }
    }

    /// The id of the plan that this attempt is about.
    pub(super) fn id(&self) -> String {
        self.known().plan.clone()
    }

    /// Who carries it.
    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The tool that was called.
    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    /// What it is about to make.
    pub(super) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// Who asked for it.
    pub(super) fn caller(&self) -> &str {
        &self.caller
    }

    /// What a plan keeps to itself is kept out of the trail, too, whatever the argument is called.
    pub(super) fn conceal(&self, plan: &Plan) {
        plan.secrets.blank(&mut self.known().arguments);
    }

    /// A plan was made.
    pub(super) fn planned(&self, plan: &Plan) {
        let mut known = self.known();
        known.summary = Some(echo::summary(&self.long.clip_text(plan.summary.clone())));
        known.risk = Some(plan.risk());
        known.digest = Some(plan.digest());
        known.cluster = Some(plan.cluster.clone());
    }

    /// What it is, where there is no plan.
    pub(super) fn shown(&self, summary: String, risk: Risk) {
        let mut known = self.known();
        known.summary = Some(summary);
        known.risk = Some(risk);
    }

    /// A new plan takes the place of the one that was shown.
    pub(super) fn renew(&self, plan: &Plan) {
        self.continues(&keys::short_id(), plan);
    }

    /// It goes on with a plan that was shown earlier.
    pub(super) fn continues(&self, id: &str, plan: &Plan) {
        id.clone_into(&mut self.known().plan);
        self.planned(plan);
    }

    /// It was written together with something else.
    pub(super) fn was_opened(&self) {
        self.known().opened = true;
    }

    /// The entry that says so.
    pub(super) fn opened(&self, confirmed_by: Option<&str>) -> AuditEntry {
        let known = self.known();
        AuditEntry::Opened {
            at: self.engine.now(),
            plan: known.plan.clone(),
            caller: self.caller.clone(),
            cluster: known.cluster.clone(),
            tool: self.tool.clone(),
            // Clipped last: a part of a secret is not known as one.
            arguments: if known.summary.is_some() {
                echo::kept(&known.arguments)
            } else {
                echo::kept(&crate::clean::outline(&known.arguments))
            },
            summary: known.summary.clone(),
            risk: known.risk,
            digest: known.digest.clone(),
            confirmed_by: confirmed_by.map(ToOwned::to_owned),
            pve_identity: self.engine.brought_identity(known.cluster.as_deref()),
        }
    }

    /// Nothing was sent, for this reason. It stays so whether or not it can be written down.
    pub(super) async fn refused(&self, mut fault: Fault) -> Fault {
        if self.known().opened {
            return fault; // closed where it failed
        }
        let result = match fault.kind {
            Kind::Refused => "refused",
            _ => "failed",
        };
        if let Err(unwritten) = self.over(result, Some(fault.to_string())).await {
            if fault.message == unwritten.message {
                fault.message.push_str("; nothing was sent");
            } else {
                fault.unwritten(&unwritten);
            }
        }
        fault
    }

    /// It waits for a person, or a person said no.
    pub(super) async fn unsent(
        &self,
        outcome: &Outcome,
        reason: Option<String>,
    ) -> Result<(), Fault> {
        self.over(&result_word(outcome), reason).await
    }

    /// An attempt of which nothing was sent: opened and closed at once, so that it is never left open.
    async fn over(&self, result: &str, reason: Option<String>) -> Result<(), Fault> {
        let both = [self.opened(None), self.closed(result, reason.as_deref())];
        self.engine.store().await?.append_audits(&both).await?;
        self.was_opened();
        Ok(())
    }

    /// Its closing entry, if nothing was sent.
    pub(super) fn closed(&self, result: &str, reason: Option<&str>) -> AuditEntry {
        AuditEntry::Closed {
            at: self.engine.now(),
            plan: self.id(),
            result: result.to_owned(),
            reason: reason.map(echo::reason),
            affects: Vec::new(),
            steps: Vec::new(),
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// What became of a plan that was begun, and its closing entry: both written once, by whoever knows first; false if
    /// that was somebody else, or it goes on after all.
    pub(super) async fn close(
        &self,
        (outcome, plan): (&Outcome, &Plan),
        reason: Option<String>,
        seen: Option<&[StepOutcome]>,
    ) -> Result<bool, Fault> {
        let store = self.store().await?;
        let cancelled = store
            .handle(&outcome.plan)
            .await?
            .and_then(|held| held.cancelled_by);
        let reason = match (reason, cancelled) {
            (None, Some(by)) if outcome.status != Status::Applied => {
                Some(format!("cancelled by {by}"))
            }
            (reason, _) => reason,
        };
        let closing = AuditEntry::Closed {
            at: self.now(),
            plan: outcome.plan.clone(),
            result: result_word(outcome),
            reason: reason.as_deref().map(echo::reason),
            affects: affected(outcome, plan),
            steps: outcome.steps.iter().map(without_result).collect(),
        };
        let closed = store.finish_plan(&outcome.kept(), &closing, seen).await?;
        if closed {
            self.meter.plan(outcome.status);
        }
        Ok(closed)
    }
}

/// What a plan was shown to affect, if any of it may have come about.
fn affected(outcome: &Outcome, plan: &Plan) -> Vec<String> {
    if outcome.status == Status::NotApplied {
        return Vec::new();
    }
    plan.impact.iter().map(Impact::line).collect()
}

/// What a command printed and a screen showed is for the caller; the trail tells what was done.
fn without_result(step: &StepOutcome) -> StepOutcome {
    StepOutcome {
        result: None,
        ..step.clone()
    }
}

/// The audit trail's word for an outcome.
fn result_word(outcome: &Outcome) -> String {
    if outcome.status == Status::Applied && outcome.steps.is_empty() {
        return "nothing_sent".to_owned();
    }
    outcome.status.word().replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Effect;
    use crate::plan::tests::{plan, stop};

    #[test]
    fn what_was_not_applied_affects_nothing() {
        let mut plan = plan(&["100"], vec![stop("100")]);
        let guest = Impact::new(Effect::Changed, "VM", "100");
        let line = guest.line();
        plan.impact = vec![guest];
        let affects = |status| affected(&Outcome::unsent(status, "p", &plan), &plan);
        assert_eq!(affects(Status::NotApplied), [""; 0]);
        for status in [Status::Applied, Status::Failed, Status::Unknown] {
            assert_eq!(affects(status), [line.as_str()]);
        }
    }

    #[test]
    fn what_a_step_has_shown_is_not_kept() {
        let step = StepOutcome {
            result: Some(crate::tool::Object::new()),
            task: Some("UPID".to_owned()),
            ..StepOutcome::unsent("Run uptime")
        };
        let kept = without_result(&step);
        assert_eq!((kept.result, kept.task), (None, step.task));
    }
}
