//! preview_proxmox_change

use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::Context;
use crate::fault::Fault;
use crate::need::Need;
use crate::preview::{self, Preview};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Object, Ran, Reads};

/// Shows what any changing tool would do with these arguments, without doing it.
///
/// Use it when a person should see steps, effects, warnings, missing privileges and the undo before a change; for
/// deletes delete_proxmox_vm_preview tells more. It is the very plan that the tool would send, made from the present
/// state. Nothing is changed or reserved; needs the read privileges of that tool.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PreviewChange {
    /// The changing tool's name.
    tool: String,
    /// Its arguments.
    #[serde(default)]
    arguments: Object,
}

impl Reads for PreviewChange {
    const SPEC: Spec = Spec {
        name: "preview_proxmox_change",
        title: "Preview a change",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special {
            also_in: Some(Toolset::Lean),
            ..Special::NONE
        },
        needs: Need::Nothing,
        examples: &[
            Example {
                ask: "What would cloning staging do?",
                args: r#"{"tool": "clone_proxmox_vm", "arguments": {"vmid": 105, "new_vmid": 300}}"#,
            },
            Example {
                ask: "What would pulling the plug on web interrupt?",
                args: r#"{"tool": "stop_proxmox_vm", "arguments": {"vmid": 100, "action": "stop"}}"#,
            },
        ],
    };

    type Answer = Preview;

    async fn read(self, cx: &Context) -> Result<Preview, Fault> {
        // Also for tools that read-only mode hides: looking at a plan is a read.
        let (name, arguments) = cx.registry.behind(self.tool, self.arguments)?;
        let tool = crate::registry::find_change(&name)?;
        let (arguments, extras) = cx.registry.split(tool, arguments)?;
        let cx = cx.narrowed(&extras)?;
        match tool.run(arguments, &cx).await? {
            Ran::Plan(plan) => Ok(preview::of(&plan, &cx).await),
            Ran::Answer(_) => Err(Fault::bad_input(format!("{name} changes nothing"))
                .hint("call it; there is nothing to preview")),
        }
    }
}
