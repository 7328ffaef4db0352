//! A person's yes: asked for in three ways, bound to the plan's digest, used once.

use std::time::Duration;

use tokio::time::Instant;

use super::record::Attempt;
use super::{Asked, Call, Engine, Progress, Reply, Talk, hash_arguments};
use crate::fault::{Fault, Kind};
use crate::outcome::{Outcome, Status};
use crate::plan::{Plan, Target};
use crate::registry::Extras;
use crate::store::{PlanState, StoredPlan};
use crate::tool::{Answer as _, Rendered};

/// How long a shown plan may be confirmed.
const LIFETIME: i64 = 15 * 60;
/// How long one yes covers key presses on one guest.
const LEASE: i64 = 10 * 60;
/// How often a waiting call looks whether a person has decided at another terminal.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// The tools that such a yes covers, and no others: a run of key presses is one decision.
const LEASED_TOOLS: &[&str] = &["send_vm_key", "type_vm_text"];

/// A plan that waits for a person.
#[derive(Debug, Clone)]
pub struct Question {
    /// The plan and what to do about it, as an outcome that says `needs_confirmation`.
    pub outcome: Outcome,
    /// Comes back with the answer; worthless if altered, for another call, or later.
    pub state: String,
    /// Whether the person may also let it cover the next ten minutes.
    pub can_lease: bool,
}

/// A person's answer to a question of an earlier call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The question's state, as it came back.
    pub state: String,
    /// What the person said.
    pub said: Asked,
}

/// What came of asking.
pub(super) enum Consent {
    /// It may run.
    Given(Box<Frozen>),
    /// Somebody said no.
    Refused(Reply),
    /// It waits.
    Waiting(Reply),
}

/// A plan that may run now.
pub(super) struct Frozen {
    pub(super) plan: Plan,
    /// Set if it is the plan that a person saw, and not one made a moment ago.
    pub(super) id: Option<String>,
    pub(super) confirmed_by: Option<String>,
}

impl Consent {
    pub(super) fn not_needed(plan: Plan) -> Self {
        Self::Given(Box::new(Frozen {
            plan,
            id: None,
            confirmed_by: None,
        }))
    }
}

impl Engine {
    /// Finds a yes that was given already, or asks for one.
    pub(super) async fn consent(
        &self,
        plan: Plan,
        call: &Call,
        extras: &Extras,
        attempt: &Attempt,
        talk: &dyn Talk,
    ) -> Result<Consent, Fault> {
        if let Some(guest) = leased_guest(&plan)
            && self.store()?.has_lease(&call.caller, &guest, self.now())?
        {
            return Ok(Consent::Given(Box::new(Frozen {
                plan,
                id: None,
                confirmed_by: Some("an earlier yes".to_owned()),
            })));
        }
        if let Some(value) = &extras.confirm {
            let stored = self.sealed("confirm", value, call, attempt)?;
            if !self.policy.model_may_confirm(&stored.plan) {
                return Err(only_a_person(&stored));
            }
            return self.take(stored, PlanState::Waiting, "the model");
        }
        if let Some(answered) = &call.answer {
            let stored = self.sealed("answer", &answered.state, call, attempt)?;
            return self.answered(stored, answered.said.clone(), call, attempt);
        }
        let stored = self.shown(plan, call, attempt)?;
        if stored.state == PlanState::Approved {
            let by = stored.decided_by.clone().unwrap_or_default();
            return self.take(stored, PlanState::Approved, &by);
        }
        let question = self.question(&stored);
        match talk.ask(&question).await {
            Asked::Later => {
                attempt.unsent(&question.outcome, None)?;
                Ok(Consent::Waiting(Reply::Ask(Box::new(question))))
            }
            Asked::Nobody => {
                self.decided_elsewhere(stored, extras.wait, attempt, talk)
                    .await
            }
            said => self.answered(stored, said, call, attempt),
        }
    }

