//! How many requests were sent, and how they ended.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::request::Method;

/// Counts the requests to one cluster.
#[derive(Debug, Default)]
pub struct Tally {
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    requests: BTreeMap<(Method, Option<u16>), u64>,
    reached: Option<bool>,
}

impl Tally {
    /// One was sent. Without a status there was no answer.
    pub(crate) fn count(&self, method: Method, status: Option<u16>) {
        let mut counted = self.counted();
        *counted.requests.entry((method, status)).or_default() += 1;
        counted.reached = Some(status.is_some());
    }

    /// How often which method had which status, or no answer.
    pub fn requests(&self) -> Vec<(Method, Option<u16>, u64)> {
        let counted = self.counted();
        let requests = counted.requests.iter();
        requests
            .map(|((method, status), count)| (*method, *status, *count))
            .collect()
    }

    /// Whether the last request was answered, if there was one.
    pub fn reached(&self) -> Option<bool> {
        self.counted().reached
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
