//! vm_agent_exec

use pve::{NodeName, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::area::inside::{Command, one_or_many};
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::Plan;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Starts a program inside a VM as root, through its guest agent, and answers with its process id at once.
///
/// Use it for what takes long; its end is read once, with vm_agent_exec_status. run_proxmox_vm_command waits and
/// returns exit code and output by itself. The line goes to sh, or to cmd on Windows. It asks for a confirmation.
/// Needs VM.GuestAgent.Unrestricted (PVE 8: VM.Monitor). What the program does cannot be undone from here.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Exec {
    /// The VM's id.
    vmid: Vmid,
    /// A line for the guest's shell.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "String")]
    command: Vec<String>,
    /// What it reads from its standard input.
    input_data: Option<String>,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

impl Changes for Exec {
    const SPEC: Spec = Spec {
        name: "vm_agent_exec",
        title: "Start a program inside a VM",
        toolset: Toolset::Qemu,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::ALWAYS,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::Any(&[need::WHOLE_AGENT, need::OLD_AGENT]),
        ]),
        examples: &[Example {
            ask: "Start updating the build server's packages",
            args: r#"{"node": "pve3", "vmid": 106, "command": "sleep 5; uptime"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/{guest}/agent/exec")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let command = Command {
            words: self.command,
            input: self.input_data,
            within: None,
        };
        command.check()?;
        let guest = super::vm::vm(cx, self.vmid, self.node.as_ref()).await?;
        command.plan(&Self::SPEC, &guest).await
    }
}
