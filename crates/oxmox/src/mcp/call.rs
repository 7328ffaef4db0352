//! tools/call: from MCP's words to the engine's and back. Every failure is a tool result that says what to do about it;
//! protocol errors are for clients that do not speak the protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitResult,
    InputRequest, InputRequests, InputRequiredResult,
};
use tools::caller::Caller;
use tools::engine::{Answered, Asked, Call, Question, Reply};
use tools::fault::{Fault, Kind};
use tools::tool::Rendered;

use super::peer::{self, Context};
use super::talk::{Line, Notes};
use super::{Server, form, trace};

/// The name of the one question in an `input_required` answer.
const CONFIRM: &str = "confirm";

impl Server {
    /// Runs a tool, telling the client meanwhile how far it is.
    pub(super) async fn run(
        &self,
        request: CallToolRequestParams,
        ctx: &Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let _waits = self.shared.calls.token();
        let engine = self.engine(ctx);
        let caller = peer::caller(ctx);
        let span = trace::begin(self.traces.as_ref(), &request.name, &caller.name, ctx);
        let call = engine_call(request, &caller, ctx);
        let came_back = call.answer.is_some();
        let only_reads = engine.only_reads(&call);
        let (line, mut news) = Line::new(ctx, &caller.name, self.shared.patience);
        let mut notes = Notes::new(ctx);
        let answer = engine.call(call, &line);
        tokio::pin!(answer);
        let shut_out = line.shut_out();
        tokio::pin!(shut_out);
        let mut is_shut_out = false;
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut answer => break answer,
                () = &mut shut_out, if !is_shut_out => {
                    is_shut_out = true;
                    // A change sees it, and ends with both its audit entries.
                    if only_reads {
                        break Err(Fault::refused("the token of this caller was revoked"));
                    }
                }
                Some(progress) = news.recv() => notes.send(progress).await,
                // Only a read may be dropped. A change runs to its end, so that it has both its audit entries.
                () = ctx.ct.cancelled(), if only_reads => {
                    break Err(Fault::new(Kind::Internal, "the client cancelled the call"));
                }
            }
        };
        if let Some(span) = span {
            span.end(answer.as_ref().err().map(|fault| fault.kind));
        }
        while let Ok(progress) = news.try_recv() {
            notes.send(progress).await;
        }
        Ok(match answer {
            Ok(Reply::Running(rendered, plan)) if peer::follows_tasks(ctx) => {
                match self.created_task(&plan, ctx).await {
                    Ok(task) => task.into(),
                    // It goes on all the same, and the answer says how to follow it.
                    Err(_) => done(rendered).into(),
                }
            }
            Ok(Reply::Done(rendered) | Reply::Running(rendered, _)) => done(rendered).into(),
            Ok(Reply::Ask(question)) => ask(&question).into(),
            // The state is the client's to bring back, not the model's: no other call would mend that.
            Err(fault) if came_back && fault.kind == Kind::Forged => {
                let message = tools::clean::text(&fault.to_string());
                return Err(ErrorData::invalid_params(message, None));
            }
            Err(fault) => failed(&fault).into(),
        })
    }
}

/// The engine's view of a request.
fn engine_call(request: CallToolRequestParams, caller: &Caller, ctx: &Context) -> Call {
    let mut call = Call::new(
        &request.name,
        request.arguments.unwrap_or_default(),
        caller.clone(),
    );
    // 2025 clients never got a state to send back.
    if peer::is_stateless(ctx)
        && let Some(state) = request.request_state
    {
        let answers = request.input_responses.unwrap_or_default();
        let said = answers
            .get(CONFIRM)
            .and_then(|value| serde_json::from_value::<ElicitResult>(value.clone()).ok())
            // A state without a readable answer is no decision; the engine says again what it waits for.
            .map_or(Asked::Undecided, |said| form::answer(&said, &caller.name));
        call.answer = Some(Answered { state, said });
    }
    call
}

pub(super) fn done(rendered: Rendered) -> CallToolResult {
    let mut result = CallToolResult::structured(rendered.data.into());
    result.content = vec![ContentBlock::text(rendered.text)];
    let images = rendered.images.iter();
    result
        .content
        .extend(images.map(|image| ContentBlock::image(BASE64.encode(&image.png), "image/png")));
    result
}

/// The state needs no second seal: the engine bound it to caller, tool, arguments and plan, and takes it once.
fn ask(question: &Question) -> InputRequiredResult {
    let mut asks = InputRequests::new();
    let form = InputRequest::Elicitation(form::of(question));
    asks.insert(CONFIRM.to_owned(), form);
    InputRequiredResult::new(Some(asks), Some(question.state.clone()))
}

/// A failure in words: what was wrong, and on a line of its own what to do instead. A change that was begun also tells
/// as data what became of each step.
pub(super) fn failed(fault: &Fault) -> CallToolResult {
    let text = tools::clean::text(&fault.to_string());
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    let outcome = fault.outcome.as_deref().map(Rendered::of);
    result.structured_content = outcome.and_then(Result::ok).map(|it| it.data.into());
    result
}
