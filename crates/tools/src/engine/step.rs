//! One step: send it, wait for it, read back what it should have done. What cannot be known is said to be unknown.

use std::sync::Arc;
use std::time::Duration;

use pve::{Reader, TaskEnd, Upid};
use serde_json::Value;

use super::Engine;
use super::agent::read_inside;
use super::doubt::Before;
use super::halt_point;
use super::report::Report;
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Action, Check, Plan, Step, Wait};
use crate::preview::missing_privileges;
use crate::tool::Object;

/// How often a postcondition is read before it counts as not met.
const LOOKS: u32 = 5;
/// The same for what PVE does after its task has ended (a guest that HA starts).
const LOOKS_WHILE_SETTLING: u32 = 30;
/// A task may take as long as it takes; past this its outcome is unknown to us.
const LONGEST_TASK: Duration = Duration::from_hours(7 * 24);
/// What becomes of a secret that was in an answer that did not come.
const LOST_SECRET: &str =
    "its secret was in the answer and is lost: if it is there, delete it and make another";
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
    fn and(mut self, more: Option<String>) -> Self {
        let both = [self.detail.take(), more].into_iter().flatten();
        self.detail = both.reduce(|one, other| format!("{one}; {other}"));
        self
    }
}

impl Engine {
    /// Runs one step to its end and reports on the way.
    pub(super) async fn step(
        self: &Arc<Self>,
        plan: &Plan,
        index: usize,
        step: &Step,
        report: &Report,
    ) -> StepState {
        let mut known = match self.run(plan, index, step, report).await {
            Ok(known) | Err(known) => known,
        };
        if known.state == StepState::Failed
            && let Some(standing) = self.standing(plan, step).await
        {
            known.detail = Some(format!("{}\n{standing}", known.detail.unwrap_or_default()));
        }
        let mut picture = None;
        if report.was_carried_out(index, known.state)
            && let Some(told) = self.told(plan, step).await
        {
            let detail = known.detail.map(|detail| format!("{detail}; "));
            known.detail = Some(format!("{}{}", detail.unwrap_or_default(), told.words));
            known.result = known.result.or(told.result);
            picture = told.picture;
        }
        let detail = known.detail.map(|detail| plan.secrets.out_of(detail));
        report
            .step(index, |outcome| {
                outcome.state = known.state;
                outcome.detail = detail;
                outcome.result = known.result;
                outcome.is_private = step.action.reads_a_file();
                outcome.picture = picture;
            })
            .await;
        halt_point::at("step-kept").await;
        known.state
    }

    async fn run(
        self: &Arc<Self>,
        plan: &Plan,
        index: usize,
        step: &Step,
        report: &Report,
    ) -> Result<Known, Known> {
        if let Some(frozen) = self.frozen().await {
            return Err(Known::new(StepState::Failed, frozen.message));
        }
        if let Some(by) = report.cancelled_by().await {
            let why = format!("it was cancelled by {by} before this was sent");
            return Err(Known::new(StepState::NotSent, why));
        }
        let unsent = |why: &str| Known::new(StepState::Failed, format!("{why}; it was not sent"));
        if let Err(halt) = self.still_as_planned(plan, index).await {
            report
                .step(index, |outcome| outcome.stranger = halt.stranger)
                .await;
            return Err(Known::new(StepState::Failed, halt.fault.message));
        }
        let pve = &self
            .cluster(&plan.cluster)
            .map_err(|fault| unsent(&fault.message))?
            .pve;
        let writer = self
            .writers
            .get(&plan.cluster)
            .ok_or_else(|| unsent("no way to write"))?;
        let before = Before::of(pve, step, self.now()).await;
        report
            .sending(index, &before)
            .await
            .map_err(|fault| unsent(&fault.message))?;
        halt_point::at("step-sending").await;
        report.progress(index, None, step.says.clone());
        match &step.action {
            Action::Request(_) | Action::Upload(_) => {}
            Action::Download(download) => {
                return self.fetch(pve, plan, (index, step), download, report).await;
            }
            Action::Keys(keys) => return self.press(writer, plan, index, keys, report).await,
            Action::AgentExec(exec) => {
                return self
                    .run_inside(writer, plan, (index, step), exec, report)
                    .await;
            }
            Action::AgentFile(file) => return read_inside(pve, plan, file).await,
            Action::TerminalLine(line) => {
                return self.type_line(writer, plan, line, report).await;
            }
            Action::TerminalExec(exec) => {
                return self.run_at_prompt(writer, plan, exec, report).await;
            }
        }
        let confided = self
            .place_for_secret(plan, step)
            .map_err(|why| unsent(&why))?;
        let sent = self.send((pve, writer), plan, (index, step), report).await;
        let sent = sent.map_err(|why| unsent(&why))?;
        halt_point::at("answered").await;
        let confided = confided.map(|file| file.take(sent.as_ref().ok()));
        let mut shown = None;
        let lost = match sent {
            Ok(answer) => match answer.as_str().map(str::parse::<Upid>) {
                Some(Ok(upid)) => Ok(Some(upid)),
                // A task was due and none was named: as good as no answer.
                _ if matches!(step.wait, Wait::Task(_)) => Err("PVE named no task".to_owned()),
                _ => {
                    shown = step
                        .shows
                        .then(|| told(answer, &step.action.request().path))
                        .flatten();
                    Ok(None)
                }
            },
            Err(error) if error.is_maybe_sent() => Err(explain(&error)),
            Err(error) => return Err(refused(pve, plan, &error).await),
        };
        let task = match lost {
            Ok(task) => task,
            Err(why) => {
                let found = before.task_since(pve, step, self.now()).await;
                if found.is_none() {
                    let why = format!("it was sent once and not answered ({why})");
                    let asked = (why.as_str(), self.now());
                    let known = before
                        .without_answer(pve, step, asked, LOOKS_WHILE_SETTLING)
                        .await;
                    return Ok(known.and(step.confides.as_ref().map(|_| LOST_SECRET.to_owned())));
                }
                found
            }
        };
        if let Some(upid) = task {
            return follow(pve, index, step, &upid, report).await;
        }
        let known = read_back(pve, step.after.as_ref(), LOOKS_WHILE_SETTLING).await;
        let known = if_seen(pve, plan, known).await.and(confided);
        Ok(Known {
            result: known.result.or(shown),
            ..known
        })
    }
}

