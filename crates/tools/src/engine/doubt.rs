//! What became of a request whose answer was lost. It is never sent again: the node's task list and the guest's state
//! are asked, and what they do not tell stays unknown.

use std::collections::BTreeSet;

use pve::{NodeName, Reader, Request, Resource, ResourceKind, Upid};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step::{Known, read_back};
use crate::outcome::StepState;
use crate::plan::{Action, Check, Expect, Step, Trace, Wait};

/// How often the node's task list is searched for a task whose start was not answered.
const SEARCHES: u32 = 5;
/// How long after a request was sent, in seconds, what is found may be of its making. What came later may be anybody's.
const SOON: i64 = 120;

/// How things stood before a step was sent; without it, nothing found afterwards proves anything.
#[derive(Serialize, Deserialize)]
pub(super) struct Before {
    /// The tasks of this sort that there were already; `None` if they could not be listed.
    tasks: Option<BTreeSet<String>>,
    /// Whether what the step should bring about was so already, or could not be read.
    already: bool,
    /// Unix time at which it was sent, by our own clock.
    #[serde(default)]
    sent: i64,
}

impl Before {
    /// Looks right before a step is sent.
    pub(super) async fn of(pve: &Reader, step: &Step, sent: i64) -> Self {
        let tasks = match &step.wait {
            Wait::Task(trace) => tasks_of(pve, step, trace).await,
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

    /// The task that an unanswered request started, found in the node's own list: new, of our own user, and started soon
    /// after the request. Two candidates are as good as none: another process may use the same token.
    pub(super) async fn task_since(&self, pve: &Reader, step: &Step, now: i64) -> Option<Upid> {
        let (Some(before), Wait::Task(trace)) = (&self.tasks, &step.wait) else {
            return None;
        };
        let latest = self.latest_start(pve, trace, now).await?;
        let user = pve.identity();
        let is_ours = |upid: &Upid| {
            let start = i64::try_from(upid.starttime()).unwrap_or(i64::MAX);
            upid.user() == user && start <= latest
        };
        for _ in 0..SEARCHES {
            if let Some(tasks) = tasks_of(pve, step, trace).await {
                let mut ours = tasks
                    .difference(before)
                    .filter_map(|upid| upid.parse().ok())
                    .filter(is_ours);
                if let (Some(only), None) = (ours.next(), ours.next()) {
                    return Some(only);
                }
            }
            tokio::time::sleep(pve.task_poll()).await;
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

    fn is_soon(&self, now: i64) -> bool {
        now - self.sent <= SOON
    }

    /// The latest start, by the node's clock, of a task that may be of the request's making; `None` if that clock cannot
    /// be read.
    async fn latest_start(&self, pve: &Reader, trace: &Trace, now: i64) -> Option<i64> {
        if self.is_soon(now) {
            return Some(i64::MAX);
        }
        let clock: Value = pve
            .get(Request::get(format!("/nodes/{}/time", trace.node)))
            .await
            .ok()?;
        // The two clocks may differ; how much time has passed since does not.
        Some(clock.get("time")?.as_i64()? - (now - self.sent) + SOON)
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

/// The tasks of these types right now, about the guest if it is about one, on the node that would run the step's.
async fn tasks_of(pve: &Reader, step: &Step, trace: &Trace) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for node in nodes_of(pve, step, trace).await? {
        for task_type in &trace.types {
            let tasks = pve.find_task(&node, task_type, trace.vmid, None).await;
            found.extend(tasks.ok()?.into_iter().map(|task| task.upid.to_string()));
        }
    }
    Some(found)
}

/// The nodes that may run a step's task. Whichever node a file is for, the one that was asked receives it and runs the
/// task; nobody can tell afterwards which that was.
async fn nodes_of(pve: &Reader, step: &Step, trace: &Trace) -> Option<Vec<NodeName>> {
    if !matches!(step.action, Action::Upload(_)) {
        return Some(vec![trace.node.clone()]);
    }
    let rows = pve.resources().await.ok()?;
    let is_up =
        |row: &Resource| row.kind == ResourceKind::Node && row.status.as_deref() == Some("online");
    let up = rows.into_iter().filter(is_up);
    Some(up.filter_map(|row| row.node).collect())
}
