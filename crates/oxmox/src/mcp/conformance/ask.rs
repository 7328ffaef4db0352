//! Questions while a call waits, as 2025 has them, over the server's own line to the client; and what a client is told
//! or asked that this server never tells or asks.
#![expect(
    deprecated,
    reason = "sampling and logs, which 2025 clients still have"
)]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CreateMessageRequestParams, ElicitRequest, LoggingLevel, LoggingMessageNotificationParam,
    SamplingMessage,
};
use serde_json::{Value, json};

use super::super::Server;
use super::super::peer::{self, Context};
use super::super::talk::Line;
use super::{contents, written};

/// The fixtures that put a form to a person.
pub(super) const FORMS: &[&str] = &[
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
];

/// Puts a fixture's form to a person.
pub(super) async fn person(
    server: &Server,
    request: &CallToolRequestParams,
    ctx: &Context,
) -> CallToolResponse {
    let caller = peer::caller(ctx).name;
    let (line, _) = Line::new(ctx, &caller, server.shared.patience);
    let fields = match request.name.as_ref() {
        "test_elicitation" => who(),
        "test_elicitation_sep1034_defaults" => filled_in(),
        _ => choices(),
    };
    let schema = json!({"type": "object", "properties": fields});
    let params = json!({"mode": "form", "message": "Please answer", "requestedSchema": schema});
    match line.elicit(ElicitRequest::new(written(params))).await {
        Some(said) => contents::text(&format!("Elicitation completed: {}", json!(said))),
        None => failed("nobody answered"),
    }
}

/// Asks the client's model.
pub(super) async fn model(prompt: &str, ctx: &Context) -> CallToolResponse {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let asked = CreateMessageRequestParams::new(messages, 100);
    match ctx.peer.create_message(asked).await {
        Ok(said) => contents::text(&format!("LLM response: {}", json!(said))),
        Err(error) => failed(&error.to_string()),
    }
}

/// Logs three lines.
pub(super) async fn nobody_but_log(ctx: &Context) -> CallToolResponse {
    let lines = [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ];
    for line in lines {
        let note = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
        if let Err(error) = ctx.peer.notify_logging_message(note).await {
            return failed(&error.to_string());
        }
    }
    contents::text("logged")
}

fn failed(why: &str) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(why)]).into()
}

fn who() -> Value {
    json!({
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    })
}

fn filled_in() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First"},
        {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}
