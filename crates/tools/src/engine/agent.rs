//! A program inside a VM: started once, watched until it ends or the time is over, its end read once.

use std::time::{Duration, Instant};

use pve::{GuestRef, Reader, Request, Value};
use serde_json::json;

use super::Engine;
use super::halt_point;
use super::read_back::Known;
use super::report::Report;
use super::step::refused;
use crate::agent::{self, Glance, glance};
use crate::fault::explain;
use crate::outcome::{StepOutcome, StepState};
use crate::plan::{Action, AgentExec, AgentFile, Plan, Step};
use crate::tool::Object;

/// The first pause between two looks; each is twice as long as the one before, up to the one that tasks have.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The field of a step's result that names the program while its end is not known.
const PID: &str = "pid";

/// Reads the file of a step: what it holds is the step's result.
pub(super) async fn read_inside(
    pve: &Reader,
    plan: &Plan,
    file: &AgentFile,
) -> Result<Known, Known> {
    let request = Request::get(file.at.path("agent/file-read"));
    let request = request.with("file", agent::to_wire(&file.file));
    let answer: serde_json::Value = match pve.get(request).await {
        Ok(answer) => answer,
        Err(error) if error.is_maybe_sent() => {
            let why = explain(&error);
            return Err(Known::new(
                StepState::Unknown,
                format!(
                    "it was not answered ({why}); it changes nothing, and the same call may be made again"
                ),
            ));
        }
        Err(error) => return Err(refused(pve, plan, &error).await),
    };
    // An empty file has an empty text.
    let Some(raw) = answer["content"].as_str() else {
        return Err(Known::new(
            StepState::Unknown,
            "PVE's answer does not say what the file holds; it changes nothing, and the same call may be made again",
        ));
    };
    let bytes = raw.chars().count();
    let (content, cut) = agent::capped(&crate::clean::text(&agent::from_wire(raw)), file.most);
    let truncated = cut || pve::lenient::as_bool(&answer["truncated"]) == Some(true);
    let mut detail = crate::words::size(bytes as u64);
    if truncated {
        detail.push_str(", not shown in full");
    }
    let result = [
        ("content", json!(content)),
        ("bytes", json!(bytes)),
        ("truncated", json!(truncated)),
    ];
    Ok(Known {
        result: Some(crate::context::arguments(result)),
        ..Known::new(StepState::Done, detail)
    })
}

impl Engine {
    /// Runs the program of a step.
    #[expect(
        clippy::disallowed_types,
        reason = "the engine hands its writer to its own steps"
    )]
    pub(super) async fn run_inside(
        &self,
        writer: &pve::Writer,
        plan: &Plan,
        (index, step): (usize, &Step),
        exec: &AgentExec,
        report: &Report,
    ) -> Result<Known, Known> {
        let pve = match self.cluster(&plan.cluster) {
            Ok(cluster) => &cluster.pve,
            Err(fault) => return Err(Known::new(StepState::Failed, fault.message)),
        };
        let request = on_the_wire(&step.action);
        let answer = writer.send(&request).await;
        halt_point::at("answered").await;
        let pid = match answer {
            Ok(answer) => answer[PID].as_u64(),
            Err(error) => return Err(not_started(pve, plan, exec, &error).await),
        };
        let Some(pid) = pid else {
            return Err(Known::new(
                StepState::Unknown,
                "it was sent once, and PVE's answer does not say which process it is; it was not sent again",
            ));
        };
        // Kept at once: whoever asks after this process is gone still finds the program.
        report
            .step(index, |outcome| outcome.result = Some(named(pid)))
            .await;
        halt_point::at("task-kept").await;
        let Some(within) = exec.within else {
            return Ok(Known {
                result: Some(named(pid)),
                ..Known::new(StepState::Done, format!("it was started as process {pid}"))
            });
        };
        let until = Instant::now() + Duration::from_secs(within);
        let mut pause = FIRST_PAUSE.min(pve.task_poll());
        loop {
            let seen = glance(pve, &exec.at, pid).await;
            if let Some(known) = end_of(&seen, pid) {
                return Ok(known);
            }
            let left = until.saturating_duration_since(Instant::now());
            if let Some(by) = report.cancelled_by().await {
                let why = format!("it was cancelled by {by}, which does not end the program");
                return Ok(goes_on(seen, pid, &why));
            }
            if left.is_zero() {
                let why = format!("it has not ended within {within} s");
                return Ok(goes_on(seen, pid, &why));
            }
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(pve.task_poll());
        }
    }
}

/// The request that starts it, with its texts in the form in which PVE hands them on unharmed.
fn on_the_wire(action: &Action) -> Request {
    let mut request = action.request().into_owned();
    for (_, value) in &mut request.params {
        if let Value::Text(text) = value {
            *text = agent::to_wire(text);
        }
    }
    request
}

/// What is known of a program that PVE did not say to be started.
async fn not_started(pve: &Reader, plan: &Plan, exec: &AgentExec, error: &pve::Error) -> Known {
    if error.status() == Some(596) {
        let program = exec.command.first().map_or("", String::as_str);
        // Its words for that have characters that PVE cannot put into an answer.
        return Known::new(
            StepState::Unknown,
            format!(
                "most likely it was not started: PVE's answer broke off ({}), as it does when the guest has no program {program:?}; it was not sent again",
                explain(error)
            ),
        );
    }
    if error.is_maybe_sent() {
        return Known::new(
            StepState::Unknown,
            format!(
                "it was sent once and not answered ({}): whether it runs inside is not known, and it was not sent again",
                explain(error)
            ),
        );
    }
    let mut known = refused(pve, plan, error).await;
    if let Some(remedy) = agent::advice(error) {
        known = known.and(Some(remedy.to_string()));
    }
    known
}

/// The last word on a program, if this is it.
fn end_of(seen: &Glance, pid: u64) -> Option<Known> {
    match seen {
        Glance::Ended(ended) => Some(Known {
            result: Some(ended.result()),
            ..Known::new(StepState::Done, ended.words())
        }),
        Glance::Gone => Some(Known::new(
            StepState::Unknown,
            format!(
                "it was started (process {pid}) and runs no more; its exit code and output can be read once, and that answer was lost"
            ),
        )),
        Glance::Running | Glance::Unreadable(..) => None,
    }
}

/// A program that nobody waits for any longer.
fn goes_on(seen: Glance, pid: u64, why: &str) -> Known {
    let known = match seen {
        Glance::Unreadable(_, unread) => Known::new(
            StepState::Unknown,
            format!("it was started (process {pid}), but how it goes cannot be read: {unread}"),
        ),
        _ => Known::new(
            StepState::Running,
            format!("{why}; it runs on inside as process {pid}"),
        ),
    };
    Known {
        result: Some(named(pid)),
        ..known
    }
}

fn named(pid: u64) -> Object {
    Object::from_iter([(PID.to_owned(), json!(pid))])
}

/// The program of a step whose end is not known.
pub(super) fn pid_of(known: &StepOutcome) -> Option<u64> {
    known.result.as_ref()?.get(PID)?.as_u64()
}

/// A later look at a program that was left running.
pub(super) async fn look_again(
    pve: &Reader,
    at: &GuestRef,
    pid: u64,
    known: StepOutcome,
) -> StepOutcome {
    let seen = glance(pve, at, pid).await;
    let now = end_of(&seen, pid).unwrap_or_else(|| goes_on(seen, pid, "it has not ended"));
    StepOutcome {
        state: now.state,
        detail: now.detail,
        result: now.result,
        ..known
    }
}
