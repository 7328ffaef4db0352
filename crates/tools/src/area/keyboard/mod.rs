//! send_vm_key

mod names;

use pve::{GuestKind, NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use super::power::State;
use crate::context::Context;
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Needs, Plan, Step, Undo};
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::Changes;

/// Presses one key or key combination on a running VM's console.
///
/// For what only a keyboard can do: ctrl-alt-delete at a login screen, a boot menu, a stuck prompt. To end or restart a
/// VM use stop_proxmox_vm. Containers have no keyboard. What the key does is up to the screen, so it asks first; a
/// person's yes can cover ten minutes of keys on this VM. Needs VM.Console. Whether anything reacted is not known. It
/// cannot be undone.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SendVmKey {
    /// The VM's id.
    vmid: Vmid,
    /// QEMU key names joined by "-": "ctrl-alt-delete", "ret", "f2"; also "enter", "esc", "A", "/".
    key: String,
    /// Its node, if known.
    node: Option<NodeName>,
}

impl Changes for SendVmKey {
    const SPEC: Spec = Spec {
        name: "send_vm_key",
        title: "Press a key on a VM's console",
        toolset: Toolset::Core,
        risk: Risk::Disrupt,
        idempotent: false,
        takes_host: true,
        leasable: true,
        examples: &[
            Example {
                ask: "Press ctrl-alt-delete on the desktop VM",
                args: r#"{"node": "pve2", "vmid": 110, "key": "ctrl-alt-delete"}"#,
            },
            Example {
                ask: "Press enter on the web server's console",
                args: r#"{"vmid": 100, "key": "enter"}"#,
            },
        ],
    };

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let combo = names::parse(&self.key)?;
        let guest = cx.guest(self.vmid, self.node.as_ref(), None).await?;
        if guest.at.kind == GuestKind::Lxc {
            return Err(Fault::bad_input(format!(
                "{} has no keyboard: containers have none",
                guest.label()
            ))
            .hint("send_vm_key is for VMs"));
        }
        guest.require_online()?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let mut plan = Plan::new(
            &Self::SPEC,
            &guest.cluster.name,
            Risk::Disrupt,
            format!("Press {combo} on {} on {}", guest.label(), guest.at.node),
        );
        if !state.running {
            plan.blockers.push(Blocker::new(
                format!(
                    "{} is stopped, and nobody reads its keyboard",
                    guest.label()
                ),
                "start it with start_proxmox_vm",
            ));
        }
        if state.paused {
            plan.warnings
                .push("it is paused: the key waits until it is resumed".to_owned());
        }
        if combo == "ctrl-alt-delete" {
            plan.warnings
                .push("ctrl-alt-delete reboots many systems".to_owned());
        }
        guest.bind(&mut plan, &config);
        plan.needs = Needs::All(vec![
            Needs::on(guest.at.acl_path(), "VM.Audit"),
            Needs::on(guest.at.acl_path(), "VM.Console"),
        ]);
        plan.impact.push(
            Impact::new(Effect::Interrupted, "VM", guest.at.vmid.to_string())
                .note("reacts to the key, or not"),
        );
        plan.steps.push(Step::request(
            format!("Press {combo} on {}", guest.label()),
            Request::put(guest.at.path("sendkey")).with("key", combo),
        ));
        plan.undo = Undo::Impossible {
            because: "a key press cannot be taken back".to_owned(),
        };
        Ok(plan)
    }
}
