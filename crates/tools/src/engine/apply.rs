//! Sends a plan's steps, in a task of its own: a caller that goes away ends the waiting, never the work.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::consent::Frozen;
use super::guard::Made;
use super::halt_point;
use super::record::Attempt;
use super::report::Report;
use super::worker::AtWork;
use super::{Engine, Reply, Talk};
use crate::fault::{Fault, Kind, NO_QUORUM, is_for_quorum, not_in_trail};
use crate::outcome::{Outcome, Status, StepOutcome, StepState};
use crate::plan::{Check, Guard, Plan, Step, Undo, Wait};
use crate::registry::{DEFAULT_WAIT, Extras};
use crate::tool::Rendered;
use crate::words::{self, continued};

/// How many steps of one group run side by side.
const PARALLEL: usize = 4;
/// How often it is looked whether the caller is still there.
const GLANCE: Duration = Duration::from_millis(100);
/// How long a call goes on waiting when the process is about to end.
const LAST_MOMENT: Duration = Duration::from_secs(1);

impl Engine {
    /// Records the intent, sends the steps and waits for them as long as the caller wants to.
    pub(super) async fn apply(
        self: &Arc<Self>,
        frozen: Frozen,
        extras: &Extras,
        attempt: &Arc<Attempt>,
        talk: &dyn Talk,
    ) -> Result<Reply, Fault> {
        // The last moment at which nothing has happened yet.
        if talk.gone() {
            return Err(Fault::refused("the caller has gone; nothing was sent"));
        }
        talk.admitted().await?;
        if self.running.is_closed() {
            return Err(Fault::refused("oxmox is shutting down; nothing was sent")
                .hint("make the call again later"));
        }
        let outcome = Outcome::unsent(Status::Running, &attempt.id(), &frozen.plan);
        halt_point::at("unopened").await;
        let at_work = self.begin(&frozen, &outcome, attempt).await?;
        attempt.was_opened();
        if let Some(guest) = &frozen.lease {
            self.lease(attempt.caller(), guest).await;
        }
        let plan = Arc::new(frozen.plan);
        halt_point::at("intent-recorded").await;
        let (progress, mut news) = mpsc::unbounded_channel();
        let report = Report::new(self, &outcome.plan, outcome.steps.clone(), progress);
        let mut work = self.running.spawn(self.clone().work(
            plan.clone(),
            report.clone(),
            attempt.clone(),
            at_work,
        ));
        let patience = tokio::time::sleep(extras.wait.unwrap_or(DEFAULT_WAIT));
        tokio::pin!(patience);
        let mut hurried = false;
        let presence = report.presence();
        let mut glances = tokio::time::interval(GLANCE);
        loop {
            tokio::select! {
                // How far it came is told before its end is.
                biased;
                Some(progress) = news.recv() => talk.progress(progress),
                done = &mut work => {
                    while let Ok(progress) = news.try_recv() {
                        talk.progress(progress);
                    }
                    presence.answered();
                    let outcome = done.map_err(|error| Fault::new(Kind::Internal, format!("applying the plan broke off: {error}")))??;
                    return Ok(Reply::Done(Rendered::of(&outcome)?));
                }
                _ = glances.tick() => {
                    if talk.gone() {
                        presence.left();
                    }
                }
                () = self.hurry.cancelled(), if !hurried => {
                    hurried = true;
                    let soon = Instant::now() + LAST_MOMENT;
                    let sooner = patience.deadline().min(soon);
                    patience.as_mut().reset(sooner);
                }
                () = &mut patience => {
                    presence.answered();
                    let steps = report.steps();
                    let next = Some(running_hint(&outcome.plan, &steps));
                    let outcome = Outcome { steps, next, ..outcome }.with_undo(&plan);
                    return Ok(Reply::Running(Rendered::of(&outcome)?, outcome.plan));
                }
            }
        }
    }

