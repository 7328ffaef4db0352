//! One step: send it, wait for it, read back what it should have done. What cannot be known is said to be unknown.

use std::collections::BTreeSet;
use std::time::Duration;

use pve::{Reader, TaskEnd, Upid};
use serde_json::Value;

use super::apply::Report;
use super::{Engine, Progress};
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Action, Check, Plan, Step, Trace, Wait};
use crate::preview::missing_privileges;

/// How often a postcondition is read before it counts as not met.
const LOOKS: u32 = 5;
/// The same for what PVE does after its task has ended (a guest that HA starts).
const LOOKS_WHILE_SETTLING: u32 = 30;
/// How often the node's task list is searched for a task whose start was not answered.
const SEARCHES: u32 = 5;
/// A task is waited for in slices of this length.
const SLICE: Duration = Duration::from_secs(30);
/// Log lines shown of a failed task.
const LOG_TAIL: u64 = 10;

/// What is known after a part of a step.
struct Known {
    state: StepState,
    detail: Option<String>,
}

impl Known {
    fn new(state: StepState, detail: impl Into<String>) -> Self {
        Self {
            state,
            detail: Some(detail.into()),
        }
    }
}

impl Engine {
    /// Runs one step to its end and reports on the way.
    pub(super) async fn step(
        &self,
        plan: &Plan,
        index: usize,
        step: &Step,
        report: &Report,
    ) -> StepState {
        let known = match self.run(plan, index, step, report).await {
            Ok(known) | Err(known) => known,
        };
        report.step(index, |outcome| {
            outcome.state = known.state;
            outcome.detail = known.detail;
        });
        known.state
    }

    async fn run(
        &self,
        plan: &Plan,
        index: usize,
        step: &Step,
        report: &Report,
    ) -> Result<Known, Known> {
        if let Some(frozen) = self.policy.frozen() {
            return Err(Known::new(StepState::Failed, frozen.message));
        }
        let internal = |message: String| Known::new(StepState::Failed, message);
        let pve = &self
            .cluster(&plan.cluster)
            .map_err(|fault| internal(fault.message))?
            .pve;
        let writer = self
            .writers
            .get(&plan.cluster)
            .ok_or_else(|| internal("no way to write".to_owned()))?;
        let Action::Request(request) = &step.action;
        let before = match &step.wait {
            Wait::Task(trace) => tasks_of(pve, trace).await,
            Wait::Nothing => BTreeSet::new(),
        };
        report.step(index, |outcome| outcome.state = StepState::Running);
        report.progress(Progress {
            fraction: None,
            message: step.says.clone(),
        });
        let task = match writer.send(request).await {
            Ok(answer) => answer.as_str().and_then(|text| text.parse::<Upid>().ok()),
            Err(error) if error.is_maybe_sent() => {
                let Some(found) = found_later(pve, step, &before).await else {
                    return Ok(without_answer(pve, step, &explain(&error)).await);
                };
                Some(found)
            }
            Err(error) => return Err(refused(pve, plan, &error).await),
        };
        let mut warned = None;
        if let Some(upid) = task {
            report.step(index, |outcome| outcome.task = Some(upid.to_string()));
            warned = wait_for(pve, &upid, &step.says, report).await?;
        }
        let mut known = read_back(pve, step.after.as_ref()).await;
        if let Some(warning) = warned {
            known.detail = Some(format!("{}; {warning}", known.detail.unwrap_or_default()));
        }
        Ok(known)
    }
}

/// PVE's own words. Where it refuses without saying which privilege is missing, the plan's own tree tells.
async fn refused(pve: &Reader, plan: &Plan, error: &pve::Error) -> Known {
    let mut detail = explain(error);
    if error.status() == Some(403) {
        let missing = missing_privileges(plan, pve).await;
        if !missing.is_empty() {
            detail = format!("{detail}; the token lacks {}", missing.join(", "));
        }
    }
    Known::new(StepState::Failed, detail)
}

