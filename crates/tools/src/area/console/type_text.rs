//! type_vm_text

use pve::Vmid;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use super::input::Input;
use super::target::{self, Way};
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::keyboard::{self, Layout};
use crate::need;
use crate::plan::{Action, Keys, Plan, Step, Tell, Typed};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// More characters than this are better brought in by another way.
const MOST: usize = 1000;
/// Milliseconds for which a key is held, of those that a character takes.
const HOLD: u64 = 10;
const PACE: u64 = 30;
/// More is needed for the press and the release of one key to reach the guest, at 10 ms each.
const FASTEST: u64 = 20;

/// Types text on a VM's console, key by key, as a person at its keyboard would.
///
/// Use it for login prompts, installers and shells that only the console reaches; for single keys and combinations
/// use send_vm_key. To run a command use run_proxmox_vm_command, which tells its exit code. The VM must be running,
/// and layout must be the one that the guest has set, or other characters appear: look shows them. Whatever has the
/// focus takes the text. A person must approve it; you cannot confirm it yourself. One approval can cover ten minutes of
/// keys on this VM, unless it is protected or the text is secret. Needs VM.Console. It cannot be undone.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct TypeVmText {
    /// The VM's id.
    vmid: Vmid,
    /// The text; line ends press enter.
    text: Option<String>,
    /// Instead of text: a password of at most 128 characters. Only the person who approves it sees it; it is not recorded.
    /// It presses no Enter: send_vm_key does that.
    #[schemars(with = "Option<String>")]
    secret: Option<SecretString>,
    /// Press Enter at the end of text.
    #[serde(default)]
    enter: bool,
    /// The guest's keyboard layout.
    #[serde(default)]
    layout: Layout,
    /// Milliseconds per character; more for slow firmware.
    #[schemars(range(min = 20, max = 1000))]
    pace: Option<u64>,
    /// Show the screen afterwards.
    #[serde(default)]
    look: bool,
}

impl Changes for TypeVmText {
    const SPEC: Spec = Spec {
        name: "type_vm_text",
        title: "Type text on a VM's console",
        toolset: Toolset::Core,
        risk: Risk::Grant,
        idempotent: false,
        special: Special {
            leasable: true,
            always: true,
            ..Special::NONE
        },
        needs: need::CONSOLE,
        examples: &[
            Example {
                ask: "Log in as root on the web server's console and show me the screen",
                args: r#"{"vmid": 100, "text": "root", "enter": true, "look": true}"#,
            },
            Example {
                ask: "Type the password on the desktop's German keyboard",
                args: r#"{"vmid": 110, "secret": "Straße-7", "layout": "de"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::Keys];

    async fn plan(mut self, cx: &Context) -> Result<Plan, Fault> {
        let pace = self.pace.unwrap_or(PACE).max(FASTEST);
        let typed = self.typed()?;
        let guest = target::vm(cx, self.vmid).await?;
        let says = format!("Type {} on {}", self.what(&typed), guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let mut plan = target::press_plan(&Self::SPEC, &guest, Way::Screen, summary).await?;
        // Whether a secret has characters that depend on it is a part of the secret.
        let depends = match &typed {
            Input::Plain(text) => self.layout.matters_for(text),
            Input::Secret(_) => true,
        };
        let text = typed.into_value(&mut plan);
        let keys = Keys {
            at: guest.at.clone(),
            typed: Typed::Text {
                text,
                layout: self.layout,
            },
            hold: HOLD,
            pause: pace.saturating_sub(HOLD),
        };
        if depends {
            plan.warnings.push(format!(
                "it is typed for a {} keyboard: with another layout set in the guest, other characters appear",
                self.layout.word()
            ));
        }
        let mut step = Step::new(says, Action::Keys(keys));
        if self.look {
            step = step.tells(Tell::Screen(guest.at.clone()));
        }
        plan.steps.push(step);
        Ok(plan)
    }
}

impl TypeVmText {
    /// `"ls -l" and press Enter`.
    fn what(&self, typed: &Input) -> String {
        let what = match typed {
            Input::Secret(_) => typed.label(),
            Input::Plain(text) => {
                let without_enter = text.strip_suffix('\n').filter(|_| self.enter);
                keyboard::shown(without_enter.unwrap_or(text))
            }
        };
        let enter = if self.enter { " and press Enter" } else { "" };
        format!("{what}{enter}")
    }

    /// The text to type, checked before anything is sent.
    fn typed(&mut self) -> Result<Input, Fault> {
        let typed = match (self.text.take(), self.secret.take()) {
            (Some(text), None) if self.enter => Input::Plain(format!("{text}\n")),
            (Some(text), None) => Input::Plain(text),
            (None, Some(_)) if self.enter => {
                return Err(Fault::bad_input(
                    "a secret is typed without Enter; nothing was typed",
                )
                .hint(format!(
                    "send secret without enter; then press it with send_vm_key {{\"vmid\": {}, \"key\": \"enter\"}}",
                    self.vmid
                )));
            }
            (None, Some(secret)) => Input::secret(secret)?,
            (Some(_), Some(_)) => {
                return Err(Fault::bad_input("text and secret were both given")
                    .hint("send one of them; type the other in a second call"));
            }
            (None, None) => return Err(nothing()),
        };
        let text = typed.expose();
        let count = text.chars().count();
        if count == 0 {
            return Err(nothing());
        }
        if count > MOST {
            let why = format!("{count} characters are too many to type at once");
            let hint = format!("send at most {MOST}; run_proxmox_vm_command takes longer input");
            return Err(Fault::bad_input(why).hint(hint));
        }
        if let Err(character) = keyboard::strokes(text, self.layout) {
            let which = match &typed {
                Input::Plain(_) => format!("{character:?}"),
                Input::Secret(_) => {
                    let place = text.chars().position(|c| c == character);
                    format!("character {} of the secret", place.unwrap_or_default() + 1)
                }
            };
            return Err(Fault::bad_input(format!(
                "{which} is not on a {} keyboard; nothing was typed",
                self.layout.word()
            ))
            .hint("send another layout (us, gb, de, fr) if the guest has it, or other text"));
        }
        Ok(typed)
    }
}

fn nothing() -> Fault {
    Fault::bad_input("there is nothing to type").hint("send text, or secret for a password")
}
