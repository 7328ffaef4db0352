//! get_proxmox_task

use std::sync::Arc;
use std::time::Duration;

use pve::{TaskEnd, Upid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::clean::without_passwords;
use crate::context::{Cluster, Context};
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::outcome::{Outcome, Status, StepState};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// Tells how a PVE task stands: running, done, done with warnings or failed, with the end of its log.
///
/// Use it with the task id that a change answered while it still ran, or that get_proxmox_vm_status lists; with wait it
/// answers when the task ends. It changes nothing, and ending the wait never ends the task. Tasks of other users need
/// Sys.Audit on the node.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetTask {
    /// A task's id, "UPID:node:…", or that of a plan of yours.
    #[schemars(with = "String")]
    upid: Followed,
    /// Seconds to wait for its end.
    #[serde(default)]
    #[schemars(range(max = 600))]
    wait: u32,
    /// Last log lines to show.
    #[serde(default = "ten")]
    #[schemars(range(max = 500))]
    log_lines: u32,
}

/// What is followed.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
enum Followed {
    Task(Upid),
    Plan(String),
}

impl TryFrom<String> for Followed {
    type Error = pve::IdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // Plans have short ids; whatever else is no task's id is a slip.
        let is_short = (4..=16).contains(&text.len());
        if is_short && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Ok(Self::Plan(text));
        }
        text.parse().map(Self::Task)
    }
}

/// How often a plan is looked at while it is waited for.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

fn ten() -> u32 {
    10
}

/// How a task stands.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum TaskState {
    Running,
    Ok,
    Warnings,
    Failed,
    Unknown,
}

/// A task and the end of its log.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TaskReport {
    /// The id of the task, or of the plan if it has none.
    upid: String,
    /// The node that runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// PVE's word for what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_type: Option<String>,
    /// What it is about, usually a guest's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Who started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// When it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    /// How it stands.
    state: TaskState,
    /// PVE's exit status, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_status: Option<String>,
    /// The last lines of its log.
    log: Vec<String>,
    /// What became of the plan's steps, where its id was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
}

impl Reads for GetTask {
    const SPEC: Spec = Spec {
        name: "get_proxmox_task",
        title: "Show a task",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special {
            accepts_host: true,
            ..Special::NONE
        },
        needs: Need::May(&[need::node("Sys.Audit")]),
        examples: &[Example {
            ask: "Why did the backup of legacy fail?",
            args: r#"{"upid": "UPID:pve3:000003FA:000186A0:6AF83F30:vzdump:107:root@pam:"}"#,
        }],
    };

    type Answer = TaskReport;

    async fn read(self, cx: &Context) -> Result<TaskReport, Fault> {
        let within = Duration::from_secs(u64::from(self.wait.min(600)));
        let until = Instant::now() + within;
        let (upid, cluster, plan) = match self.upid {
            Followed::Task(upid) => {
                let (cluster, _) = cx.node(upid.node()).await?;
                (upid, cluster, None)
            }
            Followed::Plan(id) => match of_plan(cx, &id, until).await? {
                Found::Task(upid, cluster, plan) => (upid, cluster, Some(plan)),
                Found::Plan(report) => return Ok(*report),
            },
        };
        let left = until.saturating_duration_since(Instant::now());
        let end = cluster.pve.wait_task(&upid, left, |_| {}).await?;
        let log = cluster
            .pve
            .task_log_tail(&upid, u64::from(self.log_lines.min(500)))
            .await?;
        let log = log.iter().map(|line| without_passwords(line)).collect();
        let (state, exit_status) = match end {
            None => (TaskState::Running, None),
            Some(TaskEnd::Ok) => (TaskState::Ok, Some("OK".to_owned())),
            Some(TaskEnd::Warnings(count)) => {
                (TaskState::Warnings, Some(format!("WARNINGS: {count}")))
            }
            Some(TaskEnd::Failed(why)) => (TaskState::Failed, Some(without_passwords(&why))),
        };
        let subject = Some(upid.id().to_owned()).filter(|id| !id.is_empty());
        Ok(TaskReport {
            upid: upid.to_string(),
            node: Some(upid.node().to_string()),
            task_type: Some(upid.task_type().to_owned()),
            subject,
            user: Some(upid.user().to_owned()),
            started: Some(words::time(
                i64::try_from(upid.starttime()).unwrap_or_default(),
            )),
            state,
            exit_status,
            log,
            plan,
        })
    }
}

/// What a plan comes down to.
enum Found {
    /// The task that it runs, or ran last, on its own cluster, and what became of its steps.
    Task(Upid, Arc<Cluster>, String),
    /// What became of its steps, which started no task.
    Plan(Box<TaskReport>),
}

async fn of_plan(cx: &Context, id: &str, until: Instant) -> Result<Found, Fault> {
    let begun = cx
        .begun
        .as_ref()
        .ok_or_else(|| Fault::bad_input(format!("\"{id}\" is no task's id")))?;
    let mut handle = begun.look(id).await?;
    while !handle.ended && Instant::now() < until {
        tokio::time::sleep(LOOK_AGAIN.min(until - Instant::now())).await;
        handle = begun.look(id).await?;
    }
    let outcome = handle.outcome;
    let tasks = || outcome.steps.iter().filter(|step| step.task.is_some());
    let running = tasks().find(|step| step.state == StepState::Running);
    let task = running.or_else(|| tasks().next_back());
    match task.and_then(|step| step.task.as_deref()?.parse::<Upid>().ok()) {
        Some(upid) => {
            let mut clusters = cx.clusters.iter();
            let cluster = match clusters.find(|cluster| cluster.name == outcome.cluster) {
                Some(cluster) => cluster.clone(),
                // Asked of another one, which says so.
                None => cx.node(upid.node()).await?.0,
            };
            let plan = outcome.text().trim_end().to_owned();
            Ok(Found::Task(upid, cluster, plan))
        }
        None => Ok(Found::Plan(Box::new(TaskReport::of_plan(id, &outcome)))),
    }
}

impl TaskReport {
    /// Of a plan that started no task.
    fn of_plan(id: &str, outcome: &Outcome) -> Self {
        Self {
            upid: id.to_owned(),
            node: None,
            task_type: None,
            subject: None,
            user: None,
            started: None,
            state: match outcome.status {
                Status::Running | Status::NeedsConfirmation => TaskState::Running,
                Status::Applied => TaskState::Ok,
                Status::Unknown => TaskState::Unknown,
                Status::Failed | Status::NotApplied => TaskState::Failed,
            },
            exit_status: None,
            log: Vec::new(),
            plan: Some(outcome.text().trim_end().to_owned()),
        }
    }
}

impl Answer for TaskReport {
    fn text(&self) -> String {
        let state = match self.state {
            TaskState::Running => "running".to_owned(),
            TaskState::Ok => "ended OK".to_owned(),
            TaskState::Warnings | TaskState::Failed | TaskState::Unknown => {
                format!(
                    "ended with: {}",
                    self.exit_status.as_deref().unwrap_or_default()
                )
            }
        };
        let subject = self
            .subject
            .as_deref()
            .map(|subject| format!(" of {subject}"))
            .unwrap_or_default();
        let mut out = self.plan.clone().unwrap_or_default();
        if !out.is_empty() {
            out.push('\n');
        }
        if let (Some(task_type), Some(node), Some(user), Some(started)) =
            (&self.task_type, &self.node, &self.user, &self.started)
        {
            line!(
                out,
                "{task_type}{subject} on {node} by {user}, started {started}: {state}"
            );
        }
        out.push_str(&words::each_set_off(&self.log));
        out
    }
}
