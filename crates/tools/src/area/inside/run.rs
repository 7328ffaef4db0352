//! run_proxmox_vm_command

use pve::{GuestKind, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{Command, one_or_many};
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::Plan;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Seconds that a program gets if the caller does not say.
const WITHIN: u64 = 30;

/// Runs a command inside a running guest as root and returns exit code and output: in a VM through its guest agent, in
/// a container (cmode: shell) through its terminal, which takes a password login, no API token.
///
/// It asks for a confirmation. Without an agent type_vm_text works, without an exit code. A program that outlives
/// timeout runs on: get_proxmox_task reads its end in a VM, read_vm_terminal follows it in a container. Needs
/// VM.GuestAgent.Unrestricted (PVE 8: VM.Monitor), for containers VM.Console. No undo.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct RunCommand {
    /// The guest's id.
    vmid: Vmid,
    /// Program and arguments; one text alone is a shell line.
    #[serde(deserialize_with = "one_or_many")]
    command: Vec<String>,
    /// Its stdin.
    input: Option<String>,
    /// Seconds; 30 if left out.
    #[schemars(range(max = 600))]
    timeout: Option<u64>,
}

impl Changes for RunCommand {
    const SPEC: Spec = Spec {
        name: "run_proxmox_vm_command",
        title: "Run a command inside a guest",
        toolset: Toolset::Core,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::ALWAYS,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::AtLeastOne(&[
                Need::Any(&[need::WHOLE_AGENT, need::OLD_AGENT]),
                need::guest("VM.Console"),
            ]),
        ]),
        examples: &[
            Example {
                ask: "How full is the build server's disk?",
                args: r#"{"vmid": 106, "command": ["df", "-h", "/"]}"#,
            },
            Example {
                ask: "Which kernel runs on the web server, and since when?",
                args: r#"{"vmid": 100, "command": ["uname -r; hostname"], "timeout": 10}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[
        Deed::post("/nodes/{}/{guest}/agent/exec"),
        Deed::TerminalExec,
    ];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let command = Command {
            words: self.command,
            input: self.input,
            within: Some(self.timeout.unwrap_or(WITHIN)),
        };
        command.check()?;
        let guest = cx.guest(self.vmid, None, None).await?;
        if guest.at.kind == GuestKind::Lxc {
            return command.plan_in_container(&Self::SPEC, &guest).await;
        }
        guest.require_online()?;
        command.plan(&Self::SPEC, &guest).await
    }
}
