//! Values that leave the house and come back: bound to one plan, caller and call, for one purpose, once.

use super::record::Attempt;
use super::{Call, Engine, hash_arguments};
use crate::fault::{Fault, Kind};
use crate::store::{PlanState, StoredPlan};
use crate::tool::Answer as _;

impl Engine {
    /// The name under which the caller of a plan follows it: nobody else can guess it, or use it.
    pub async fn task_id(&self, plan: &str) -> Result<String, Fault> {
        let stored = self
            .store()
            .await?
            .plan(plan)
            .await?
            .ok_or_else(no_such_task)?;
        self.seal("task", &stored).await
    }

    /// The plan that such a name stands for, if it is this caller's.
    pub async fn task_plan(&self, task: &str, caller: &str) -> Result<String, Fault> {
        let (id, seal) = task.split_once('.').ok_or_else(no_such_task)?;
        let store = self.store().await?;
        let stored = store.plan(id).await?.ok_or_else(no_such_task)?;
        let genuine = store.keys.is_sealed(&bound_to("task", &stored), seal);
        if genuine && stored.caller == caller {
            Ok(stored.id)
        } else {
            Err(no_such_task())
        }
    }

    /// `id.seal`, over all that the value is bound to.
    pub(super) async fn seal(&self, purpose: &str, stored: &StoredPlan) -> Result<String, Fault> {
        let seal = self.store().await?.keys.seal(&bound_to(purpose, stored));
        Ok(format!("{}.{seal}", stored.id))
    }

    /// The stored plan that a sealed value stands for, if it is genuine, of this very call, and still good.
    pub(super) async fn sealed(
        &self,
        purpose: &str,
        value: &str,
        call: &Call,
        attempt: &Attempt,
    ) -> Result<StoredPlan, Fault> {
        let (id, seal) = value
            .split_once('.')
            .ok_or_else(|| forged("is not one that oxmox gave"))?;
        let store = self.store().await?;
        let stored = store
            .plan(id)
            .await?
            .ok_or_else(|| forged("is not one that oxmox gave"))?;
        if !store.keys.is_sealed(&bound_to(purpose, &stored), seal) {
            return Err(forged("is not one that oxmox gave for this plan"));
        }
        let same_call = stored.caller == call.caller.name
            && stored.plan.tool == call.tool
            && stored.arguments == hash_arguments(&store.keys, &call.arguments);
        if !same_call {
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
            PlanState::Used => Err(match store.plan_outcome(id).await? {
                Some(outcome) => unusable(&format!(
                    "was used already, and the result was: {}",
                    outcome.text().trim_end()
                )),
                None => unusable("was used already"),
            }),
        }
    }
}

fn no_such_task() -> Fault {
    Fault::new(Kind::NotFound, "there is no such task")
}

fn forged(why: &str) -> Fault {
    worthless(Kind::Forged, why)
}

fn unusable(why: &str) -> Fault {
    worthless(Kind::Conflict, why)
}

fn worthless(kind: Kind, why: &str) -> Fault {
    Fault::new(kind, format!("the confirmation {why}; nothing was sent"))
        .hint("make the same call without `confirm` for a new preview")
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
