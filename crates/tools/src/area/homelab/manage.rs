//! manage_proxmox_vm

use pve::Vmid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::area::power::{StartVm, StopVm};
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need;
use crate::plan::Plan;
use crate::schema;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Changes, Object};

/// Starts, stops, reboots, resets, pauses or resumes one VM or container.
///
/// The same as start_proxmox_vm and stop_proxmox_vm, which take several guests, a timeout and force. stop pulls the plug and loses
/// what was not written; shutdown asks the system inside. reset and suspend are for VMs. All but start and resume
/// interrupt the guest and ask first. Needs VM.PowerMgmt on the guest. Waits and reads back. Undo: the opposite action;
/// none for reboot and reset.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ManageVm {
    /// The guest's id.
    vmid: Vmid,
    /// What to do with it.
    action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Action {
    Start,
    Stop,
    Shutdown,
    Reboot,
    Reset,
    Suspend,
    Resume,
}

impl Changes for ManageVm {
    const SPEC: Spec = Spec {
        name: "manage_proxmox_vm",
        title: "Start or stop a VM or container",
        toolset: Toolset::Homelab,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special::OF_GUEST,
        needs: need::POWER,
        examples: &[
            Example {
                ask: "Start staging",
                args: r#"{"vmid": 105, "action": "start"}"#,
            },
            Example {
                ask: "Reboot the DNS container",
                args: r#"{"vmid": 200, "action": "reboot"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let mut args = Object::new();
        args.insert("vmid".to_owned(), json!(self.vmid));
        let plan = match self.action {
            // Starting a paused guest resumes it.
            Action::Start | Action::Resume => schema::parse::<StartVm>(args)?.plan(cx).await?,
            action => {
                args.insert("action".to_owned(), json!(action));
                schema::parse::<StopVm>(args)?.plan(cx).await?
            }
        };
        Ok(plan.called(Self::SPEC.name))
    }
}
