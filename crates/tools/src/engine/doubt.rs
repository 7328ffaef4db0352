//! What became of a request whose answer was lost. It is never sent again: the node's task list and the guest's state
//! are asked, and what they do not tell stays unknown.

use std::collections::BTreeSet;

use pve::{Reader, Upid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step::{Known, read_back};
use crate::outcome::StepState;
use crate::plan::{Check, Step, Trace, Wait};

/// How often the node's task list is searched for a task whose start was not answered.
const SEARCHES: u32 = 5;

/// How things stood before a step was sent; without it, nothing found afterwards proves anything.
#[derive(Serialize, Deserialize)]
pub(super) struct Before {
    /// The tasks of this sort that there were already; `None` if they could not be listed.
    tasks: Option<BTreeSet<String>>,
    /// Whether what the step should bring about was so already, or could not be read.
    already: bool,
}

impl Before {
    /// Looks right before a step is sent.
    pub(super) async fn of(pve: &Reader, step: &Step) -> Self {
        let tasks = match &step.wait {
            Wait::Task(trace) => tasks_of(pve, trace).await,
            Wait::Nothing => None,
        };
        let already = match &step.after {
            None => true,
            Some(check) => was_so(pve, check).await,
        };
        Self { tasks, already }
    }

    /// As it is kept for the case that this process dies while the step is on its way.
    pub(super) fn kept(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What was kept.
    pub(super) fn parse(kept: &str) -> Option<Self> {
        serde_json::from_str(kept).ok()
    }

    /// The task that an unanswered request started, found in the node's own list. Two candidates are as good as none: a
    /// person may have started the same thing at the same moment.
    pub(super) async fn task_since(&self, pve: &Reader, step: &Step) -> Option<Upid> {
        let (Some(before), Wait::Task(trace)) = (&self.tasks, &step.wait) else {
            return None;
        };
        for _ in 0..SEARCHES {
            if let Some(now) = tasks_of(pve, trace).await {
                let mut new = now.difference(before);
                if let (Some(only), None) = (new.next(), new.next()) {
                    return only.parse().ok();
                }
            }
            tokio::time::sleep(pve.task_poll()).await;
        }
        None
    }

    /// No task was found: only what can be read back now, and could not before, counts.
    pub(super) async fn without_answer(
        &self,
        pve: &Reader,
        step: &Step,
        why: &str,
        settling: u32,
    ) -> Known {
        if !self.already {
            let known = read_back(pve, step.after.as_ref(), settling).await;
            if known.state == StepState::Done {
                return known;
            }
        }
        Known::new(
            StepState::Unknown,
            format!("{why}, no task of it was found, and it was not sent again"),
        )
    }
}

/// Whether nothing of what a step should bring about was seen to be missing.
async fn was_so(pve: &Reader, check: &Check) -> bool {
    for part in check.all() {
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

/// The guest's tasks of these types on its node right now.
async fn tasks_of(pve: &Reader, trace: &Trace) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for task_type in &trace.types {
        let tasks = pve
            .find_task(&trace.node, task_type, Some(trace.vmid), None)
            .await
            .ok()?;
        found.extend(tasks.into_iter().map(|task| task.upid.to_string()));
    }
    Some(found)
}
