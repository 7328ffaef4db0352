//! The secret texts of plans that wait for approval: in the memory of this process alone, so that the person who approves can
//! see what would be typed.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use secrecy::SecretString;

use super::Engine;
use crate::fault::Fault;
use crate::store::{PlanState, StoredPlan, cannot_show_secret};

/// How many plans have their texts held at a time. One more drops the oldest of its caller, or else the oldest of all.
const MOST: usize = 200;

/// The texts by plan, oldest first. Nothing of them is stored; each is overwritten in memory when it is dropped.
#[derive(Default)]
pub(super) struct SecretTexts(Mutex<VecDeque<Held>>);

struct Held {
    plan: String,
    caller: String,
    /// Unix time after which the plan cannot be approved.
    expires: i64,
    texts: Vec<SecretString>,
}

impl SecretTexts {
    /// Holds the texts of a plan until it is decided, used or expired.
    fn hold(&self, stored: &StoredPlan, texts: Vec<SecretString>, now: i64) {
        let mut held = self.held(now);
        held.retain(|it| it.plan != stored.id);
        if held.len() >= MOST {
            let of_caller = held.iter().position(|it| it.caller == stored.caller);
            held.remove(of_caller.unwrap_or(0));
        }
        held.push_back(Held {
            plan: stored.id.clone(),
            caller: stored.caller.clone(),
            expires: stored.expires,
            texts,
        });
    }

    /// The texts of a plan, if they are held here.
    fn find(&self, plan: &str, now: i64) -> Option<Vec<SecretString>> {
        let held = self.held(now);
        let found = held.iter().find(|it| it.plan == plan)?;
        Some(found.texts.clone())
    }

    /// Drops the texts of a plan.
    pub(super) fn forget(&self, plan: &str) {
        self.lock().retain(|it| it.plan != plan);
    }

    fn plans(&self, now: i64) -> Vec<String> {
        self.held(now).iter().map(|it| it.plan.clone()).collect()
    }

    /// All that has not expired.
    fn held(&self, now: i64) -> MutexGuard<'_, VecDeque<Held>> {
        let mut held = self.lock();
        held.retain(|it| it.expires > now);
        held
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Holds the secret texts of a plan that is about to be shown. Its secrets are those of the call that made it.
    pub(super) fn hold_secret_texts(&self, stored: &StoredPlan) {
        if let Some(texts) = stored.plan.secret_texts() {
            self.secret_texts.hold(stored, texts, self.now());
        }
    }

    /// The secret texts of a waiting plan, if this process holds them.
    pub(super) fn secret_texts(&self, plan: &str) -> Option<Vec<SecretString>> {
        self.secret_texts.find(plan, self.now())
    }

    /// Drops the texts of plans that wait no longer, wherever they were decided.
    pub(super) async fn drop_secret_texts(&self) -> Result<(), Fault> {
        for plan in self.secret_texts.plans(self.now()) {
            let stored = self.store().await?.plan(&plan).await?;
            if stored.is_none_or(|stored| stored.state != PlanState::Waiting) {
                self.secret_texts.forget(&plan);
            }
        }
        Ok(())
    }

    /// The fault of a plan whose secret text this process cannot show: nobody approves a text unseen.
    pub(super) fn secret_is_elsewhere(&self, stored: &StoredPlan) -> Option<Fault> {
        let is_unseen = stored.plan.types_secret() && self.secret_texts(&stored.id).is_none();
        is_unseen.then(|| cannot_show_secret(&stored.id))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::plan::tests::plan;

    fn stored(id: &str, caller: &str, expires: i64) -> StoredPlan {
        StoredPlan {
            id: id.to_owned(),
            caller: caller.to_owned(),
            arguments: String::new(),
            digest: String::new(),
            plan: plan(&["100"], Vec::new()),
            state: PlanState::Waiting,
            expires,
            decided_by: None,
        }
    }

    fn texts(texts: &SecretTexts, plan: &str, now: i64) -> Option<String> {
        let found = texts.find(plan, now)?;
        Some(found[0].expose_secret().to_owned())
    }

    #[test]
    fn texts_are_dropped_when_the_plan_is_decided_or_expires() {
        let held = SecretTexts::default();
        held.hold(&stored("a", "anna", 100), vec!["one".into()], 0);
        held.hold(&stored("b", "anna", 200), vec!["two".into()], 0);
        assert_eq!(texts(&held, "a", 99).as_deref(), Some("one"));
        assert_eq!(texts(&held, "a", 100), None);
        assert_eq!(held.plans(100), ["b"]);
        held.forget("b");
        assert_eq!(texts(&held, "b", 100), None);
        assert!(held.lock().is_empty());
    }

    #[test]
    fn one_caller_cannot_fill_the_memory_or_push_out_the_texts_of_others() {
        let held = SecretTexts::default();
        held.hold(&stored("first", "anna", 100), vec!["one".into()], 0);
        for number in 0..=MOST {
            let plan = stored(&number.to_string(), "bert", 100);
            held.hold(&plan, vec!["x".into()], 0);
        }
        assert_eq!(held.lock().len(), MOST);
        assert_eq!(texts(&held, "first", 0).as_deref(), Some("one"));
        assert_eq!(texts(&held, "0", 0), None);
        assert!(texts(&held, &MOST.to_string(), 0).is_some());
    }
}
