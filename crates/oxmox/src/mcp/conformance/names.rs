//! The tools that the suite wants listed.

use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::{Value, json};

use super::object;

/// Those that take nothing, or nothing that matters.
const PLAIN: &[(&str, &str)] = &[
    ("test_simple_text", "Answers with text"),
    ("test_image_content", "Answers with a picture"),
    ("test_audio_content", "Answers with sound"),
    ("test_embedded_resource", "Answers with a resource"),
    (
        "test_multiple_content_types",
        "Answers with text, a picture and a resource",
    ),
    ("test_tool_with_logging", "Logs while it works"),
    ("test_error_handling", "Fails"),
    ("test_tool_with_progress", "Tells how far it is"),
    ("test_reconnection", "Answers on a stream"),
    (
        "test_elicitation_sep1034_defaults",
        "Asks with values filled in",
    ),
    ("test_elicitation_sep1330_enums", "Asks to choose"),
    ("test_trigger_tool_change", "Says that the tools changed"),
    (
        "test_trigger_prompt_change",
        "Says that the prompts changed",
    ),
    ("test_missing_capability", "Needs a client that can sample"),
    ("test_streaming_elicitation", "Asks for a name"),
    ("test_logging_tool", "Logs nothing unasked"),
    ("test_input_required_result_elicitation", "Asks for a name"),
    ("test_input_required_result_sampling", "Asks a model"),
    ("test_input_required_result_list_roots", "Asks for roots"),
    (
        "test_input_required_result_request_state",
        "Asks for consent",
    ),
    (
        "test_input_required_result_multiple_inputs",
        "Asks for three things",
    ),
    (
        "test_input_required_result_multi_round",
        "Asks twice, one after the other",
    ),
    (
        "test_input_required_result_tampered_state",
        "Asks for consent",
    ),
    (
        "test_input_required_result_capabilities",
        "Asks what the client can answer",
    ),
    ("failing_job", "A task that fails"),
    ("protocol_error_job", "A task that ends in a protocol error"),
    ("multi_input", "A task that asks for two things"),
    ("test_tool_with_task", "Asks for a name, then is a task"),
];

/// All of them, in one order.
pub(in crate::mcp) fn tools() -> impl Iterator<Item = Tool> {
    let nothing = json!({"type": "object", "properties": {}});
    let plain = PLAIN
        .iter()
        .map(move |(name, about)| (*name, *about, nothing.clone()));
    plain.chain(with_arguments()).map(|(name, about, input)| {
        // Their own schemas, as they are: the suite looks whether every keyword arrives.
        Tool::new(name, about, Arc::new(object(input)))
    })
}

fn with_arguments() -> Vec<(&'static str, &'static str, Value)> {
    let takes = |name: &str, schema: Value, required: bool| {
        let required: &[&str] = if required { &[name] } else { &[] };
        json!({"type": "object", "properties": {name: schema}, "required": required})
    };
    let text = || json!({"type": "string"});
    vec![
        (
            "test_sampling",
            "Asks a model",
            takes("prompt", text(), true),
        ),
        (
            "test_elicitation",
            "Asks a person",
            takes("message", text(), true),
        ),
        (
            "test_custom_header",
            "Takes an argument that is a header too",
            takes(
                "value",
                json!({"type": "string", "x-mcp-header": "Value"}),
                true,
            ),
        ),
        ("greet", "Says hello", takes("name", text(), true)),
        (
            "confirm_delete",
            "A task that asks",
            takes("filename", text(), false),
        ),
        (
            "slow_compute",
            "A task that takes a while",
            json!({"type": "object", "properties": {"seconds": {"type": "number"}, "label": {"type": "string"}}}),
        ),
        (
            "json_schema_2020_12_tool",
            "Has a schema with the less common keywords",
            uncommon_schema(),
        ),
    ]
}

fn uncommon_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
