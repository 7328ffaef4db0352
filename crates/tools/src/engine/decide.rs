//! What waits for a person, and their word on it, for whoever shows it to them.

use super::Engine;
use crate::caller::{Caller, Scope};
use crate::fault::{Fault, Kind};
use crate::store::StoredPlan;
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
        let stored = store
            .plan(id)
            .await?
            .filter(|stored| person.bounds.reach_cluster(&stored.plan.cluster))
            .ok_or_else(|| Fault::new(Kind::NotFound, format!("there is no plan {id}")))?;
        if stored.digest != digest {
            return Err(conflict("the plan is not the one that was shown")
                .hint("look at it again, then decide"));
        }
        if person.bounds.scope == Scope::Read {
            return Err(Fault::refused("whoever may only read decides on nothing"));
        }
        if let Some(fault) = self.may_not_approve(&stored, person).filter(|_| approve) {
            return Err(fault);
        }
        if store
            .decide_plan(&stored, approve, &person.name, self.now())
            .await?
        {
            return Ok(stored);
        }
        // Somebody else may have decided since it was read.
        let state = store
            .plan(id)
            .await?
            .map_or(stored.state, |plan| plan.state);
        Err(conflict(&format!("it {}", state.why_not_open())))
    }

    /// Nobody lets happen what they could not do themselves.
    fn may_not_approve(&self, stored: &StoredPlan, person: &Caller) -> Option<Fault> {
        let beyond = person.bounds.refuse(&stored.plan);
        beyond.or_else(|| {
            self.policy()
                .may_approve(&stored.caller, &person.name)
                .err()
        })
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
