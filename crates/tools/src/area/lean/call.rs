//! call_proxmox_tool

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::context::Context;
use crate::fault::Fault;
use crate::need::Need;
use crate::schema;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Nature, Object, Ran, Tool};

/// Calls any tool by its name, also one that is not listed; the answer is that tool's.
///
/// Find the tool and its arguments with search_proxmox_tools. What it does, needs, interrupts or destroys, and whether it asks a
/// person first, is that tool's; preview_proxmox_change shows a change beforehand. Needs that tool's privileges. Undo: as
/// the answer says.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CallTool {
    /// Its name, such as "start_proxmox_vm".
    pub(crate) tool: String,
    /// Its arguments; also `confirm`, where an answer asked for it.
    #[serde(default)]
    pub(crate) arguments: Object,
}

/// Hands a call on. The engine does so before it begins ([`crate::registry::Registry::meant`]), so that policy, consent and
/// audit see the tool that is meant.
pub(super) struct Relay;

pub(super) const RELAY: Relay = Relay;

const SPEC: Spec = Spec {
    name: "call_proxmox_tool",
    title: "Call any tool",
    toolset: Toolset::Lean,
    risk: Risk::Grant,
    idempotent: false,
    special: Special::NONE,
    needs: Need::Nothing,
    examples: &[
        Example {
            ask: "Start staging",
            args: r#"{"tool": "start_proxmox_vm", "arguments": {"vmid": 105}}"#,
        },
        Example {
            ask: "Say what the pool lab is for",
            args: r#"{"tool": "update_pool", "arguments": {"poolid": "lab", "comment": "for trying things out"}}"#,
        },
    ],
};

impl Tool for Relay {
    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn input(&self) -> Object {
        schema::input::<CallTool>()
    }

    /// Whatever the other tool answers.
    fn output(&self) -> Object {
        let mut output = Object::new();
        output.insert("type".to_owned(), json!("object"));
        output
    }

    fn nature(&self) -> Nature<'_> {
        Nature::Relays
    }

    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>> {
        Box::pin(async move {
            let (tool, arguments) = cx.registry.handed_on(args)?;
            let (arguments, extras) = cx.registry.split(tool, arguments)?;
            tool.run(arguments, &cx.narrowed(&extras)?).await
        })
    }
}
