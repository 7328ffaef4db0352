//! What every changing tool answers: one small schema for all of them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::keys;
use crate::plan::{Plan, Undo};
use crate::spec::Risk;
use crate::tool::{Answer, Image, Object};
use crate::words::{self, beside, line, with_ours};

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Status {
    /// Done, and read back.
    Applied,
    /// Nothing was sent.
    NotApplied,
    /// Sent, and still going on.
    Running,
    /// Sent, and nobody can say whether it took effect.
    Unknown,
    /// A step was refused or failed; those before it were done.
    Failed,
    /// Waiting for a yes.
    NeedsConfirmation,
}

impl Status {
    /// As in the text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::NotApplied => "not applied",
            Self::Running => "running",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
            Self::NeedsConfirmation => "needs confirmation",
        }
    }
}

/// What became of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StepState {
    /// Not sent.
    NotSent,
    /// Sent, still going on.
    Running,
    /// Done and read back.
    Done,
    /// Refused or failed.
    Failed,
    /// Sent, outcome not known.
    Unknown,
}

impl StepState {
    /// Whether PVE has done it, or may have.
    pub fn may_be_done(self) -> bool {
        matches!(self, Self::Running | Self::Done | Self::Unknown)
    }
}

/// Said of a step whose result was read out of a guest's files.
const NOT_KEPT: &str =
    "what was read was shown once and is kept nowhere: the same call reads it again";

/// One step and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct StepOutcome {
    /// What the step does.
    pub step: String,
    /// What became of it.
    pub state: StepState,
    /// The PVE task that ran it, for `get_proxmox_task`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// What was read back, or what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whether it was not sent because the guest had become another one, which the plan's undo must not be aimed at.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub stranger: bool,
    /// What it gave: the exit code and output of a command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<Object>,
    /// Whether what it gave was read out of a guest's files: shown once and kept nowhere.
    #[serde(skip)]
    #[schemars(skip)]
    pub is_private: bool,
    /// What was seen after it. Shown once and kept nowhere.
    #[serde(skip)]
    #[schemars(skip)]
    pub picture: Option<Image>,
}

impl StepOutcome {
    /// A step that was not sent.
    pub fn unsent(step: &str) -> Self {
        Self {
            step: step.to_owned(),
            state: StepState::NotSent,
            task: None,
            detail: None,
            stranger: false,
            result: None,
            is_private: false,
            picture: None,
        }
    }

    /// As it may be kept: of what was read out of a guest's files only how much that was and what tells it from any other.
    pub(crate) fn kept(&self) -> Cow<'_, Self> {
        let Some(result) = self.result.as_ref().filter(|_| self.is_private) else {
            return Cow::Borrowed(self);
        };
        let read: String = result.values().filter_map(Value::as_str).collect();
        let told = [
            ("bytes", json!(read.len())),
            ("sha256", json!(keys::hex(&Sha256::digest(read)))),
        ];
        let detail = self.detail.iter().map(String::as_str);
        let detail: Vec<_> = detail.chain([NOT_KEPT]).collect();
        Cow::Owned(Self {
            result: Some(crate::context::arguments(told)),
            detail: Some(detail.join("; ")),
            ..self.clone()
        })
    }
}

/// A call of another tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NextCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Object,
}

/// What a list holds is for reading: every changing tool has this schema, and each word of it costs each of them.
fn list(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array"})
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// What became of the change.
    pub status: Status,
    /// What it does to what.
    pub summary: String,
    /// The cluster that it is on.
    #[schemars(skip)]
    pub cluster: String,
    /// The risk of these arguments.
    #[schemars(skip)]
    pub risk: Risk,
    /// The plan's id: names it in the audit trail and for `oxmox approve`.
    pub plan: String,
    /// Each step and what became of it.
    #[schemars(schema_with = "list")]
    pub steps: Vec<StepOutcome>,
    /// While it needs a confirmation: what each step would send, whole.
    #[schemars(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sends: Vec<String>,
    /// While it needs a confirmation: what would be affected.
    #[schemars(schema_with = "list")]
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub affects: Vec<String>,
    /// What to know besides.
    #[schemars(schema_with = "list")]
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// Sent back as `confirm` with the same arguments, it applies the plan. Absent where only a person may confirm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
    /// The call that takes it back.
    #[schemars(with = "Object")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<NextCall>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Outcome {
    /// As it may be kept, see [`StepOutcome::kept`].
    pub(crate) fn kept(&self) -> Self {
        let steps = self.steps.iter();
        Self {
            steps: steps.map(|step| step.kept().into_owned()).collect(),
            ..self.clone()
        }
    }

    /// Of a plan of which nothing was sent yet.
    pub fn unsent(status: Status, id: &str, plan: &Plan) -> Self {
        Self {
            status,
            summary: plan.summary.clone(),
            cluster: plan.cluster.clone(),
            risk: plan.risk(),
            plan: id.to_owned(),
            steps: plan
                .steps
                .iter()
                .map(|step| StepOutcome::unsent(&step.says))
                .collect(),
            sends: Vec::new(),
            affects: Vec::new(),
            warnings: plan.warnings.clone(),
            confirm: None,
            undo: None,
            next: None,
        }
    }

    /// With the call that takes `plan` back, where there is one and something that it takes back was or may have been
    /// done; but none that may hit a guest of somebody else, as what has the id of one that nobody saw come to be.
    #[must_use]
    pub fn with_undo(mut self, plan: &Plan) -> Self {
        let steps = || plan.steps.iter().zip(&self.steps);
        let may_be_done = steps().any(|(step, known)| !step.prepares && known.state.may_be_done());
        let may_be_theirs = steps().any(|(step, known)| {
            known.stranger || (known.state == StepState::Unknown && plan.made_by(step).is_some())
        });
        if let Undo::Call { tool, arguments } = &plan.undo
            && may_be_done
            && !may_be_theirs
        {
            self.undo = Some(NextCall {
                tool: tool.clone(),
                arguments: arguments.clone(),
            });
        }
        self
    }
}

