//! Tasks that no change of ours could be: one that asks for several things, and one that fails by the protocol. The
//! others are the engine's (`call`).

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock, CreateTaskResult,
    DetailedTask, GetTaskParams, GetTaskResult, InputRequests, Task, TaskPayload, TaskStatus,
    UpdateTaskParams,
};
use serde_json::json;
use tools::keys;

use super::super::peer::{self, Context};
use super::super::tasks;
use super::{inputs, object};

/// One of them.
struct Job {
    caller: String,
    task: Task,
    /// What it still waits for.
    asks: InputRequests,
    cancelled: bool,
    fails: bool,
}

static JOBS: LazyLock<Mutex<HashMap<String, Job>>> = LazyLock::new(Mutex::default);

/// Begins one.
pub(super) fn begin(fixture: &str, ctx: &Context) -> CallToolResponse {
    let id = keys::hex(&keys::random::<16>());
    let now = jiff::Timestamp::now().to_string();
    let field = |key: &str| inputs::form(key, "Go on?", "confirm", "boolean");
    let job = Job {
        caller: peer::caller(ctx).name,
        task: Task::new(id.as_str(), TaskStatus::Working, now.clone(), now)
            .with_poll_interval_ms(tasks::POLL),
        asks: match fixture {
            "confirm_delete" => field("confirm"),
            "multi_input" => inputs::together([field("first"), field("second")]),
            _ => InputRequests::new(),
        },
        cancelled: false,
        fails: fixture == "protocol_error_job",
    };
    let begun = CreateTaskResult::new(job.task.clone());
    jobs().insert(id, job);
    begun.into()
}

/// tasks/get, if it is one of these.
pub(in crate::mcp) fn got(request: &GetTaskParams, ctx: &Context) -> Option<GetTaskResult> {
    with(&request.task_id, ctx, |job| {
        GetTaskResult::new(DetailedTask::new(job.task.clone(), job.payload()))
    })
}

/// tasks/update, if it is one of these. What was not asked for is ignored.
pub(in crate::mcp) fn updated(request: &UpdateTaskParams, ctx: &Context) -> Option<()> {
    with(&request.task_id, ctx, |job| {
        let answered = |key: &String| request.input_responses.contains_key(key);
        job.asks.retain(|key, _| !answered(key));
    })
}

/// tasks/cancel, if it is one of these. What has ended stays as it is.
pub(in crate::mcp) fn cancelled(request: &CancelTaskParams, ctx: &Context) -> Option<()> {
    with(&request.task_id, ctx, |job| {
        job.cancelled |= !job.asks.is_empty();
    })
}

impl Job {
    fn payload(&self) -> TaskPayload {
        if self.cancelled {
            return TaskPayload::Cancelled;
        }
        if self.fails {
            let error = ErrorData::internal_error("failed on purpose", None);
            return TaskPayload::Failed {
                error: object(json!(error)),
            };
        }
        if !self.asks.is_empty() {
            return TaskPayload::InputRequired {
                input_requests: self.asks.clone(),
            };
        }
        let done = CallToolResult::success(vec![ContentBlock::text("all was answered")]);
        TaskPayload::Completed {
            result: object(json!(done)),
        }
    }
}

/// The job of that name, if it is this caller's.
fn with<T>(id: &str, ctx: &Context, act: impl FnOnce(&mut Job) -> T) -> Option<T> {
    let caller = peer::caller(ctx).name;
    let mut jobs = jobs();
    let job = jobs.get_mut(id).filter(|job| job.caller == caller)?;
    Some(act(job))
}

fn jobs() -> MutexGuard<'static, HashMap<String, Job>> {
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}