/// Waits for a task's end, however long it takes. `Some` are its warnings.
async fn wait_for(
    pve: &Reader,
    upid: &Upid,
    says: &str,
    report: &Report,
) -> Result<Option<String>, Known> {
    loop {
        let tell = |progress: pve::TaskProgress| {
            report.progress(Progress {
                fraction: progress.percent.map(|percent| percent / 100.0),
                message: match &progress.line {
                    Some(line) => format!("{says}: {}", crate::clean::line(line)),
                    None => says.to_owned(),
                },
            });
        };
        match pve.wait_task(upid, SLICE, tell).await {
            Ok(None) => {}
            Ok(Some(TaskEnd::Ok)) => return Ok(None),
            Ok(Some(TaskEnd::Warnings(count))) => {
                return Ok(Some(format!(
                    "the task ended with {count} warnings:\n{}",
                    log_tail(pve, upid).await
                )));
            }
            Ok(Some(TaskEnd::Failed(why))) => {
                return Err(Known::new(
                    StepState::Failed,
                    format!(
                        "the task ended with: {why}\nlast lines of its log:\n{}",
                        log_tail(pve, upid).await
                    ),
                ));
            }
            Err(error) => {
                return Err(Known::new(
                    StepState::Unknown,
                    format!(
                        "the task was started, but how it goes cannot be read: {}",
                        explain(&error)
                    ),
                ));
            }
        }
    }
}

async fn log_tail(pve: &Reader, upid: &Upid) -> String {
    match pve.task_log_tail(upid, LOG_TAIL).await {
        Ok(lines) => lines
            .iter()
            .map(|line| format!("  {line}"))
            .collect::<Vec<_>>()
            .join("\n"),
        Err(error) => format!("  (the log cannot be read: {error})"),
    }
}

/// The guest's tasks on its node right now. What cannot be listed is taken as none: it only matters if an answer is lost.
async fn tasks_of(pve: &Reader, trace: &Trace) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for task_type in &trace.types {
        let tasks = pve
            .find_task(&trace.node, task_type, Some(trace.vmid), None)
            .await
            .unwrap_or_default();
        found.extend(tasks.into_iter().map(|task| task.upid.to_string()));
    }
    found
}

/// The task that an unanswered request started, found in the node's own list. Two candidates are as good as none: a
/// person may have started the same thing at the same moment.
async fn found_later(pve: &Reader, step: &Step, before: &BTreeSet<String>) -> Option<Upid> {
    let Wait::Task(trace) = &step.wait else {
        return None;
    };
    for _ in 0..SEARCHES {
        let now = tasks_of(pve, trace).await;
        let mut new = now.difference(before);
        if let (Some(only), None) = (new.next(), new.next()) {
            return only.parse().ok();
        }
        tokio::time::sleep(pve.task_poll()).await;
    }
    None
}

/// The answer was lost and no task was found: only what can be read back counts.
async fn without_answer(pve: &Reader, step: &Step, error: &str) -> Known {
    if step.after.is_some() {
        let known = read_back(pve, step.after.as_ref()).await;
        if known.state == StepState::Done {
            return known;
        }
    }
    Known::new(
        StepState::Unknown,
        format!(
            "it was sent once and not answered ({error}), no task of it was found, and it was not sent again"
        ),
    )
}

/// Reads until the postcondition holds or patience ends.
async fn read_back(pve: &Reader, check: Option<&Check>) -> Known {
    let Some(check) = check else {
        return Known {
            state: StepState::Done,
            detail: None,
        };
    };
    let looks = if check.settles {
        LOOKS_WHILE_SETTLING
    } else {
        LOOKS
    };
    let mut last = String::new();
    for look in 0..looks {
        if look > 0 {
            tokio::time::sleep(pve.task_poll()).await;
        }
        match pve.get::<Value>(check.read.clone()).await {
            Ok(answer) if check.holds(&answer) => {
                return Known::new(StepState::Done, format!("read back: {}", check.says));
            }
            Ok(_) => last.clear(),
            Err(error) if check.is_taken(&error) => last.clear(),
            Err(error) => last = explain(&error),
        }
    }
    if !last.is_empty() {
        return Known::new(
            StepState::Unknown,
            format!(
                "PVE accepted it, but \"{}\" cannot be read back: {last}",
                check.says
            ),
        );
    }
    if check.settles {
        return Known::new(
            StepState::Running,
            format!(
                "PVE has accepted it and works on it; not yet: {}",
                check.says
            ),
        );
    }
    Known::new(
        StepState::Failed,
        format!("PVE reported success, but it is not so that {}", check.says),
    )
}