    /// Nobody can be asked through this call. If the caller wants to wait, a person may decide at another terminal meanwhile.
    async fn decided_elsewhere(
        &self,
        stored: StoredPlan,
        patience: Option<Duration>,
        attempt: &Attempt,
        talk: &dyn Talk,
    ) -> Result<Consent, Fault> {
        let until = Instant::now() + patience.unwrap_or_default();
        while Instant::now() < until {
            talk.progress(Progress {
                fraction: None,
                message: format!("waiting for a person: oxmox approve {}", stored.id),
            });
            tokio::time::sleep(LOOK_AGAIN.min(until - Instant::now())).await;
            match self.store()?.plan(&stored.id)? {
                Some(decided) if decided.state == PlanState::Approved => {
                    let by = decided.decided_by.clone().unwrap_or_default();
                    return self.take(decided, PlanState::Approved, &by);
                }
                Some(decided) if decided.state == PlanState::Rejected => {
                    let by = decided.decided_by.clone().unwrap_or_default();
                    return declined(&decided, &by, attempt);
                }
                _ => {}
            }
        }
        self.waiting(&stored, attempt)
    }

    fn waiting(&self, stored: &StoredPlan, attempt: &Attempt) -> Result<Consent, Fault> {
        let question = self.question(stored);
        attempt.unsent(&question.outcome, None)?;
        Ok(Consent::Waiting(Reply::Done(Rendered::of(
            &question.outcome,
        )?)))
    }

    /// The plan as stored for this call: the one already approved, the one already shown if nothing has changed since, or
    /// this one, which takes the place of an older question.
    fn shown(&self, plan: Plan, call: &Call, attempt: &Attempt) -> Result<StoredPlan, Fault> {
        let now = self.now();
        let arguments = hash_arguments(&call.arguments);
        let digest = plan.digest();
        if let Some(open) = self
            .store()?
            .open_plan(&call.caller, &call.tool, &arguments, now)?
            && (open.state == PlanState::Approved || open.digest == digest)
        {
            attempt.continues(&open.id, &open.plan);
            return Ok(open);
        }
        let stored = StoredPlan {
            id: attempt.id(),
            caller: call.caller.clone(),
            arguments,
            digest,
            plan,
            state: PlanState::Waiting,
            expires: now + LIFETIME,
            decided_by: None,
        };
        self.store()?.keep_plan(&stored)?;
        Ok(stored)
    }

    /// Shows a plan that takes the place of one whose guest has changed.
    pub(super) fn ask_again(
        &self,
        plan: Plan,
        call: &Call,
        attempt: &Attempt,
    ) -> Result<Question, Fault> {
        Ok(self.question(&self.shown(plan, call, attempt)?))
    }

    fn question(&self, stored: &StoredPlan) -> Question {
        let mut outcome = Outcome::unsent(Status::NeedsConfirmation, &stored.id, &stored.plan);
        outcome.affects.clone_from(&stored.plan.impact);
        let minutes = LIFETIME / 60;
        let person = format!(
            "a person runs `oxmox approve {}` within {minutes} minutes, then the same call applies it",
            stored.id
        );
        if self.policy.model_may_confirm(&stored.plan) {
            outcome.confirm = Some(self.seal("confirm", stored));
            outcome.next = Some(format!(
                "the same call with this `confirm` value applies it; or {person}"
            ));
        } else {
            outcome.next = Some(person);
        }
        Question {
            outcome,
            state: self.seal("answer", stored),
            can_lease: leased_guest(&stored.plan).is_some(),
        }
    }

    /// A person's answer, given now or in a second call.
    fn answered(
        &self,
        stored: StoredPlan,
        said: Asked,
        call: &Call,
        attempt: &Attempt,
    ) -> Result<Consent, Fault> {
        match said {
            Asked::Yes { by, lease } => {
                if lease && let Some(guest) = leased_guest(&stored.plan) {
                    self.store()?
                        .grant_lease(&call.caller, &guest, self.now() + LEASE)?;
                }
                self.take(stored, PlanState::Waiting, &by)
            }
            Asked::No { by } => {
                self.store()?.decide_plan(&stored, false, &by, self.now())?;
                declined(&stored, &by, attempt)
            }
            Asked::Later | Asked::Nobody => self.waiting(&stored, attempt),
        }
    }

    /// Keeps a plan that runs without asking, so that its outcome can be looked up like any other's.
    pub(super) fn keep_unasked(&self, plan: &Plan, attempt: &Attempt) -> Result<(), Fault> {
        self.store()?.keep_plan(&StoredPlan {
            id: attempt.id(),
            caller: attempt.caller().to_owned(),
            arguments: String::new(),
            digest: plan.digest(),
            plan: plan.clone(),
            state: PlanState::Used,
            expires: self.now(),
            decided_by: None,
        })
    }

