//! How a task ended, and whether what it should have brought about is so.

use std::time::Duration;

use pve::{Reader, TaskEnd, Upid};
use serde_json::Value;

use crate::clean::without_passwords;
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Check, Step};
use crate::tool::Object;
use crate::words::{MARK, beside, continued, each_set_off};

/// How often a postcondition is read before it counts as not met.
const LOOKS: u32 = 5;
/// Log lines shown of a failed task.
const LOG_TAIL: u64 = 10;

/// What is known after a part of a step.
pub(super) struct Known {
    pub(super) state: StepState,
    pub(super) detail: Option<String>,
    pub(super) result: Option<Object>,
}

impl Known {
    pub(super) fn new(state: StepState, detail: impl Into<String>) -> Self {
        Self {
            state,
            detail: Some(detail.into()),
            result: None,
        }
    }

    /// And this besides.
    pub(super) fn and(mut self, more: Option<String>) -> Self {
        let both = [self.detail.take(), more].into_iter().flatten();
        self.detail = both.reduce(|one, other| beside(&one, &other));
        self
    }
}

/// A task that ended well, with its warnings.
pub(super) struct Ended(Option<String>);

impl Ended {
    /// Reads whether it brought about what it should have.
    pub(super) async fn read_back(self, pve: &Reader, step: &Step, settling: u32) -> Known {
        let mut known = read_back(pve, step.after.as_ref(), settling).await;
        if let Some(warning) = self.0 {
            known = known.and(Some(warning));
        }
        known
    }
}

/// Waits for a task's end; `None`: it has not ended yet. A task that failed is an error with the end of its log.
pub(super) async fn ended(
    pve: &Reader,
    upid: &Upid,
    within: Duration,
    tell: impl FnMut(pve::TaskProgress),
) -> Result<Option<Ended>, Known> {
    match pve.wait_task(upid, within, tell).await {
        Ok(Some(TaskEnd::Ok)) => Ok(Some(Ended(None))),
        Ok(Some(TaskEnd::Warnings(count))) => Ok(Some(Ended(Some(format!(
            "the task ended with {count} warnings; the last lines of its log follow\n{}",
            log_tail(pve, upid).await
        ))))),
        Ok(Some(TaskEnd::Failed(why))) => Err(Known::new(
            StepState::Failed,
            format!(
                "the task ended with: {}; the last lines of its log follow\n{}",
                continued(&without_passwords(&why)),
                log_tail(pve, upid).await
            ),
        )),
        Ok(None) => Ok(None),
        Err(error) => Err(unreadable(&format!(
            "how it goes cannot be read: {}",
            explain(&error)
        ))),
    }
}

pub(super) fn unreadable(why: &str) -> Known {
    Known::new(
        StepState::Unknown,
        format!("the task was started, but {why}"),
    )
}

async fn log_tail(pve: &Reader, upid: &Upid) -> String {
    match pve.task_log_tail(upid, LOG_TAIL).await {
        Ok(lines) => {
            let lines = lines.iter().map(|line| without_passwords(line));
            each_set_off(lines).trim_end().to_owned()
        }
        Err(error) => format!("{MARK}(the log cannot be read: {})", explain(&error)),
    }
}

/// Reads until everything that was to come about is seen, or patience ends. `settling` is how often it is read where PVE
/// goes on after its task.
pub(super) async fn read_back(pve: &Reader, check: Option<&Check>, settling: u32) -> Known {
    let Some(check) = check else {
        return Known {
            state: StepState::Done,
            detail: None,
            result: None,
        };
    };
    for part in check.all() {
        if let Err(known) = read_one(pve, part, settling).await {
            return known;
        }
    }
    Known::new(StepState::Done, format!("read back: {}", check.sentence()))
}

/// Reads until one postcondition holds; the error is what is known if it does not.
async fn read_one(pve: &Reader, check: &Check, settling: u32) -> Result<(), Known> {
    let looks = if check.settles { settling } else { LOOKS };
    let mut last = String::new();
    for look in 0..looks {
        if look > 0 {
            tokio::time::sleep(pve.task_poll()).await;
        }
        match pve.get::<Value>(check.read.clone()).await {
            Ok(answer) if check.holds(&answer) => return Ok(()),
            Ok(_) => last.clear(),
            // A guest that is not there is in no state that could be waited for.
            Err(error) if check.is_taken(&error) || error.is_missing_object() => last.clear(),
            Err(error) => last = explain(&error),
        }
    }
    if !last.is_empty() {
        let detail = format!(
            "PVE accepted it, but \"{}\" cannot be read back: {last}",
            check.says
        );
        return Err(Known::new(StepState::Unknown, detail));
    }
    if check.guessed {
        let detail = format!(
            "PVE reported success, but it cannot be seen that {}",
            check.says
        );
        return Err(Known::new(StepState::Unknown, detail));
    }
    if check.settles {
        let detail = format!(
            "PVE has accepted it and works on it; not yet: {}",
            check.says
        );
        return Err(Known::new(StepState::Running, detail));
    }
    Err(Known::new(
        StepState::Failed,
        format!("PVE reported success, but it is not so that {}", check.says),
    ))
}
