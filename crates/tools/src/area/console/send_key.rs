//! send_vm_key

use pve::{Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use super::target::{self, Way};
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::inherited::InheritedArgument;
use crate::keyboard;
use crate::need;
use crate::plan::{Action, Keys, Plan, Step, Tell, Typed};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// More strokes than this are a text.
const MOST: usize = 50;
/// Milliseconds between two strokes.
const PAUSE: u64 = 50;

/// Presses keys or key combinations on a VM's console, as a person at its keyboard would.
///
/// Use it for what only a keyboard can do: ctrl-alt-delete at a login screen, a boot menu, a stuck prompt. For text
/// use type_vm_text; to end or restart a VM, stop_proxmox_vm. The VM must be running; containers have no keyboard.
/// What keys do is up to the screen (ctrl-alt-delete reboots many systems): look shows it. A person must approve it; you
/// cannot confirm it yourself. One approval can cover ten minutes of keys on this VM, unless it is protected. Needs
/// VM.Console. It cannot be undone.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct SendVmKey {
    /// The VM's id.
    vmid: Vmid,
    /// QEMU key names joined by "-": "ctrl-alt-delete", "ret", "f2"; also "enter", "esc", "A". Several: "down down ret".
    key: String,
    /// Milliseconds to hold each down.
    #[schemars(range(min = 1, max = 10_000))]
    hold: Option<u64>,
    /// Show the screen afterwards.
    #[serde(default)]
    look: bool,
}

impl Changes for SendVmKey {
    const SPEC: Spec = Spec {
        name: "send_vm_key",
        title: "Press a key on a VM's console",
        toolset: Toolset::Core,
        risk: Risk::Grant,
        idempotent: false,
        special: Special {
            inherited: &[InheritedArgument::Node],
            accepts_host: true,
            leasable: true,
            always: true,
            ..Special::NONE
        },
        needs: need::CONSOLE,
        examples: &[
            Example {
                ask: "Press ctrl-alt-delete on the desktop VM",
                args: r#"{"vmid": 110, "key": "ctrl-alt-delete"}"#,
            },
            Example {
                ask: "Press enter on the web server's console and show me what it says",
                args: r#"{"vmid": 100, "key": "enter", "look": true}"#,
            },
            Example {
                ask: "Choose the third entry of the boot menu",
                args: r#"{"vmid": 100, "key": "down down enter", "hold": 100}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::put("/nodes/{}/{guest}/sendkey"), Deed::Keys];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let combos = self.combos()?;
        let guest = target::vm(cx, self.vmid).await?;
        let pressed = combos.join(", then ");
        let says = format!("Press {pressed} on {}", guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let way = match (&combos[..], self.hold) {
            ([_], None) => Way::Monitor,
            _ => Way::Screen,
        };
        let mut plan = target::press_plan(&Self::SPEC, &guest, way, summary).await?;
        if let Some(combo) = combos.iter().find(|combo| keyboard::restarts(combo)) {
            plan.warnings.push(format!("{combo} restarts many systems"));
        }
        let mut step = if way == Way::Monitor {
            // One key goes the way that PVE has for it, which acknowledges it.
            let request = Request::put(guest.at.path("sendkey")).with("key", combos.concat());
            Step::request(says, request)
        } else {
            let keys = Keys {
                at: guest.at.clone(),
                typed: Typed::Combos(combos),
                hold: self.hold.unwrap_or(PAUSE),
                pause: PAUSE,
            };
            Step::new(says, Action::Keys(keys))
        };
        if self.look {
            step = step.tells(Tell::Screen(guest.at.clone()));
        }
        plan.steps.push(step);
        Ok(plan)
    }
}

impl SendVmKey {
    /// The combinations in QEMU's names, checked before anything is sent.
    fn combos(&self) -> Result<Vec<String>, Fault> {
        // A lone blank is the space bar; between keys, blanks part them.
        let words: Vec<&str> = match self.key.as_str() {
            " " => vec![" "],
            text => text.split_whitespace().collect(),
        };
        if words.len() > MOST {
            return Err(
                Fault::bad_input(format!("{} strokes at once are too many", words.len()))
                    .hint(format!("send at most {MOST}; type_vm_text types text")),
            );
        }
        if words.is_empty() {
            return keyboard::parse("").map(|key| vec![key]);
        }
        let combos: Vec<String> = words
            .into_iter()
            .map(keyboard::parse)
            .collect::<Result<_, _>>()?;
        let is_plain = combos.len() == 1 && self.hold.is_none();
        let unknown = |combo: &&String| keyboard::stroke(combo).is_none();
        if !is_plain && let Some(combo) = combos.iter().find(unknown) {
            return Err(Fault::bad_input(format!(
                "{combo} can be pressed only alone and without hold"
            ))
            .hint("send it in a call of its own"));
        }
        Ok(combos)
    }
}