    /// All steps, group by group, then the closing entry. Runs to its end whoever waits for it.
    async fn work(
        self: Arc<Self>,
        plan: Arc<Plan>,
        report: Report,
        attempt: Arc<Attempt>,
        _at_work: AtWork,
    ) -> Result<Outcome, Fault> {
        let mut groups: BTreeMap<u16, Vec<(usize, &Step)>> = BTreeMap::new();
        for (index, step) in plan.steps.iter().enumerate() {
            groups.entry(step.group).or_default().push((index, step));
        }
        let mut made = Made::default();
        for (round, steps) in groups.into_values().enumerate() {
            if round > 0
                && let Err(halt) = self.still_the_same(&plan, &mut made).await
            {
                for (index, _) in steps {
                    report
                        .step(index, |outcome| {
                            outcome.state = StepState::Failed;
                            outcome.detail = Some(halt.fault.message.clone());
                            outcome.stranger = halt.stranger;
                        })
                        .await;
                }
                break;
            }
            let running: Vec<_> = steps
                .into_iter()
                .map(|(index, step)| self.step(&plan, index, step, &report))
                .collect();
            // Every step of a group runs to its end, whatever becomes of the others.
            let states: Vec<_> = stream::iter(running)
                .buffer_unordered(PARALLEL)
                .collect()
                .await;
            if states.iter().any(|state| *state != StepState::Done) {
                break;
            }
        }
        let mut outcome = finished(&attempt.id(), &plan, report.steps());
        let mut fault = failure(&outcome, &plan);
        halt_point::at("closing").await;
        // What was done stays done whether or not it can be written down.
        let reason = fault.as_ref().map(ToString::to_string);
        if let Err(unwritten) = self.close((&outcome, &plan), reason, None).await {
            match &mut fault {
                Some(fault) => fault.unwritten(&unwritten),
                None => outcome.warnings.push(not_in_trail(&unwritten)),
            }
        }
        halt_point::at("closed").await;
        match fault {
            Some(fault) => Err(fault),
            None => Ok(outcome),
        }
    }
}

/// What becomes of a plan without steps: things are so already, or it was only asked how they are.
const NOTHING_SENT: &str = "nothing was sent: there was nothing to do";

/// The outcome that the steps add up to.
pub(super) fn finished(id: &str, plan: &Plan, steps: Vec<StepOutcome>) -> Outcome {
    let any = |state| steps.iter().any(|step| step.state == state);
    let status = if any(StepState::Failed) {
        Status::Failed
    } else if any(StepState::Unknown) {
        Status::Unknown
    } else if any(StepState::Running) {
        Status::Running
    } else if steps.iter().all(|step| step.state == StepState::Done) {
        Status::Applied
    } else if any(StepState::Done) {
        // It broke off between two steps.
        Status::Failed
    } else {
        Status::NotApplied
    };
    let next = match status {
        Status::Applied if steps.is_empty() => Some(NOTHING_SENT.to_owned()),
        Status::Unknown => Some(unknown_hint(plan, &steps)),
        Status::Running => Some(ended_early_hint(id, &steps)),
        _ => None,
    };
    let outcome = Outcome {
        steps,
        next,
        ..Outcome::unsent(status, id, plan)
    };
    if matches!(status, Status::NotApplied | Status::Failed) {
        outcome
    } else {
        outcome.with_undo(plan)
    }
}

/// Failed steps as the caller sees them: what was done, what failed, what was not sent. Steps run side by side, so that
/// several can fail.
pub(super) fn failure(outcome: &Outcome, plan: &Plan) -> Option<Fault> {
    let failed: Vec<_> = outcome
        .steps
        .iter()
        .filter(|step| step.state == StepState::Failed)
        .map(failed_step)
        .collect();
    let mut message = match failed.as_slice() {
        [] => return None,
        [only] => only.clone(),
        several => format!(
            "{} of {} steps failed\n{}",
            several.len(),
            outcome.steps.len(),
            several.join("\n")
        ),
    };
    let named = |state| {
        outcome
            .steps
            .iter()
            .filter(move |step| step.state == state)
            .map(|step| step.step.as_str())
    };
    let done: Vec<_> = named(StepState::Done).collect();
    let unsent: Vec<_> = named(StepState::NotSent).collect();
    let open: Vec<_> = named(StepState::Unknown)
        .chain(named(StepState::Running))
        .collect();
    for (words, steps) in [
        ("done before", done),
        ("not known to have ended", open),
        ("not sent", unsent),
    ] {
        if !steps.is_empty() {
            let steps = continued(&steps.join("; "));
            let _ = write!(message, "\n{words}: {steps}");
        }
    }
    let mut both = plan.steps.iter().zip(&outcome.steps);
    let undo_fits = both.any(|(step, known)| !step.prepares && known.state == StepState::Done);
    let hint = match &plan.undo {
        _ if outcome.steps.iter().any(|step| step.stranger) => {
            "leave the guest that has the id now alone; list_proxmox_resources shows what became of the other"
                .to_owned()
        }
        _ if is_taken(plan, outcome) => taken_hint(plan),
        Undo::Call { tool, arguments } if undo_fits => format!(
            "nothing is tried again or taken back by itself; to clean up what was done: {tool} {}",
            serde_json::Value::Object(arguments.clone())
        ),
        // In the first line PVE speaks, and below that its log, in which anybody may.
        _ if failed.iter().any(|step| step.lines().next().is_some_and(is_for_quorum)) => {
            NO_QUORUM.to_owned()
        }
        _ => "nothing is tried again by itself; mend the cause, then make the call anew".to_owned(),
    };
    Some(
        Fault::new(Kind::Failed, message)
            .hint(hint)
            .of_change(outcome),
    )
}

