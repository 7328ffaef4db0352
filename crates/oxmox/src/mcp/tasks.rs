//! tasks/*, the extension `io.modelcontextprotocol/tasks`: a change that outlives its call, over the engine's handle of it.
//!
//! A client that declares the extension gets a task in place of the answer of a change that is not done within its wait.
//! The handle is the engine's and lives in its store, so a task outlives this process. `tasks/cancel` keeps what was not
//! sent from being sent and stops what PVE runs, unless that is unsafe to stop: then the task asks, as `input_required`,
//! a client that can show a form; for others it says so in words and goes on. Ending a wait in any other way stops
//! nothing.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, CreateTaskResult, DetailedTask, ElicitResult, GetTaskResult, InputRequest,
    InputRequests, JsonObject, Task, TaskPayload, TaskStatus, UpdateTaskParams,
};
use serde_json::Value;
use tools::engine::{Asked, Handle};
use tools::fault::{Fault, Kind};
use tools::outcome::{Status, StepOutcome};
use tools::tool::Rendered;
use tools::words;

use super::peer::{self, Context};
use super::{Server, call, form};

/// How often a client may ask how far a task is, in milliseconds.
pub(super) const POLL: u64 = 2_000;
/// The name of the one question that a task may have.
const STOP: &str = "stop";
/// Characters of what is said about a task's state.
const LONGEST_MESSAGE: usize = 1_000;

impl Server {
    /// The task that a client follows a plan by.
    pub(super) async fn created_task(
        &self,
        plan: &str,
        ctx: &Context,
    ) -> Result<CreateTaskResult, Fault> {
        let engine = self.engine(ctx);
        let id = engine.task_id(plan).await?;
        Ok(CreateTaskResult::new(described(
            &id,
            &engine.handle(plan).await?,
        )))
    }

    /// tasks/get
    pub(super) async fn task(&self, id: &str, ctx: &Context) -> Result<GetTaskResult, ErrorData> {
        let handle = self.task_handle(id, ctx).await?;
        let payload = payload(&handle, peer::can_show_form(ctx))?;
        let task = described(id, &handle);
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    /// tasks/cancel. What comes of it is seen in the task.
    pub(super) async fn end_task(&self, id: &str, ctx: &Context) -> Result<(), ErrorData> {
        let caller = peer::caller(ctx).name;
        let engine = self.engine(ctx);
        let plan = engine.task_plan(id, &caller).await.map_err(refused)?;
        engine
            .cancel(&plan, &caller)
            .await
            .map(drop)
            .map_err(refused)
    }

    /// tasks/update: the answer to the question whether to stop what is unsafe to stop. Other keys are ignored, and so is
    /// an answer to a question that is no longer open.
    pub(super) async fn task_answered(
        &self,
        request: UpdateTaskParams,
        ctx: &Context,
    ) -> Result<(), ErrorData> {
        let handle = self.task_handle(&request.task_id, ctx).await?;
        let answer = request.input_responses.get(STOP);
        let answer = answer.and_then(|value| serde_json::from_value(value.clone()).ok());
        let Some(answer): Option<ElicitResult> = answer else {
            return Ok(());
        };
        if handle.unsafe_to_stop.is_empty() {
            return Ok(());
        }
        let caller = peer::caller(ctx).name;
        let stop = match form::answer(&answer, &caller) {
            Asked::Yes { .. } => true,
            Asked::No { .. } => false,
            Asked::Undecided | Asked::Later | Asked::Nobody => return Ok(()),
        };
        let engine = self.engine(ctx);
        let decided = engine.insist(&handle.outcome.plan, &caller, stop).await;
        decided.map(drop).map_err(refused)
    }

    async fn task_handle(&self, id: &str, ctx: &Context) -> Result<Handle, ErrorData> {
        let engine = self.engine(ctx);
        let plan = engine
            .task_plan(id, &peer::caller(ctx).name)
            .await
            .map_err(refused)?;
        engine.handle(&plan).await.map_err(refused)
    }
}

/// The state of a task, apart from what belongs to that state.
fn described(id: &str, handle: &Handle) -> Task {
    let [begun, updated] = [handle.begun, handle.updated].map(words::time);
    // The payload decides on the status.
    let mut task = Task::new(id, TaskStatus::Working, begun, updated).with_poll_interval_ms(POLL);
    task.status_message = Some(words::clip(&message(handle), LONGEST_MESSAGE));
    task
}

fn message(handle: &Handle) -> String {
    let doing = handle.doing.as_ref().unwrap_or(&handle.outcome.summary);
    match (&handle.cancelled_by, handle.unsafe_to_stop.as_slice()) {
        _ if handle.ended => steps_in_short(handle),
        (None, _) => doing.clone(),
        (Some(_), []) => format!("cancelled, nothing more is sent; ending: {doing}"),
        (Some(_), steps) => format!(
            "cancelled, nothing more is sent; not stopped, because that is unsafe: {}; it goes on: {doing}",
            steps.join("; ")
        ),
    }
}

/// "failed: Clone VM 900 to 300; not sent: Start VM 300". The details are in the result.
fn steps_in_short(handle: &Handle) -> String {
    let in_short = |step: &StepOutcome| {
        let state = words::word(&step.state).replace('_', " ");
        format!("{state}: {}", step.step)
    };
    let steps: Vec<_> = handle.outcome.steps.iter().map(in_short).collect();
    steps.join("; ")
}

fn payload(handle: &Handle, can_ask: bool) -> Result<TaskPayload, ErrorData> {
    if !handle.ended {
        if handle.unsafe_to_stop.is_empty() || !can_ask {
            return Ok(TaskPayload::Working);
        }
        let form = form::of_stop(&handle.unsafe_to_stop);
        let ask = (STOP.to_owned(), InputRequest::Elicitation(form));
        return Ok(TaskPayload::InputRequired {
            input_requests: InputRequests::from([ask]),
        });
    }
    if handle.cancelled_by.is_some() && handle.outcome.status != Status::Applied {
        return Ok(TaskPayload::Cancelled);
    }
    let result = match &handle.fault {
        Some(fault) => call::failed(fault),
        None => call::done(Rendered::of(&handle.outcome).map_err(refused)?),
    };
    Ok(TaskPayload::Completed {
        result: as_object(&result)?,
    })
}

fn as_object(result: &CallToolResult) -> Result<JsonObject, ErrorData> {
    match serde_json::to_value(result) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(ErrorData::internal_error("the result is no object", None)),
    }
}

/// These are answers to methods of the protocol, not to tools.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that `map_err` wants"
)]
fn refused(fault: Fault) -> ErrorData {
    let message = tools::clean::text(&fault.to_string());
    match fault.kind {
        Kind::NotFound => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    }
}
