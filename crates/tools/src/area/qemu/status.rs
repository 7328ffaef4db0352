//! vm_agent_exec_status

use pve::{NodeName, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::vm;
use crate::agent::{Glance, glance};
use crate::context::Context;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// Tells whether a program that vm_agent_exec started has ended, and then its exit code and output.
///
/// The agent tells an end once and forgets the program: keep the answer. Nothing of the output can be read while the
/// program runs. run_proxmox_vm_command waits for the end by itself, and get_proxmox_task reads what outlived its
/// timeout. Needs VM.GuestAgent.Unrestricted (PVE 8: VM.Monitor), and leaves a trace in the audit log.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ExecStatus {
    /// The VM's id.
    vmid: Vmid,
    /// The process id that vm_agent_exec answered.
    #[schemars(range(min = 1))]
    pid: u64,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

/// How the program stands.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum State {
    Running,
    Ended,
    // The agent does not know it, or no longer.
    Gone,
}

/// A program inside a VM.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Seen {
    /// The VM's id.
    vmid: Vmid,
    /// Its process id.
    pid: u64,
    /// How it stands.
    state: State,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u64>,
    /// What killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<u64>,
    /// What it printed.
    #[serde(skip_serializing_if = "String::is_empty")]
    stdout: String,
    /// What it complained about.
    #[serde(skip_serializing_if = "String::is_empty")]
    stderr: String,
    /// Whether some of the output is missing.
    truncated: bool,
}

impl Reads for ExecStatus {
    const SPEC: Spec = Spec {
        name: "vm_agent_exec_status",
        title: "See how a program inside a VM ended",
        toolset: Toolset::Qemu,
        risk: Risk::Read,
        idempotent: false,
        special: Special {
            looks_inside: true,
            ..Special::NONE
        },
        needs: Need::All(&[
            need::SEES_GUEST,
            // Who may run nothing has nothing to ask for.
            Need::At(
                Risk::Grant,
                &Need::Any(&[need::WHOLE_AGENT, need::OLD_AGENT]),
            ),
        ]),
        examples: &[Example {
            ask: "Has process 700 on the build server ended?",
            args: r#"{"node": "pve3", "vmid": 106, "pid": 700}"#,
        }],
    };
    type Answer = Seen;

    async fn read(self, cx: &Context) -> Result<Seen, Fault> {
        let guest = vm::vm(cx, self.vmid, self.node.as_ref()).await?;
        let seen = |state| Seen {
            vmid: self.vmid,
            pid: self.pid,
            state,
            exit_code: None,
            signal: None,
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
        };
        match glance(guest.pve(), &guest.at, self.pid).await {
            Glance::Running => Ok(seen(State::Running)),
            Glance::Gone => Ok(seen(State::Gone)),
            Glance::Ended(ended) => Ok(Seen {
                exit_code: ended.exit_code,
                signal: ended.signal,
                stdout: ended.stdout,
                stderr: ended.stderr,
                truncated: ended.truncated,
                ..seen(State::Ended)
            }),
            Glance::Unreadable(Some(error), _) => Err(vm::unasked(error)),
            Glance::Unreadable(None, why) => Err(Fault::new(Kind::Failed, why)),
        }
    }
}

impl Answer for Seen {
    fn text(&self) -> String {
        let Self { vmid, pid, .. } = self;
        let mut out = match self.state {
            State::Running => format!("process {pid} in VM {vmid} runs\n"),
            State::Gone => format!(
                "the agent of VM {vmid} knows no process {pid}: it was not started by it, or its end was told before\n"
            ),
            State::Ended => match (self.exit_code, self.signal) {
                (_, Some(signal)) => format!("process {pid} was killed by signal {signal}\n"),
                (Some(code), None) => format!("process {pid} ended with exit code {code}\n"),
                (None, None) => format!("process {pid} ended\n"),
            },
        };
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                line!(out, "{name}:");
            }
            out.push_str(&words::each_set_off(text.lines()));
        }
        if self.truncated {
            out.push_str("the output is not shown in full\n");
        }
        out
    }
}
