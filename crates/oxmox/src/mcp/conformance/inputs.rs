//! Questions as answers, as 2026 has them: what is asked for, and the state that comes back with it.
//!
//! Where the suite asks for one consent, the engine's own question is put (`call`). These ask for what the engine never
//! asks for, several things, or several times; their states are sealed with the installation's key like the engine's.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InputRequests, InputRequiredResult, JsonObject,
};
use serde_json::{Value, json};
use tools::keys::Keys;

use super::super::Server;
use super::super::peer::{self, Context};
use super::{contents, written};

/// The fixtures that are answered here.
pub(super) const ASK: &[&str] = &[
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_capabilities",
];

/// Asks, or answers what was asked.
pub(super) async fn answer(
    server: &Server,
    request: &CallToolRequestParams,
    ctx: &Context,
) -> Result<CallToolResponse, ErrorData> {
    let all = |keys: &[&str]| {
        let answered = |key: &&str| answer_to(request, key).is_some();
        keys.iter().all(answered)
    };
    let state = State {
        server,
        request,
        ctx,
    };
    let asks = match request.name.as_ref() {
        "test_input_required_result_elicitation" if !all(&["user_name"]) => {
            InputRequiredResult::from_input_requests(name("user_name"))
        }
        "test_input_required_result_sampling" if !all(&["capital_question"]) => {
            InputRequiredResult::from_input_requests(model("capital_question"))
        }
        "test_input_required_result_list_roots" if !all(&["client_roots"]) => {
            InputRequiredResult::from_input_requests(roots())
        }
        "test_input_required_result_multiple_inputs" => {
            let round = state.round().await?;
            if round > 0 && all(&["user_name", "greeting", "client_roots"]) {
                return Ok(contents::text("all of it arrived"));
            }
            let asks = together([name("user_name"), model("greeting"), roots()]);
            state.asking(asks, 1).await?
        }
        "test_input_required_result_multi_round" => match state.round().await? {
            1 if all(&["step1"]) => state.asking(colour(), 2).await?,
            2 if all(&["step2"]) => return Ok(contents::text("both of it arrived")),
            _ => state.asking(name("step1"), 1).await?,
        },
        "test_input_required_result_capabilities" if request.input_responses.is_none() => {
            let able = ctx.client_capabilities().unwrap_or_default();
            let mut asks = InputRequests::new();
            if peer::can_show_form(ctx) {
                asks.extend(name("user_name"));
            }
            if able.sampling.is_some() {
                asks.extend(model("greeting"));
            }
            if able.roots.is_some() {
                asks.extend(roots());
            }
            InputRequiredResult::from_input_requests(asks)
        }
        _ => {
            let said = request.input_responses.clone().unwrap_or_default();
            return Ok(contents::text(&json!(said).to_string()));
        }
    };
    Ok(asks.into())
}

/// The answer to one of the questions, if it is any.
pub(super) fn answer_to<'a>(request: &'a CallToolRequestParams, key: &str) -> Option<&'a Value> {
    let answers = request.input_responses.as_ref()?;
    answers.get(key).filter(|answer| answer.is_object())
}

/// Asks for a name.
pub(super) fn name_wanted() -> InputRequiredResult {
    InputRequiredResult::from_input_requests(name("user_name"))
}

/// Asks what a prompt is about.
pub(super) fn context_wanted() -> InputRequiredResult {
    let asks = form(
        "user_context",
        "What context should the prompt use?",
        "context",
        "string",
    );
    InputRequiredResult::from_input_requests(asks)
}

/// A form with one field.
pub(super) fn form(key: &str, message: &str, field: &str, kind: &str) -> InputRequests {
    let schema =
        json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    written(json!({key: {"method": "elicitation/create", "params": params}}))
}

/// All of these at once.
pub(super) fn together(asks: impl IntoIterator<Item = InputRequests>) -> InputRequests {
    asks.into_iter().flatten().collect()
}

fn name(key: &str) -> InputRequests {
    form(key, "What is your name?", "name", "string")
}

fn colour() -> InputRequests {
    form("step2", "What is your favorite color?", "color", "string")
}

fn model(key: &str) -> InputRequests {
    let content = json!({"type": "text", "text": "What is the capital of France?"});
    let params = json!({"messages": [{"role": "user", "content": content}], "maxTokens": 100});
    written(json!({key: {"method": "sampling/createMessage", "params": params}}))
}

fn roots() -> InputRequests {
    written(json!({"client_roots": {"method": "roots/list", "params": JsonObject::new()}}))
}

/// How far the questions of a call are: a round, sealed for this caller and this tool.
struct State<'a> {
    server: &'a Server,
    request: &'a CallToolRequestParams,
    ctx: &'a Context,
}

impl State<'_> {
    /// The round that the state stands for; 0 without one.
    async fn round(&self) -> Result<u8, ErrorData> {
        let Some(state) = &self.request.request_state else {
            return Ok(0);
        };
        let keys = self.keys().await?;
        let is_of = |round: &u8| self.bound_to(*round, |parts| keys.is_sealed(parts, state));
        [1, 2].into_iter().find(is_of).ok_or_else(|| {
            let message = "the request state is not one that was given";
            ErrorData::invalid_params(message, None)
        })
    }

    /// These questions, with the state of the round that they begin.
    async fn asking(
        &self,
        asks: InputRequests,
        round: u8,
    ) -> Result<InputRequiredResult, ErrorData> {
        let keys = self.keys().await?;
        let state = self.bound_to(round, |parts| keys.seal(parts));
        Ok(InputRequiredResult::new(Some(asks), Some(state)))
    }

    fn bound_to<T>(&self, round: u8, act: impl FnOnce(&[&[u8]]) -> T) -> T {
        let caller = peer::caller(self.ctx).name;
        let tool = self.request.name.as_bytes();
        act(&[b"conformance", tool, caller.as_bytes(), &[round]])
    }

    async fn keys(&self) -> Result<&Keys, ErrorData> {
        let store = self.server.engine(self.ctx).store().await;
        let store = store.map_err(|fault| ErrorData::internal_error(fault.to_string(), None))?;
        Ok(&store.keys)
    }
}