    /// Takes a plan for applying: exactly one caller ever gets it.
    fn take(&self, stored: StoredPlan, from: PlanState, by: &str) -> Result<Consent, Fault> {
        if !self.store()?.use_plan(&stored.id, from, self.now())? {
            return Err(Fault::new(
                Kind::Conflict,
                format!("plan {} was decided on in the meantime", stored.id),
            )
            .hint("the same call without `confirm` shows where it stands"));
        }
        Ok(Consent::Given(Box::new(Frozen {
            plan: stored.plan,
            id: Some(stored.id),
            confirmed_by: Some(by.to_owned()),
        })))
    }

    /// `id.seal`, over all that the value is bound to.
    fn seal(&self, purpose: &str, stored: &StoredPlan) -> String {
        let keys = self
            .store()
            .map(|store| store.keys.seal(&bound_to(purpose, stored)));
        format!("{}.{}", stored.id, keys.unwrap_or_default())
    }

    /// The stored plan that a sealed value stands for, if it is genuine, of this very call, and still good.
    fn sealed(
        &self,
        purpose: &str,
        value: &str,
        call: &Call,
        attempt: &Attempt,
    ) -> Result<StoredPlan, Fault> {
        let unusable = |why: &str| {
            Fault::new(
                Kind::Conflict,
                format!("the confirmation {why}; nothing was sent"),
            )
            .hint("make the same call without `confirm` for a new preview")
        };
        let (id, seal) = value
            .split_once('.')
            .ok_or_else(|| unusable("is not one that oxmox gave"))?;
        let store = self.store()?;
        let stored = store
            .plan(id)?
            .ok_or_else(|| unusable("is not one that oxmox gave"))?;
        if !store.keys.is_sealed(&bound_to(purpose, &stored), seal) {
            return Err(unusable("is not one that oxmox gave for this plan"));
        }
        if stored.caller != call.caller
            || stored.plan.tool != call.tool
            || stored.arguments != hash_arguments(&call.arguments)
        {
            return Err(unusable("was given for another call"));
        }
        attempt.continues(&stored.id, &stored.plan);
        match stored.state {
            PlanState::Waiting | PlanState::Approved if stored.expires <= self.now() => {
                Err(unusable("has expired"))
            }
            PlanState::Waiting | PlanState::Approved => Ok(stored),
            PlanState::Rejected => Err(unusable("is void: a person said no")),
            PlanState::Replaced => Err(unusable("is void: a newer preview took its place")),
            PlanState::Used => Err(match store.plan_outcome(id)? {
                Some(outcome) => unusable(&format!(
                    "was used already, and the result was: {}",
                    outcome.text().trim_end()
                )),
                None => unusable("was used already"),
            }),
        }
    }
}

fn bound_to<'a>(purpose: &'a str, stored: &'a StoredPlan) -> [&'a [u8]; 5] {
    [
        purpose.as_bytes(),
        stored.id.as_bytes(),
        stored.digest.as_bytes(),
        stored.caller.as_bytes(),
        stored.arguments.as_bytes(),
    ]
}

fn declined(stored: &StoredPlan, by: &str, attempt: &Attempt) -> Result<Consent, Fault> {
    let mut outcome = Outcome::unsent(Status::NotApplied, &stored.id, &stored.plan);
    outcome.next = Some("a person said no: do not try it again unless asked to".to_owned());
    attempt.unsent(&outcome, Some(format!("declined by {by}")))?;
    Ok(Consent::Refused(Reply::Done(Rendered::of(&outcome)?)))
}

fn only_a_person(stored: &StoredPlan) -> Fault {
    Fault::refused(format!(
        "a model cannot confirm what is {}-risk: {}",
        stored.plan.risk.word(),
        stored.plan.summary
    ))
    .hint(format!(
        "a person runs `oxmox approve {}`, then the same call without `confirm` applies it",
        stored.id
    ))
}

/// The guest whose key presses one yes may cover.
fn leased_guest(plan: &Plan) -> Option<String> {
    let [Target { at, .. }] = plan.targets.as_slice() else {
        return None;
    };
    LEASED_TOOLS
        .contains(&plan.tool.as_str())
        .then(|| format!("{}/{}", plan.cluster, at.vmid))
}
