//! send_vm_monitor_command

use pve::{Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use super::vm;
use crate::area::power::State;
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Effect, Impact, Needs, Plan, Step, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// Commands that only look. PVE asks for nothing more to run them.
const LOOKS: &[&str] = &["info", "help", "?"];
/// Commands that leave what is on the VM's disks alone. Whatever is not here may lose it.
const SPARES_DISKS: &[&str] = &[
    "announce_self",
    "balloon",
    "boot_set",
    "c",
    "calc_dirty_rate",
    "cont",
    "cpu",
    "gpa2hpa",
    "gpa2hva",
    "gva2gpa",
    "i",
    "mouse_button",
    "mouse_move",
    "mouse_set",
    "p",
    "print",
    "qom-get",
    "qom-list",
    "s",
    "sendkey",
    "set_link",
    "stop",
    "sum",
    "system_powerdown",
    "system_reset",
    "system_wakeup",
    "x",
    "xp",
];

/// Gives QEMU's monitor behind one running VM a command and shows the answer.
///
/// For what no other tool shows, such as info block; keys are send_vm_key, power is reset_vm. info and help only look;
/// any other command acts past PVE, and a person confirms it; one that can touch disks is refused for protected VMs.
/// Needs Sys.Audit (PVE 8: VM.Monitor) and VM.Audit on /vms/VMID, for more than a look Sys.Modify on /; some are for
/// root@pam alone. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct MonitorCommand {
    /// The VM's id.
    vmid: Vmid,
    /// Such as info status.
    command: String,
}

impl Changes for MonitorCommand {
    const SPEC: Spec = Spec {
        name: "send_vm_monitor_command",
        title: "Command a VM's QEMU",
        toolset: Toolset::Qemu,
        risk: Risk::Grant,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::AtLeastOne(&[
                Need::Any(&[need::guest("Sys.Audit"), need::guest("Sys.Modify")]),
                need::OLD_AGENT,
            ]),
            Need::May(&[Need::At(Risk::Grant, &Need::On("/", "Sys.Modify"))]),
        ]),
        examples: &[
            Example {
                ask: "Which state does QEMU say the web server is in?",
                args: r#"{"vmid": 100, "command": "info status"}"#,
            },
            Example {
                ask: "Tell QEMU to press the desktop's power button",
                args: r#"{"vmid": 110, "command": "system_powerdown"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/{guest}/monitor")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let command = one_line(&self.command)?;
        let name = command.split_whitespace().next().unwrap_or_default();
        let guest = vm(cx, self.vmid, Self::SPEC.name).await?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let looks = LOOKS.contains(&name);
        let says = format!(
            "Tell QEMU of {}: {}",
            guest.label(),
            words::clip(command, 120)
        );
        let mut plan = Plan::new(&Self::SPEC, &guest.cluster.name, says.clone());
        guest.bind(&mut plan, &config);
        if !state.running {
            plan.blockers.push(Blocker::new(
                format!("{} is not running, and has no QEMU", guest.label()),
                "start it with start_vm first",
            ));
        }
        plan.needs = needs(&guest, looks).await?;
        plan.impact.push(impact(&guest, name, looks));
        plan.undo = Undo::Impossible {
            because: if looks {
                "it only looks".to_owned()
            } else {
                "what QEMU does at a command is not known here".to_owned()
            },
        };
        let request = Request::post(guest.at.path("monitor")).with("command", command);
        plan.steps.push(Step::request(says, request).shows());
        Ok(plan)
    }
}

/// The monitor takes one line.
fn one_line(command: &str) -> Result<&str, Fault> {
    let command = command.trim();
    if command.is_empty() || command.contains(['\n', '\r', '\0']) {
        return Err(Fault::bad_input("argument `command`: it is not one line")
            .hint("send one command of QEMU's monitor, such as \"info status\""));
    }
    if tells_a_secret(command) {
        return Err(Fault::refused("a command with a password in it is not sent from here").hint(
            "what is sent is shown and written down; a person gives QEMU passwords in its monitor, in PVE's web interface",
        ));
    }
    Ok(command)
}

/// Whether a password is a part of it.
fn tells_a_secret(command: &str) -> bool {
    let command = command.to_lowercase();
    let first = command.split_whitespace().next().unwrap_or_default();
    first == "set_password"
        || (first == "change" && command.contains("password"))
        || (first == "object_add" && command.contains("secret"))
}

/// As PVE checks them, which differs by version.
async fn needs(guest: &Guest, looks: bool) -> Result<Needs, Fault> {
    let on = |privilege| Needs::on(guest.at.acl_path(), privilege);
    let may = if guest.cluster.version().await?.at_least(9, 0) {
        Needs::Any(vec![on("Sys.Audit"), on("Sys.Modify")])
    } else {
        on("VM.Monitor")
    };
    let mut all = vec![on("VM.Audit"), may];
    if !looks {
        all.push(Needs::on("/", "Sys.Modify"));
    }
    Ok(Needs::All(all))
}

fn impact(guest: &Guest, name: &str, looks: bool) -> Impact {
    let id = guest.at.vmid.to_string();
    let (effect, note) = if looks {
        (Effect::Kept, "it is only looked at")
    } else if SPARES_DISKS.contains(&name) {
        (Effect::Interrupted, "QEMU does as it is told, past PVE")
    } else {
        (
            Effect::Destroyed,
            "QEMU does as it is told, past PVE: what is on its disks can be lost",
        )
    };
    Impact::new(effect, "VM", id).note(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_taken() {
        for secret in [
            "set_password vnc hunter2",
            " SET_PASSWORD spice hunter2",
            "change vnc password hunter2",
            "object_add secret,id=s,data=hunter2",
        ] {
            let fault = one_line(secret).unwrap_err().to_string();
            assert!(!fault.contains("hunter2"), "{fault}");
        }
        assert!(one_line("info status").is_ok());
        assert!(one_line("change ide2 nothing.iso").is_ok());
    }
}
