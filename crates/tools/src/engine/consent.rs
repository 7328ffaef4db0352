//! A person's yes or no: found if it was given already, asked for in three ways, used once.

use std::time::Duration;

use tokio::time::Instant;

use super::lease::leased_guest;
use super::record::Attempt;
use super::{Asked, Call, Engine, Progress, Reply, Talk};
use crate::fault::{Fault, Kind};
use crate::outcome::{Outcome, Status};
use crate::plan::Plan;
use crate::registry::Extras;
use crate::store::{PlanState, StoredPlan};
use crate::tool::Rendered;

/// Who approved a plan that a lease covers, for the audit trail.
const LEASED: &str = "an earlier approval of ten minutes of keys";
/// How often a waiting call looks whether a person has decided at another terminal.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How often its caller is told that it waits: every so many looks.
const TELL_AGAIN: u32 = 40;

/// What a call brought along about a plan that was shown earlier.
pub(super) enum Given {
    /// Nothing.
    Nothing,
    /// A yes, who gave it, and whether it covers what comes after.
    Yes(Box<StoredPlan>, String, bool),
    /// A no, or no decision: this is the answer.
    Settled(Reply),
}

/// What came of asking.
pub(super) enum Consent {
    /// It may run.
    Given(Box<Frozen>),
    /// It does not run now; this is the answer.
    Withheld(Reply),
}

/// A plan that may run now.
pub(super) struct Frozen {
    pub(super) plan: Plan,
    /// Set if it is the plan that a person saw, and not one made a moment ago: its id, and the state in which it still has
    /// to be when it is begun.
    pub(super) shown: Option<(String, PlanState)>,
    pub(super) confirmed_by: Option<String>,
    /// The guest whose next key presses the yes covers too, once this has begun.
    pub(super) lease: Option<String>,
}

impl Frozen {
    /// A plan made for this very call.
    pub(super) fn fresh(plan: Plan, confirmed_by: Option<&str>) -> Box<Self> {
        Box::new(Self {
            plan,
            shown: None,
            confirmed_by: confirmed_by.map(ToOwned::to_owned),
            lease: None,
        })
    }
}

impl Engine {
    /// Reads what came with the call, before anything else is looked at: a no holds whatever policy or an earlier yes
    /// would allow by now.
    pub(super) async fn given(
        &self,
        call: &Call,
        extras: &Extras,
        attempt: &Attempt,
    ) -> Result<Given, Fault> {
        if let Some(answered) = &call.answer {
            let stored = self
                .sealed("answer", &answered.state, call, attempt)
                .await?;
            return match answered.said.clone() {
                // Whoever is asked here is the one who asks.
                Asked::Yes { .. } if self.policy().four_eyes => {
                    Ok(Given::Settled(self.undecided(&stored, attempt).await?))
                }
                Asked::Yes { by, lease } => Ok(Given::Yes(Box::new(stored), by, lease)),
                Asked::No { by } => Ok(Given::Settled(self.declined(&stored, &by, attempt).await?)),
                Asked::Undecided | Asked::Later | Asked::Nobody => {
                    Ok(Given::Settled(self.undecided(&stored, attempt).await?))
                }
            };
        }
        let Some(value) = &extras.confirm else {
            return Ok(Given::Nothing);
        };
        let stored = self.sealed("confirm", value, call, attempt).await?;
        if !self.policy().client_may_confirm(&stored.plan) {
            return Err(self.only_a_person(&stored));
        }
        Ok(Given::Yes(Box::new(stored), "the client".to_owned(), false))
    }

    /// Finds a yes that was given elsewhere, or asks for one.
    pub(super) async fn consent(
        &self,
        mut plan: Plan,
        call: &Call,
        extras: &Extras,
        attempt: &Attempt,
        talk: &dyn Talk,
    ) -> Result<Consent, Fault> {
        if self.is_leased(&plan, &call.caller.name).await? {
            return Ok(Consent::Given(Frozen::fresh(plan, Some(LEASED))));
        }
        self.worth_asking(&mut plan).await?;
        let stored = self.shown(plan, call, attempt).await?;
        if stored.state == PlanState::Approved {
            let by = stored.decided_by.clone().unwrap_or_default();
            return self.agreed(stored, &by, false).map(Consent::Given);
        }
        if self.policy().four_eyes {
            let elsewhere = self.decided_elsewhere(stored, extras.wait, attempt, talk);
            return elsewhere.await;
        }
        let question = self.question(&stored).await?;
        match talk.ask(&question).await {
            Asked::Yes { by, lease } => self.agreed(stored, &by, lease).map(Consent::Given),
            Asked::No { by } => self
                .declined(&stored, &by, attempt)
                .await
                .map(Consent::Withheld),
            Asked::Undecided => self
                .undecided(&stored, attempt)
                .await
                .map(Consent::Withheld),
            Asked::Later => {
                attempt.unsent(&question.outcome, None).await?;
                Ok(Consent::Withheld(Reply::Ask(Box::new(question))))
            }
            Asked::Nobody => {
                self.decided_elsewhere(stored, extras.wait, attempt, talk)
                    .await
            }
        }
    }

