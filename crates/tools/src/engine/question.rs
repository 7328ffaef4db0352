//! A plan as it is put to a person, and kept until they have decided.

use secrecy::SecretString;

use super::halt_point;
use super::lacking;
use super::record::Attempt;
use super::{Asked, Call, Engine, Reply, hash_arguments};
use crate::fault::{Fault, Kind};
use crate::outcome::{Outcome, Status};
use crate::plan::{Impact, Plan, Undo};
use crate::preview::request_line;
use crate::store::{PlanState, StoredPlan};
use crate::tool::Rendered;

/// How long a shown plan may be confirmed.
pub(super) const LIFETIME: i64 = 15 * 60;

/// A plan that waits for a person.
#[derive(Debug, Clone)]
pub struct Question {
    /// The plan and what to do about it, as an outcome that says `needs_confirmation`.
    pub outcome: Outcome,
    /// Comes back with the answer; worthless if altered, for another call, or later.
    pub state: String,
    /// Whether the person may also let it cover the next ten minutes.
    pub can_lease: bool,
    /// The secret texts that it types, for the eyes of the person who is asked. Kept and logged nowhere.
    pub secret_texts: Vec<SecretString>,
}

/// A person's answer to a question of an earlier call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The question's state, as it came back.
    pub state: String,
    /// What the person said.
    pub said: Asked,
}

impl Engine {
    /// The plan as stored for this call: the one already approved or shown, if this one would do the same; or this one,
    /// which takes its place and says what is different.
    pub(super) async fn shown(
        &self,
        mut plan: Plan,
        call: &Call,
        attempt: &Attempt,
    ) -> Result<StoredPlan, Fault> {
        let store = self.store().await?;
        let arguments = hash_arguments(&store.keys, &call.arguments);
        let open = store
            .open_plan(&call.caller.name, &call.tool, &arguments, self.now())
            .await?;
        if let Some(open) = open {
            match open.plan.difference(&plan) {
                // An approved plan is held against its guards before it is sent; a question must not be older than
                // what it asks about.
                None if open.state == PlanState::Approved
                    || open.plan.guards == plan.guards
                        && lacking::is_the_same(&open.plan, &plan) =>
                {
                    attempt.continues(&open.id, &open.plan);
                    let mut open = open;
                    open.plan.secrets = plan.secrets;
                    if open.state == PlanState::Waiting {
                        self.hold_secret_texts(&open);
                    }
                    return Ok(open);
                }
                Some(difference) if open.state == PlanState::Approved => {
                    self.no_conflict(&open.plan).await?;
                    plan.warnings.insert(0, changed(&difference));
                }
                _ => {}
            }
        }
        self.shown_anew(plan, call, attempt).await
    }

    /// The plan as stored for this call, in the place of any that was shown before.
    async fn shown_anew(
        &self,
        plan: Plan,
        call: &Call,
        attempt: &Attempt,
    ) -> Result<StoredPlan, Fault> {
        let (store, now) = (self.store().await?, self.now());
        let stored = StoredPlan {
            id: attempt.id(),
            caller: call.caller.name.clone(),
            arguments: hash_arguments(&store.keys, &call.arguments),
            digest: plan.digest(),
            plan,
            state: PlanState::Waiting,
            expires: now + LIFETIME,
            decided_by: None,
        };
        store.keep_plan(&stored, now).await?;
        self.hold_secret_texts(&stored);
        halt_point::at("plan-kept").await;
        Ok(stored)
    }

    /// A plan that runs without asking, as it is kept: its outcome can be looked up like any other's.
    pub(super) fn unasked(&self, plan: &Plan, attempt: &Attempt) -> StoredPlan {
        StoredPlan {
            id: attempt.id(),
            caller: attempt.caller().to_owned(),
            arguments: String::new(),
            digest: plan.digest(),
            plan: plan.clone(),
            state: PlanState::Used,
            expires: self.now(),
            decided_by: None,
        }
    }

    /// Shows a plan that takes the place of one that was agreed to and does not hold any more. Nothing was sent.
    pub(super) async fn ask_again(
        &self,
        mut plan: Plan,
        difference: &str,
        call: &Call,
        attempt: &Attempt,
    ) -> Result<Reply, Fault> {
        self.worth_asking(&mut plan).await?;
        plan.warnings.insert(0, changed(difference));
        attempt.renew(&plan);
        let question = self
            .question(&self.shown_anew(plan, call, attempt).await?)
            .await?;
        attempt
            .unsent(&question.outcome, Some(changed(difference)))
            .await?;
        Ok(Reply::Done(Rendered::of(&question.outcome)?))
    }

    /// How a person decides on a plan out of band, by its id.
    pub async fn person_for(&self, id: &str) -> Result<String, Fault> {
        let stored = self.store().await?.plan(id).await?;
        let missing = || Fault::new(Kind::NotFound, format!("there is no plan {id}"));
        Ok(self.person(&stored.ok_or_else(missing)?))
    }

    /// How a person decides out of band.
    pub(super) fn person(&self, stored: &StoredPlan) -> String {
        if stored.plan.types_secret() && self.page.get().is_none() {
            return "make the same call where a person can be asked: they see the secret and decide".to_owned();
        }
        let who = if self.policy().four_eyes {
            "another person than the one who asks"
        } else {
            "a person"
        };
        format!(
            "{who} {} within {} minutes, then the same call applies it",
            self.decides(stored),
            LIFETIME / 60
        )
    }

    /// What a person does to decide: "runs `oxmox approve ID`". A secret text is shown by this process alone.
    pub(super) fn decides(&self, stored: &StoredPlan) -> String {
        let id = &stored.id;
        let by_command = format!("runs `{} {id}`", self.approve);
        match self.page.get() {
            Some(page) if stored.plan.types_secret() => {
                format!("decides at {page}#/inbox/{id}, which shows them the secret,")
            }
            Some(page) => format!("decides at {page}#/inbox/{id} or {by_command}"),
            None => by_command,
        }
    }

    /// The question about a stored plan.
    pub(super) async fn question(&self, stored: &StoredPlan) -> Result<Question, Fault> {
        let mut outcome = Outcome::unsent(Status::NeedsConfirmation, &stored.id, &stored.plan);
        let steps = stored.plan.steps.iter();
        outcome.sends = steps.map(|step| request_line(&step.action)).collect();
        outcome.affects = stored.plan.impact.iter().map(Impact::line).collect();
        if let Undo::Impossible { because } = &stored.plan.undo {
            outcome
                .warnings
                .push(format!("it cannot be undone: {because}"));
        }
        let person = self.person(stored);
        if self.policy().client_may_confirm(&stored.plan) {
            outcome.confirm = Some(self.seal("confirm", stored).await?);
            outcome.next = Some(format!(
                "the same call with this `confirm` value applies it; or {person}"
            ));
        } else {
            outcome.next = Some(person);
        }
        Ok(Question {
            outcome,
            state: self.seal("answer", stored).await?,
            can_lease: super::lease::leased_guest(&stored.plan).is_some(),
            secret_texts: stored.plan.secret_texts().unwrap_or_default(),
        })
    }
}

fn changed(difference: &str) -> String {
    format!("changed since the last preview: {difference}")
}
