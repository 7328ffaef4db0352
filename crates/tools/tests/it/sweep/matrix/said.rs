//! What a call said of a change, and whether that can be understood and acted on.

use serde_json::Value;
use tools::fault::Fault;
use tools::outcome::{Outcome, Status, StepOutcome, StepState};
use tools::plan::{Plan, Step};
use tools::tool::Rendered;

use super::only_looks;

/// What a call said.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) steps: Vec<StepOutcome>,
    /// The plan's id, if it was begun.
    pub(super) plan: String,
    status: Status,
    /// Whether it says what to do.
    advises: bool,
}

impl Said {
    pub(super) fn of(answer: Result<Rendered, Fault>, plan: &Plan) -> Self {
        match answer {
            Ok(Rendered { text, data, .. }) => {
                let outcome: Outcome = serde_json::from_value(Value::Object(data)).unwrap();
                Self {
                    text,
                    advises: outcome.next.is_some(),
                    status: outcome.status,
                    plan: outcome.plan,
                    steps: outcome.steps,
                }
            }
            Err(fault) => Self {
                text: fault.to_string(),
                advises: fault.hint.is_some(),
                status: Status::Failed,
                plan: String::new(),
                // An error without an outcome is one of a change that was never begun.
                steps: fault.outcome.map_or_else(
                    || Outcome::unsent(Status::Failed, "", plan).steps,
                    |outcome| outcome.steps,
                ),
            },
        }
    }

    /// The audit trail's word for it.
    pub(super) fn word(&self) -> &'static str {
        self.status.word()
    }

    /// Whether it had not come to its end.
    pub(super) fn goes_on(&self) -> bool {
        self.status == Status::Running
    }

    /// Whether this was said of the step that something happened to, and no step after one that is not done was sent.
    pub(super) fn fits(&self, allowed: &[StepState], index: usize) -> Result<(), String> {
        let state = self.steps[index].state;
        if allowed.contains(&state) {
            return Ok(());
        }
        Err(format!(
            "it is said to be {state:?} instead of {allowed:?}\n{}",
            self.text
        ))
    }

    /// Whether what is wrong, what is true, and what to do are all said.
    pub(super) fn is_clear(&self, step: &Step, index: usize, words: &[&str]) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what}\n{}", self.text));
        if self.text.trim().is_empty() {
            return wrong("nothing is said");
        }
        let known = &self.steps[index];
        if known.state == StepState::Done {
            return Ok(());
        }
        if !self.advises {
            return wrong("it is not said what to do");
        }
        if known.state == StepState::NotSent {
            return Ok(());
        }
        if known.state == StepState::Running {
            // How far it is tells its task, or the plan.
            if self.text.contains("get_proxmox_task") {
                return Ok(());
            }
            return wrong("it is not said how to follow it");
        }
        if known.detail.as_deref().unwrap_or_default().is_empty() {
            return wrong("it is not said what is known of the step");
        }
        if !self.text.contains(&step.says) {
            return wrong("the step is not named");
        }
        if let Some(word) = words.iter().find(|word| !self.text.contains(**word)) {
            return wrong(&format!("{word:?} is not said"));
        }
        let caution = if only_looks(step) {
            "the same call"
        } else {
            "do not send it again before looking"
        };
        // A failure beside it has its own advice, and names what is not known.
        let caution = match self.status {
            Status::Failed => "not known to have ended",
            Status::Running => "get_proxmox_task",
            _ => caution,
        };
        if known.state == StepState::Unknown && !self.text.contains(caution) {
            return wrong(&format!("{caution:?} is not said"));
        }
        Ok(())
    }
}
