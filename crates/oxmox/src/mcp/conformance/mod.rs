//! What the official conformance suite calls by fixed names, mounted on this server: only with the cargo feature
//! `conformance`, which nothing that is shipped is built with.
//!
//! The suite is to judge the server that people run. So a fixture is another name for a real tool wherever one does what
//! the suite asks for: its clones, questions, failures and pictures come from the engine and the demo's cluster, its
//! request states and tasks are the engine's own. What this server has no use for (sampling, roots, logs, several
//! questions at once) is answered here, with its means as far as they reach.
//!
//! | module | what lives there |
//! |---|---|
//! | `names` | tools/list: the names, and what each takes |
//! | `call` | tools/call: which real call a name stands for, and who answers the others |
//! | `contents` | sorts of content that no tool of ours has |
//! | `ask` | questions during a call, as 2025 has them |
//! | `inputs` | questions as answers, as 2026 has them, with sealed states |
//! | `jobs` | tasks that ask several things, or fail by the protocol |
//! | `resources`, `prompts` | what their lists and templates hold besides |
//! | `changes` | lists that change, which ours never do |

mod ask;
mod call;
mod changes;
mod contents;
mod inputs;
mod jobs;
mod names;
pub(super) mod prompts;
pub(super) mod resources;

pub(super) use call::{Answer, answer};
pub(super) use changes::{beside_list_changes, granted};
pub(super) use jobs::{cancelled, got, updated};
pub(super) use names::tools;

use rmcp::model::{JsonObject, ServerCapabilities};
use serde_json::Value;

/// What this build can do besides.
pub(super) fn able(mut able: ServerCapabilities) -> ServerCapabilities {
    able.logging = Some(JsonObject::new());
    able.prompts.get_or_insert_default().list_changed = Some(true);
    able.tools.get_or_insert_default().list_changed = Some(true);
    able
}

/// What a `json!({…})` holds.
fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => unreachable!("{other} is no object"),
    }
}

/// A value of rmcp's that is written here as the suite's manual writes it.
fn written<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value)
        .unwrap_or_else(|error| unreachable!("a fixture is not as MCP writes it: {error}"))
}
