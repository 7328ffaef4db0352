//! vm_agent_set_password

use pve::{NodeName, Request, Vmid};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::vm;
use crate::agent::{Right, to_wire};
use crate::clean;
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Effect, Impact, Plan, Step, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Bytes that PVE takes as a password.
const LENGTH: std::ops::RangeInclusive<usize> = 5..=1024;

/// Sets the password of a user inside a VM through its guest agent; the user must exist there.
///
/// Use it to get back into a system. The password is sent to the guest and kept nowhere here; it is set at once, and
/// sessions that are open stay open. For a VM with cloud-init update_proxmox_vm sets cipassword instead. It asks for a
/// confirmation. Needs VM.GuestAgent.Unrestricted (PVE 8: VM.Monitor). No undo: the old password is not known.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SetPassword {
    /// The VM's id.
    vmid: Vmid,
    /// The user inside the VM.
    username: String,
    /// The new password, at least five characters.
    #[schemars(with = "String")]
    password: SecretString,
    /// Whether it is a hash that crypt made.
    #[serde(default)]
    crypted: bool,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

impl Changes for SetPassword {
    const SPEC: Spec = Spec {
        name: "vm_agent_set_password",
        title: "Set a password inside a VM",
        toolset: Toolset::Qemu,
        risk: Risk::Grant,
        idempotent: true,
        special: Special::ALWAYS,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::Any(&[need::WHOLE_AGENT, need::OLD_AGENT]),
        ]),
        examples: &[Example {
            ask: "Give the user build a new password on the build server",
            args: r#"{"node": "pve3", "vmid": 106, "username": "build", "password": "correct-horse"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/{guest}/agent/set-user-password")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        // One character per byte, as PVE hands it on.
        let password = to_wire(self.password.expose_secret());
        if !LENGTH.contains(&password.chars().count()) {
            return Err(Fault::bad_input("the password is too short or too long")
                .hint("send 5 to 1024 characters"));
        }
        let guest = vm::vm(cx, self.vmid, self.node.as_ref()).await?;
        let config = guest.config().await?;
        let user = clean::line(&self.username);
        let says = format!("Set the password of {user} in {}", guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let asked = (Right::Unrestricted, "guest-set-user-password");
        let about = (&guest, &config);
        let mut plan = vm::plan(&Self::SPEC, about, asked, summary).await?;
        plan.impact.push(
            Impact::new(Effect::Changed, "user", user).note("whoever has the password can log in"),
        );
        plan.undo = Undo::Impossible {
            because: "the old password is not known; set it anew if you know it".to_owned(),
        };
        let hole = plan.secret("password", password.into());
        let mut request = Request::post(guest.at.path("agent/set-user-password"))
            .with("username", to_wire(&self.username))
            .with("password", hole);
        if self.crypted {
            request = request.with("crypted", true);
        }
        plan.steps.push(Step::request(says, request));
        Ok(plan)
    }
}
