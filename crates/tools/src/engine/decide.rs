//! What waits for a person, and their word on it, for whoever shows it to them.

use secrecy::SecretString;

use super::Engine;
use super::lease::{lease_with, leased_guest};
use crate::caller::{Caller, Scope};
use crate::fault::{Fault, Kind};
use crate::store::{PlanState, StoredPlan};
use crate::tool::{Object, Rendered};

/// A plan that waits, as one person sees it.
#[derive(Debug)]
pub struct Waiting {
    /// As it is kept.
    pub stored: StoredPlan,
    /// Its preview, made harmless: every request, what is affected, what to know.
    pub preview: Object,
    /// Why this person may not approve it, if so.
    pub refusal: Option<Fault>,
    /// Whether it types a secret text, which [`reveal`](Engine::reveal) shows.
    pub types_secret: bool,
    /// Whether its approval may cover ten minutes of keys.
    pub can_lease: bool,
}

impl Engine {
    /// Says where people decide in a browser. The first word counts.
    pub fn serves_page_at(&self, address: &str) {
        let _ = self.page.set(address.to_owned());
    }

    /// What waits for somebody, on the clusters that this person reaches, oldest first.
    pub async fn inbox(&self, person: &Caller) -> Result<Vec<Waiting>, Fault> {
        let mut inbox = Vec::new();
        for stored in self.store().await?.waiting_plans(self.now()).await? {
            if !person.bounds.reach_cluster(&stored.plan.cluster) {
                continue;
            }
            inbox.push(Waiting {
                preview: self.preview_of(&stored).await?,
                refusal: self.may_not_approve(&stored, person),
                types_secret: stored.plan.types_secret(),
                can_lease: leased_guest(&stored.plan).is_some(),
                stored,
            });
        }
        Ok(inbox)
    }

    /// A person's decision on the plan that they were shown, known by its digest. A no also takes back a yes that was not
    /// used yet.
    pub async fn decide(
        &self,
        id: &str,
        digest: &str,
        approve: bool,
        person: &Caller,
    ) -> Result<StoredPlan, Fault> {
        let store = self.store().await?;
        let stored = self.shown_to(id, digest, person).await?;
        if let Some(fault) = self.may_not_approve(&stored, person).filter(|_| approve) {
            return Err(fault);
        }
        let (by, now) = (&person.name, self.now());
        let decided = if approve && stored.plan.types_secret() {
            // may_not_approve has seen that this process can show it.
            store.approve_shown_secret(&stored, by, now).await?
        } else {
            store.decide_plan(&stored, approve, by, now).await?
        };
        if decided {
            // The call that applies it brings the text along.
            self.secret_texts.forget(&stored.id);
            return Ok(stored);
        }
        // Somebody else may have decided since it was read.
        let state = store
            .plan(id)
            .await?
            .map_or(stored.state, |plan| plan.state);
        Err(conflict(&format!("it {}", state.why_not_open())))
    }

    /// The secret texts of a waiting plan, for a person who may approve it; once it is decided they are gone. The digest is
    /// that of the plan that the person was shown.
    pub async fn reveal(
        &self,
        id: &str,
        digest: &str,
        person: &Caller,
    ) -> Result<Vec<SecretString>, Fault> {
        let stored = self.shown_to(id, digest, person).await?;
        if let Some(fault) = self.may_not_approve(&stored, person) {
            return Err(fault);
        }
        if stored.state != PlanState::Waiting || stored.expires <= self.now() {
            return Err(conflict(&format!("it {}", stored.state.why_not_open())));
        }
        let texts = self.secret_texts(id);
        texts.ok_or_else(|| Fault::new(Kind::NotFound, format!("plan {id} types no secret")))
    }

    /// Lets the approval of a plan that presses keys cover ten minutes of them. False: it is no plan that a lease covers.
    pub async fn lease_keys(&self, stored: &StoredPlan) -> Result<bool, Fault> {
        lease_with(self.store().await?, stored, self.now()).await
    }

    /// The plan that a person was shown and decides on.
    async fn shown_to(&self, id: &str, digest: &str, person: &Caller) -> Result<StoredPlan, Fault> {
        let stored = self
            .store()
            .await?
            .plan(id)
            .await?
            .filter(|stored| person.bounds.reach_cluster(&stored.plan.cluster))
            .ok_or_else(|| Fault::new(Kind::NotFound, format!("there is no plan {id}")))?;
        if stored.digest != digest {
            return Err(conflict("the plan is not the one that was shown")
                .hint("look at it again, then decide"));
        }
        if person.bounds.scope == Scope::Read {
            return Err(Fault::refused("a token of scope read decides on nothing"));
        }
        Ok(stored)
    }

    /// Nobody lets happen what they could not do themselves, or what they cannot be shown.
    fn may_not_approve(&self, stored: &StoredPlan, person: &Caller) -> Option<Fault> {
        let beyond = person.bounds.refuse(&stored.plan);
        let beyond = beyond.or_else(|| {
            self.policy()
                .may_approve(&stored.caller, &person.name)
                .err()
        });
        // Of a plan that is decided or has expired, that is what there is to say.
        let waits = stored.state == PlanState::Waiting && stored.expires > self.now();
        beyond.or_else(|| self.secret_is_elsewhere(stored).filter(|_| waits))
    }

    /// The plan as its preview shows it. The privileges are not looked up: an inbox is looked at often.
    async fn preview_of(&self, stored: &StoredPlan) -> Result<Object, Fault> {
        let registry = self.registry_for(Scope::Full).clone();
        let freeze = self.policy().freeze.clone();
        let preview = crate::preview::without_cluster(&stored.plan, registry, freeze, self.now());
        let preview = preview.await;
        Ok(Rendered::of(&preview)?.data)
    }
}

fn conflict(why: &str) -> Fault {
    Fault::new(Kind::Conflict, why)
}