    /// Nobody can be asked through this call. If the caller wants to wait, a person may decide at another terminal
    /// meanwhile.
    async fn decided_elsewhere(
        &self,
        stored: StoredPlan,
        patience: Option<Duration>,
        attempt: &Attempt,
        talk: &dyn Talk,
    ) -> Result<Consent, Fault> {
        if stored.plan.types_secret() && self.page.get().is_none() {
            self.withdraw(&stored).await?;
            return Err(nobody_sees_the_secret());
        }
        let until = Instant::now() + patience.unwrap_or_default();
        for look in 0.. {
            if Instant::now() >= until || talk.gone() || self.hurry.is_cancelled() {
                break;
            }
            if look % TELL_AGAIN == 0 {
                let message = match self.page.get() {
                    Some(page) => format!("waiting for a person: {page}#/inbox/{}", stored.id),
                    None => format!("waiting for a person: {} {}", self.approve, stored.id),
                };
                talk.progress(Progress {
                    fraction: None,
                    message,
                });
            }
            tokio::time::sleep(LOOK_AGAIN.min(until - Instant::now())).await;
            let Some(now) = self.store().await?.plan(&stored.id).await? else {
                break;
            };
            let by = now.decided_by.clone().unwrap_or_default();
            match now.state {
                PlanState::Waiting => {}
                PlanState::Approved => return self.agreed(now, &by, false).map(Consent::Given),
                PlanState::Rejected => {
                    return self
                        .declined(&now, &by, attempt)
                        .await
                        .map(Consent::Withheld);
                }
                PlanState::Used | PlanState::Replaced => break,
            }
        }
        self.waiting(&stored, attempt).await.map(Consent::Withheld)
    }

    /// Rejects a plan that nobody could approve: it would only wait among those that somebody can.
    async fn withdraw(&self, stored: &StoredPlan) -> Result<(), Fault> {
        self.secret_texts.forget(&stored.id);
        let store = self.store().await?;
        store
            .decide_plan(stored, false, "oxmox", self.now())
            .await?;
        Ok(())
    }

    /// A plan that was agreed to, as far as is known here. It stays open until it is begun, which one caller alone can do.
    pub(super) fn agreed(
        &self,
        stored: StoredPlan,
        by: &str,
        lease: bool,
    ) -> Result<Box<Frozen>, Fault> {
        // Whoever recorded the yes may not have known of the rule.
        self.policy().may_approve(&stored.caller, by)?;
        Ok(Box::new(Frozen {
            lease: leased_guest(&stored.plan).filter(|_| lease),
            plan: stored.plan,
            shown: Some((stored.id, stored.state)),
            confirmed_by: Some(by.to_owned()),
        }))
    }

    async fn waiting(&self, stored: &StoredPlan, attempt: &Attempt) -> Result<Reply, Fault> {
        let question = self.question(stored).await?;
        attempt.unsent(&question.outcome, None).await?;
        Ok(Reply::Done(Rendered::of(&question.outcome)?))
    }

    /// A person was asked and has not decided. The plan stays open for them; a model that saw the question does not get
    /// to answer it in their place.
    async fn undecided(&self, stored: &StoredPlan, attempt: &Attempt) -> Result<Reply, Fault> {
        let mut outcome = self.question(stored).await?.outcome;
        outcome.confirm = None;
        outcome.next = Some(format!("nobody has decided yet; {}", self.person(stored)));
        attempt.unsent(&outcome, None).await?;
        Ok(Reply::Done(Rendered::of(&outcome)?))
    }

    async fn declined(
        &self,
        stored: &StoredPlan,
        by: &str,
        attempt: &Attempt,
    ) -> Result<Reply, Fault> {
        self.secret_texts.forget(&stored.id);
        let already = stored.state == PlanState::Rejected;
        if !already
            && !self
                .store()
                .await?
                .decide_plan(stored, false, by, self.now())
                .await?
        {
            return Err(Fault::new(
                Kind::Conflict,
                format!("the no came too late: plan {} was used already", stored.id),
            )
            .hint("look what became of it: get_proxmox_vm_status with include [\"tasks\"]"));
        }
        let mut outcome = Outcome::unsent(Status::NotApplied, &stored.id, &stored.plan);
        outcome.next = Some("a person said no: do not try it again unless asked to".to_owned());
        attempt
            .unsent(&outcome, Some(format!("declined by {by}")))
            .await?;
        Ok(Reply::Done(Rendered::of(&outcome)?))
    }

    fn only_a_person(&self, stored: &StoredPlan) -> Fault {
        Fault::refused(format!(
            "a person must approve this, you cannot confirm it yourself (risk {}): {}",
            stored.plan.risk().word(),
            stored.plan.summary
        ))
        .hint(format!(
            "a person {}, then the same call without `confirm` applies it",
            self.decides(stored)
        ))
    }
}

/// The refusal of a secret text where no person can be shown it.
fn nobody_sees_the_secret() -> Fault {
    Fault::refused(
        "a person must see a secret text before they approve it, and nobody can be shown it here: no person can be asked \
         through this client, and this oxmox serves no page",
    )
    .hint(
        "send it as `text` or `line` if it is no secret; else a person types it themselves, or uses a client that can ask them, \
         or oxmox serve --http, whose page shows it",
    )
}
