//! Counts calls and what became of plans, for whoever watches the service.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::fault::Kind;
use crate::outcome::Status;

/// The upper ends of the classes that calls are counted in by how long they took, in seconds.
pub const CLASSES: [f64; 12] = [
    0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
];

/// The calls of one tool.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// How many took as long as each class allows and no longer than that; longer ones are in none.
    pub took: [u64; CLASSES.len()],
    /// How long all of them took, in seconds.
    pub seconds: f64,
    /// How many there were.
    pub count: u64,
    /// How many failed, by the kind of the failure.
    pub failed: BTreeMap<&'static str, u64>,
}

/// What is counted while the process lives.
#[derive(Debug, Default)]
pub struct Meter {
    calls: Mutex<BTreeMap<&'static str, Calls>>,
    plans: Mutex<BTreeMap<&'static str, u64>>,
}

impl Meter {
    /// A call has ended.
    pub(crate) fn call(&self, tool: &'static str, lasted: Duration, failed: Option<Kind>) {
        let mut calls = guard(&self.calls);
        let calls = calls.entry(tool).or_default();
        let seconds = lasted.as_secs_f64();
        if let Some(class) = CLASSES.iter().position(|class| seconds <= *class) {
            calls.took[class] += 1;
        }
        calls.seconds += seconds;
        calls.count += 1;
        if let Some(kind) = failed {
            *calls.failed.entry(kind.word()).or_default() += 1;
        }
    }

    /// A plan was closed.
    pub(crate) fn plan(&self, status: Status) {
        *guard(&self.plans).entry(status.word()).or_default() += 1;
    }

    /// The calls by tool.
    pub fn calls(&self) -> BTreeMap<&'static str, Calls> {
        guard(&self.calls).clone()
    }

    /// The plans by what became of them.
    pub fn plans(&self) -> BTreeMap<&'static str, u64> {
        guard(&self.plans).clone()
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
