//! tools/call for the suite's names: most stand for a real call, which then goes the way of all calls.

use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ClientCapabilities, JsonObject};
use serde_json::{Value, json};

use super::super::Server;
use super::super::peer::{self, Context};
use super::{ask, changes, contents, inputs, jobs, object};

/// What becomes of a call.
pub(in crate::mcp) enum Answer {
    /// It is answered.
    Given(Result<CallToolResponse, ErrorData>),
    /// It goes on, as this one.
    Meant(CallToolRequestParams),
}

/// Without tasks there is no answer to these.
const ONLY_AS_TASKS: &[&str] = &[
    "confirm_delete",
    "failing_job",
    "multi_input",
    "test_tool_with_task",
];

/// Answers a call of a fixture that is no other name for a real one.
pub(in crate::mcp) async fn answer(
    server: &Server,
    mut request: CallToolRequestParams,
    ctx: &Context,
) -> Answer {
    if ONLY_AS_TASKS.contains(&request.name.as_ref()) && !peer::follows_tasks(ctx) {
        return lacks(ClientCapabilities::builder().enable_tasks().build());
    }
    let given = match request.name.as_ref() {
        "greet" => Ok(contents::text(&format!(
            "Hello, {}!",
            text_of(&request, "name")
        ))),
        "test_custom_header" => Ok(contents::text(&text_of(&request, "value"))),
        "test_audio_content" | "test_embedded_resource" | "test_multiple_content_types" => {
            Ok(contents::of(&request.name))
        }
        "test_trigger_tool_change" | "test_trigger_prompt_change" => {
            changes::tell(&request.name);
            Ok(contents::text("said"))
        }
        "test_missing_capability" => {
            let able = ctx.client_capabilities().unwrap_or_default();
            if able.sampling.is_none() {
                return lacks(written_sampling());
            }
            Ok(contents::text("the client can sample"))
        }
        // The suite waits half a second for these two, which a cluster that is asked for the first time may need.
        "test_logging_tool" => Ok(contents::text("nothing to log")),
        "test_streaming_elicitation" => Ok(inputs::name_wanted().into()),
        "test_sampling" => Ok(ask::model(&text_of(&request, "prompt"), ctx).await),
        "test_tool_with_logging" => Ok(ask::nobody_but_log(ctx).await),
        name if ask::FORMS.contains(&name) => Ok(ask::person(server, &request, ctx).await),
        "confirm_delete" | "multi_input" | "protocol_error_job" => {
            Ok(jobs::begin(&request.name, ctx))
        }
        "test_tool_with_task" => match inputs::answer_to(&request, "user_name") {
            None => Ok(inputs::name_wanted().into()),
            Some(said) => {
                // The engine's result names the clone.
                let name = said["content"]["name"].as_str().unwrap_or("nobody");
                return Answer::Meant(clone_as(request.clone(), name));
            }
        },
        name if inputs::ASK.contains(&name) => inputs::answer(server, &request, ctx).await,
        name => {
            if let Some((tool, arguments)) = real(name, request.arguments.as_ref()) {
                request.name = tool.into();
                request.arguments = Some(object(arguments));
            }
            return Answer::Meant(request);
        }
    };
    Answer::Given(given)
}

/// The real call that a name stands for, in the demo's cluster.
fn real(name: &str, arguments: Option<&JsonObject>) -> Option<(&'static str, Value)> {
    let seconds = || arguments?.get("seconds")?.as_f64();
    Some(match name {
        "test_simple_text" | "test_reconnection" => ("list_proxmox_resources", json!({})),
        "test_image_content" => ("capture_vm_screen", json!({"vmid": 100})),
        "test_error_handling" => ("get_proxmox_vm_status", json!({"vmid": 999_999})),
        // A full clone takes PVE some seconds, and it tells how far it is.
        "test_tool_with_progress" => ("clone_proxmox_vm", json!({"vmid": 900, "full": true})),
        "slow_compute" => {
            let full = seconds().is_some_and(|seconds| seconds > 10.0);
            let clone = json!({"vmid": 900, "full": full, "wait": 0});
            ("clone_proxmox_vm", clone)
        }
        // PVE refuses this when it is sent, not before.
        "failing_job" => (
            "update_proxmox_vm",
            json!({"vmid": 105, "set": {"description": "x".repeat(9_000)}, "wait": 0}),
        ),
        // Needs a person's yes, which the suite never gives: it ticks another box.
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => {
            ("delete_proxmox_vm", json!({"vmid": 111}))
        }
        _ => return None,
    })
}

/// A clone of that name, as a task.
fn clone_as(mut request: CallToolRequestParams, name: &str) -> CallToolRequestParams {
    request.name = "clone_proxmox_vm".into();
    request.arguments = Some(object(json!({"vmid": 900, "name": name, "wait": 0})));
    request
}

fn text_of(request: &CallToolRequestParams, argument: &str) -> String {
    let arguments = request.arguments.as_ref();
    let value = arguments.and_then(|arguments| arguments.get(argument));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn lacks(able: ClientCapabilities) -> Answer {
    Answer::Given(Err(ErrorData::missing_required_client_capability(able)))
}

fn written_sampling() -> ClientCapabilities {
    super::written(json!({"sampling": {}}))
}