impl Answer for Outcome {
    fn text(&self) -> String {
        let word = match self.status {
            Status::Applied if self.steps.is_empty() => "nothing was sent",
            status => status.word(),
        };
        let mut out = String::new();
        line!(out, "{word}: {}", self.summary);
        out.push_str(&self.steps_text());
        for item in &self.affects {
            line!(out, "- {}", crate::clean::line(item));
        }
        for warning in &self.warnings {
            line!(out, "warning: {}", warning);
        }
        if let Some(confirm) = &self.confirm {
            line!(out, "confirm: {confirm}");
        }
        if let Some(undo) = &self.undo {
            let when = match self.status {
                Status::Running => ", once it has ended",
                Status::Unknown => ", only if it is seen to be done",
                _ => "",
            };
            line!(
                out,
                "undo{when}: {} {}",
                undo.tool,
                Value::Object(undo.arguments.clone())
            );
        }
        if let Some(next) = &self.next {
            line!(out, "next: {}", next);
        }
        out
    }

    fn images(&self) -> Vec<Image> {
        let pictures = self.steps.iter().filter_map(|step| step.picture.clone());
        pictures.collect()
    }
}

/// `exit_code: 0`, or a text under its name, set off so that it cannot be taken for ours.
fn result_text(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => {
            let lines: Vec<&str> = text.lines().collect();
            format!("  {name}:\n{}", words::each_set_off(&lines))
        }
        other => format!("  {name}: {other}\n"),
    }
}

impl Outcome {
    fn steps_text(&self) -> String {
        let mut out = String::new();
        for (number, step) in (1..).zip(&self.steps) {
            let state = match step.state {
                // Before a decision the steps are a list of what would be done; one step is the summary itself.
                StepState::NotSent if self.status == Status::NeedsConfirmation => {
                    if self.steps.len() > 1 {
                        line!(out, "{number}. {}", step.step);
                    }
                    if let Some(sends) = self.sends.get(number - 1) {
                        line!(out, "sends: {sends}");
                    }
                    continue;
                }
                StepState::NotSent => "not sent",
                StepState::Running => "running",
                StepState::Done => "done",
                StepState::Failed => "failed",
                StepState::Unknown => "unknown",
            };
            let task = step.task.as_ref().map(|task| format!(" [{task}]"));
            let task = task.unwrap_or_default();
            let detail = step.detail.as_deref().unwrap_or_default();
            let said = match detail {
                "" => step.step.clone(),
                detail => beside(&step.step, detail),
            };
            line!(out, "- {state}: {}", with_ours(&said, &task));
            for (name, value) in step.result.iter().flatten() {
                out.push_str(&result_text(name, value));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use pve::Request;
    use serde_json::json;

    use super::StepState::{Done, Failed, NotSent, Running, Unknown};
    use super::*;
    use crate::plan::Step;
    use crate::spec::{Spec, Special, Toolset};

    const SPEC: Spec = Spec {
        name: "stop_proxmox_vm",
        title: "Stop",
        toolset: Toolset::Core,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special::NONE,
        needs: crate::need::Need::Nothing,
        examples: &[],
    };

    #[test]
    fn only_what_may_be_done_is_taken_back() {
        let step = || Step::request("step", Request::post("/"));
        let mut plan = Plan::new(&SPEC, "home", "two steps");
        plan.steps = vec![step().prepares(), step()];
        plan.undo = Undo::Call {
            tool: "start_proxmox_vm".to_owned(),
            arguments: crate::context::arguments([("vmid", json!(105))]),
        };
        for (states, has_undo) in [
            ([NotSent, NotSent], false),
            ([Running, NotSent], false),
            ([Unknown, NotSent], false),
            ([Done, Failed], false),
            ([Done, Running], true),
            ([Done, Unknown], true),
            ([Done, Done], true),
        ] {
            let mut outcome = Outcome::unsent(Status::Running, "p1", &plan);
            for (step, state) in outcome.steps.iter_mut().zip(states) {
                step.state = state;
            }
            let outcome = outcome.with_undo(&plan);
            assert_eq!(outcome.undo.is_some(), has_undo, "{states:?}");
            let words = "undo, once it has ended: start_proxmox_vm";
            assert_eq!(outcome.text().contains(words), has_undo);
        }
    }
}