/// PVE's answer as part of an outcome: without secrets, and not longer than a person reads.
fn told(mut answer: Value, path: &str) -> Option<Object> {
    const LONGEST: usize = 3_000;
    crate::clean::answer(&mut answer, path);
    let text = match answer {
        Value::Null => return None,
        Value::String(text) => text,
        other => other.to_string(),
    };
    let mut cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() {
        cut.push_str("… (cut)");
    }
    Some(Object::from_iter([("answer".to_owned(), cut.into())]))
}

/// Sees a step's task through to its end.
async fn follow(
    pve: &Reader,
    index: usize,
    step: &Step,
    upid: &Upid,
    report: &Report,
) -> Result<Known, Known> {
    report
        .step(index, |outcome| outcome.task = Some(upid.to_string()))
        .await;
    halt_point::at("task-kept").await;
    let tell = |progress: pve::TaskProgress| {
        let fraction = progress.percent.map(|percent| percent / 100.0);
        report.progress(index, fraction, doing(step, progress.line.as_deref()));
    };
    match ended(pve, upid, LONGEST_TASK, tell).await? {
        Some(end) => Ok(end.read_back(pve, step, LOOKS_WHILE_SETTLING).await),
        None => Err(unreadable("it has not ended in a week")),
    }
}

/// A step and the last line of its task's log.
pub(super) fn doing(step: &Step, line: Option<&str>) -> String {
    match line {
        Some(line) => format!(
            "{}: {}",
            step.says,
            crate::clean::line(&crate::clean::without_passwords(line))
        ),
        None => step.says.clone(),
    }
}

impl Engine {
    /// How things stand after a step that failed, where the step says what to look at.
    async fn standing(&self, plan: &Plan, step: &Step) -> Option<String> {
        let check = step.otherwise.as_ref()?;
        let pve = &self.cluster(&plan.cluster).ok()?.pve;
        let says = &check.says;
        Some(match pve.get::<Value>(check.read.clone()).await {
            Ok(answer) if check.holds(&answer) => format!("read back: {says}"),
            Ok(_) => format!("read back: it is not so any more that {says}"),
            Err(error) if error.is_missing_object() => {
                format!("read back: it is not so any more that {says}")
            }
            Err(error) => format!("whether {says} cannot be read: {}", explain(&error)),
        })
    }
}

/// PVE's own words. Where it refuses without saying which privilege is missing, the plan's own tree tells.
pub(super) async fn refused(pve: &Reader, plan: &Plan, error: &pve::Error) -> Known {
    let mut detail = explain(error);
    if error.status() == Some(403) {
        let missing = missing_privileges(plan, pve).await;
        if !missing.is_empty() {
            detail = format!("{detail}; the token lacks {}", missing.join(", "));
        }
    }
    Known::new(StepState::Failed, detail)
}

/// PVE leaves out of its lists what a token may not see: what was not found there may be there all the same.
async fn if_seen(pve: &Reader, plan: &Plan, known: Known) -> Known {
    if known.state != StepState::Failed {
        return known;
    }
    let missing = missing_privileges(plan, pve).await;
    if missing.is_empty() {
        return known;
    }
    let detail = format!(
        "PVE accepted it, but it cannot be read back: the token lacks {}",
        missing.join(", ")
    );
    Known::new(StepState::Unknown, detail)
}

/// A task that ended well, with its warnings.
pub(super) struct Ended(Option<String>);

impl Ended {
    /// Reads whether it brought about what it should have.
    pub(super) async fn read_back(self, pve: &Reader, step: &Step, settling: u32) -> Known {
        let mut known = read_back(pve, step.after.as_ref(), settling).await;
        if let Some(warning) = self.0 {
            known.detail = Some(format!("{}; {warning}", known.detail.unwrap_or_default()));
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
            "the task ended with {count} warnings:\n{}",
            log_tail(pve, upid).await
        ))))),
        Ok(Some(TaskEnd::Failed(why))) => Err(Known::new(
            StepState::Failed,
            format!(
                "the task ended with: {why}\nlast lines of its log:\n{}",
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

fn unreadable(why: &str) -> Known {
    Known::new(
        StepState::Unknown,
        format!("the task was started, but {why}"),
    )
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