/// Whether PVE refused to make a guest because somebody else has its id: between the last look and the request.
fn is_taken(plan: &Plan, outcome: &Outcome) -> bool {
    let mut both = plan.steps.iter().zip(&outcome.steps);
    both.any(|(step, known)| {
        let told = known.detail.as_deref().unwrap_or_default();
        known.state == StepState::Failed
            && plan.made_by(step).is_some()
            && told.contains("already exists")
    })
}

fn taken_hint(plan: &Plan) -> String {
    let chosen_by_us = |guard: &Guard| matches!(guard, Guard::NextVmid(_));
    let instead = if plan.guards.iter().any(chosen_by_us) {
        "make the same call again, which takes the next free id"
    } else {
        "make the call with another id; list_proxmox_resources shows the taken ones"
    };
    format!("somebody else has taken the id meanwhile: {instead}")
}

/// "Start VM 105 (staging) failed: …", and the task that says more.
fn failed_step(step: &StepOutcome) -> String {
    let detail = step.detail.as_deref().unwrap_or("PVE gave no reason");
    let mut line = continued(&format!("{} failed: {detail}", step.step));
    if let Some(task) = &step.task {
        let _ = write!(line, "\ntask: {task}");
    }
    line
}

/// How to follow it: by its task, or by the plan where that has more steps or no task yet.
pub(super) fn running_hint(plan: &str, steps: &[StepOutcome]) -> String {
    let task = steps
        .iter()
        .find(|step| step.state == StepState::Running)
        .and_then(|step| step.task.as_deref());
    let followed = task.filter(|_| steps.len() == 1).unwrap_or(plan);
    format!("it goes on; get_proxmox_task with upid \"{followed}\" and a wait tells how it ends")
}

/// The same where nothing of ours goes on: what was not sent will not be.
fn ended_early_hint(plan: &str, steps: &[StepOutcome]) -> String {
    let hint = running_hint(plan, steps);
    if steps.iter().any(|step| step.state == StepState::NotSent) {
        return format!("{hint}; the steps after it were not sent: make the same call again then");
    }
    hint
}

/// The calls that tell what became of the steps that nobody answered for.
fn unknown_hint(plan: &Plan, steps: &[StepOutcome]) -> String {
    let unknown: Vec<_> = plan
        .steps
        .iter()
        .zip(steps)
        .filter(|(_, outcome)| outcome.state == StepState::Unknown)
        .map(|(step, _)| step)
        .collect();
    if unknown.iter().all(|step| step.action.only_looks()) {
        return "nothing on the cluster changes by it: make the same call again".to_owned();
    }
    let mut vmids: Vec<_> = unknown
        .iter()
        .filter_map(|step| match &step.wait {
            Wait::Task(trace) => trace.vmid.map(|vmid| vmid.to_string()),
            Wait::Nothing => None,
        })
        .collect();
    if vmids.is_empty() {
        vmids.extend(
            plan.targets
                .first()
                .map(|target| target.at.vmid.to_string()),
        );
    }
    if vmids.is_empty() {
        return unknown_thing_hint(&unknown);
    }
    let vmids = vmids.join(", then ");
    let mut looks = unknown.iter().filter_map(|step| step.action.seen_with());
    let mut hint = match looks.next() {
        Some(tool) => format!(
            "do not send it again before looking: {tool} with vmid {vmids} shows what came of it"
        ),
        None => format!(
            "do not send it again before looking: get_proxmox_vm_status with vmid {vmids} and include [\"tasks\"] tells what happened"
        ),
    };
    if let Some(made) = unknown.iter().find_map(|step| plan.made_by(step)) {
        let vmid = made.at.vmid;
        let _ = write!(
            hint,
            "; look at {vmid} first if it is to be taken back: a guest that has this id may be somebody else's"
        );
    }
    hint
}

/// The same for what is about no guest: what to look for, and with what where that is known.
fn unknown_thing_hint(unknown: &[&Step]) -> String {
    let checks = unknown.iter().filter_map(|step| step.after.as_ref());
    let sought: Vec<_> = checks.map(Check::sentence).collect();
    let mut hint = "do not send it again before looking".to_owned();
    if !sought.is_empty() {
        let _ = write!(hint, " whether {}", words::list(&sought));
    }
    if let Some(tool) = unknown.iter().find_map(|step| step.action.seen_with()) {
        let _ = write!(hint, "; {tool} shows it");
    }
    hint
}

#[cfg(test)]
mod tests;
