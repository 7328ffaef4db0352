//! What became of a request whose answer was lost. It is never sent again: the node's task list and the guest's state
//! are asked, and what they do not tell stays unknown.

use std::collections::BTreeSet;

use pve::Reader;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::attribute::tasks_of;
use super::read_back::{Known, read_back};
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Check, Expect, Step, Wait};

/// How long after a request was sent, in seconds, what is found may be of its making. What came later may be anybody's.
pub(super) const SOON: i64 = 120;

/// How things stood before a step was sent; without it, nothing found afterwards proves anything.
#[derive(Serialize, Deserialize)]
pub(super) struct Before {
    /// The tasks of this sort that its sender saw already; `None` if they could not be listed.
    pub(super) tasks: Option<BTreeSet<String>>,
    /// Whether what the step should bring about was so already, or could not be read.
    already: bool,
    /// Unix time at which it was sent, by our own clock.
    #[serde(default)]
    pub(super) sent: i64,
    /// Who sent it, as PVE knows them: its task is theirs, whoever looks for it.
    #[serde(default)]
    pub(super) by: Option<String>,
}

impl Before {
    /// Looks right before a step is sent.
    pub(super) async fn of(pve: &Reader, step: &Step, sent: i64) -> Self {
        let tasks = match &step.wait {
            Wait::Task(trace) => tasks_of(pve, step, trace).await.ok(),
            Wait::Nothing => None,
        };
        let already = match &step.after {
            None => true,
            Some(check) => was_so(pve, check).await,
        };
        Self {
            tasks,
            already,
            sent,
            by: Some(pve.identity()),
        }
    }

    /// As it is kept for the case that this process dies while the step is on its way.
    pub(super) fn kept(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What was kept.
    pub(super) fn parse(kept: &str) -> Option<Self> {
        serde_json::from_str(kept).ok()
    }

    /// Whether whoever looks is the one who sent it, and sees what they saw then.
    pub(super) fn is_by(&self, pve: &Reader) -> bool {
        self.by.as_ref() == Some(&pve.identity())
    }

    /// Why it cannot be read now whether a step brought about what it should have, where that would tell something.
    pub(super) async fn unreadable(&self, pve: &Reader, step: &Step) -> Option<String> {
        if self.already {
            return None;
        }
        for part in step.after.as_ref()?.all() {
            match pve.get::<Value>(part.read.clone()).await {
                Err(error) if !(error.is_missing_object() || part.is_taken(&error)) => {
                    return Some(explain(&error));
                }
                _ => {}
            }
        }
        None
    }

    /// No task was found: only what can be read back now, could not before, and has not had the time to come from
    /// somebody else, counts.
    pub(super) async fn without_answer(
        &self,
        pve: &Reader,
        step: &Step,
        (why, now): (&str, i64),
        settling: u32,
    ) -> Known {
        let mut seen = String::new();
        if let (false, Some(check)) = (self.already, &step.after) {
            let known = read_back(pve, Some(check), settling).await;
            match known.state {
                StepState::Done if self.is_soon(now) => return known,
                StepState::Done => {
                    seen = format!("; by now {}, by whomever", check.sentence());
                }
                _ => {}
            }
        }
        Known::new(
            StepState::Unknown,
            format!("{why}, no task of it was found, and it was not sent again{seen}"),
        )
    }

    pub(super) fn is_soon(&self, now: i64) -> bool {
        now - self.sent <= SOON
    }
}

/// Whether nothing of what a step should bring about was seen to be missing.
async fn was_so(pve: &Reader, check: &Check) -> bool {
    for part in check.all() {
        // A row that comes may be anybody's.
        if part.expect.iter().any(|it| matches!(it, Expect::Added(..))) {
            return true;
        }
        let so = match pve.get::<Value>(part.read.clone()).await {
            Ok(answer) => part.holds(&answer),
            // A guest that is still to be made, or an id that is still taken.
            Err(error) => !(error.is_missing_object() || part.is_taken(&error)),
        };
        if !so {
            return false;
        }
    }
    true
}
