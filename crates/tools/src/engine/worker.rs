//! Who sends the steps of a plan, and whether they still live.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Engine;
use crate::fault::Fault;
use crate::keys;
use crate::store::Sign;

/// This engine, as one that sends steps.
pub(super) struct Worker {
    pub(super) id: String,
    /// The plans that it is sending.
    plans: Mutex<BTreeSet<String>>,
    /// By which other processes see that this one lives.
    sign: Sign,
}

/// Held while the steps of a plan are being sent.
pub(super) struct AtWork {
    engine: Arc<Engine>,
    plan: String,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        if let Some(worker) = self.engine.worker.get() {
            worker.plans().remove(&self.plan);
        }
    }
}

impl Worker {
    fn plans(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// This engine as a worker.
    pub(super) async fn worker(&self) -> Result<&Worker, Fault> {
        let start = async || {
            let id = keys::short_id();
            Ok(Worker {
                sign: self.store().await?.show_life(&id).await?,
                id,
                plans: Mutex::default(),
            })
        };
        self.worker.get_or_try_init(start).await
    }

    /// Whether other processes see that this one lives; otherwise they may close what it sends.
    pub(super) fn is_seen(&self) -> bool {
        (self.worker.get()).is_none_or(|worker| worker.sign.is_seen())
    }

    /// Begins to send a plan.
    pub(super) async fn at_work(self: &Arc<Self>, plan: &str) -> Result<AtWork, Fault> {
        self.worker().await?.plans().insert(plan.to_owned());
        Ok(AtWork {
            engine: self.clone(),
            plan: plan.to_owned(),
        })
    }

    /// Whether `worker` lives and is still sending that plan.
    pub(super) async fn is_at_work(&self, worker: &str, plan: &str) -> Result<bool, Fault> {
        if let Some(own) = self.worker.get().filter(|own| own.id == worker) {
            return Ok(own.plans().contains(plan));
        }
        Ok(self.store().await?.lives(worker).await)
    }

    /// The plans that this process is sending for a caller, for one who wants to leave.
    pub async fn at_work_for(&self, caller: &str) -> Vec<String> {
        let (Some(worker), Ok(store)) = (self.worker.get(), self.store().await) else {
            return Vec::new();
        };
        let plans: Vec<String> = worker.plans().iter().cloned().collect();
        let mut of_caller = Vec::new();
        for id in plans {
            let stored = store.plan(&id).await.ok().flatten();
            if stored.is_some_and(|stored| stored.caller == caller) {
                of_caller.push(id);
            }
        }
        of_caller
    }
}
