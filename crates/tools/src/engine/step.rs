//! One step: send it, wait for it, read back what it should have done. What cannot be known is said to be unknown.

use std::sync::Arc;
use std::time::Duration;

use pve::{Reader, Upid};
use serde_json::Value;

use super::Engine;
use super::agent::read_inside;
use super::attribute::{Search, Sent};
use super::doubt::Before;
use super::halt_point;
use super::read_back::{Known, ended, read_back, unreadable};
use super::report::Report;
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Action, Plan, Step, Wait};
use crate::preview::missing_privileges;
use crate::tool::Object;
use crate::words::beside;

/// The same for what PVE does after its task has ended (a guest that HA starts).
const LOOKS_WHILE_SETTLING: u32 = 30;
/// A task may take as long as it takes; past this its outcome is unknown to us.
const LONGEST_TASK: Duration = Duration::from_hours(7 * 24);
/// What becomes of a secret that was in an answer that did not come.
const LOST_SECRET: &str =
    "its secret was in the answer and is lost: if it is there, delete it and make another";

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
            known.detail = Some(beside(&known.detail.unwrap_or_default(), &standing));
        }
        let mut picture = None;
        if report.was_carried_out(index, known.state)
            && let Some(told) = self.told(plan, step).await
        {
            known.detail = Some(beside(&known.detail.unwrap_or_default(), &told.words));
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
        report.progress(index, None, &step.says);
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
        let told_secret = sent.as_ref().ok().filter(|answer| !answer.is_null());
        let confided = confided.map(|file| file.take(told_secret));
        let mut shown = None;
        let lost = match sent {
            Ok(answer) => match answer.as_str().map(str::parse::<Upid>) {
                Some(Ok(upid)) => Ok(Some(upid)),
                // A secret was due and none was told, or a task and none was named: as good as no answer.
                None if step.confides.is_some() && answer.is_null() => {
                    Err("PVE told no secret".to_owned())
                }
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
                let sent = Sent {
                    id: report.plan(),
                    plan,
                    index,
                    step,
                    before: &before,
                };
                Some(self.after_loss(pve, &sent, &why).await?)
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

    /// The task of a request whose answer was lost, for this reason; an error: what is known of it where none is found.
    async fn after_loss(&self, pve: &Reader, sent: &Sent<'_>, why: &str) -> Result<Upid, Known> {
        if let Search::Found(upid) = self.task_of(pve, sent).await {
            return Ok(upid);
        }
        let why = format!("it was sent once and not answered ({why})");
        let asked = (why.as_str(), self.now());
        let Sent { before, step, .. } = sent;
        let known = before.without_answer(pve, step, asked, LOOKS_WHILE_SETTLING);
        let known = known.await;
        Err(known.and(step.confides.as_ref().map(|_| LOST_SECRET.to_owned())))
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
        report.progress(index, fraction, &doing(step, progress.line.as_deref()));
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
            detail = beside(&detail, &format!("the token lacks {}", missing.join(", ")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_as_far_as_a_person_reads() {
        let text = |answer: Value| Some(told(answer, "/x")?["answer"].as_str()?.to_owned());
        assert_eq!(text(Value::Null), None);
        assert_eq!(text("done".into()).unwrap(), "done");
        assert_eq!(text("ä".repeat(3_000).into()).unwrap(), "ä".repeat(3_000));
        let cut = text("ä".repeat(3_001).into()).unwrap();
        assert_eq!(cut, format!("{}… (cut)", "ä".repeat(3_000)));
    }
}
