//! type_vm_text

use pve::{Value, Vmid};
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

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
/// focus takes the text. Asks for a confirmation, which a person can let cover ten minutes. Needs VM.Console. It
/// cannot be undone.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct TypeVmText {
    /// The VM's id.
    vmid: Vmid,
    /// The text; line ends press enter.
    text: Option<String>,
    /// Instead of text: a password, which is shown and recorded nowhere.
    #[schemars(with = "Option<String>")]
    secret: Option<SecretString>,
    /// Press enter at the end.
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
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special {
            leasable: true,
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
                args: r#"{"vmid": 110, "secret": "Straße-7", "enter": true, "layout": "de"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::Keys];

    async fn plan(mut self, cx: &Context) -> Result<Plan, Fault> {
        let pace = self.pace.unwrap_or(PACE).max(FASTEST);
        let (secret, is_secret) = self.typed()?;
        let guest = target::vm(cx, self.vmid).await?;
        let says = format!(
            "Type {} on {}",
            self.what(&secret, is_secret),
            guest.label()
        );
        let summary = format!("{says} on {}", guest.at.node);
        let mut plan = target::press_plan(&Self::SPEC, &guest, Way::Screen, summary).await?;
        // Whether a secret has characters that depend on it is a part of the secret.
        let depends = is_secret || self.layout.matters_for(secret.expose_secret());
        let text = if is_secret {
            plan.secret("secret", secret)
        } else {
            Value::from(secret.expose_secret())
        };
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
    /// `"ls -l" and press enter`.
    fn what(&self, typed: &SecretString, is_secret: bool) -> String {
        let typed = typed.expose_secret();
        let typed = match typed.strip_suffix('\n') {
            Some(typed) if self.enter => typed,
            _ => typed,
        };
        let what = if is_secret {
            "a secret".to_owned()
        } else {
            keyboard::shown(typed)
        };
        let enter = if self.enter { " and press enter" } else { "" };
        format!("{what}{enter}")
    }

    /// What is typed, and whether it is a secret; checked before anything is sent.
    fn typed(&mut self) -> Result<(SecretString, bool), Fault> {
        let (text, is_secret) = match (self.text.take(), self.secret.take()) {
            (Some(text), None) => (text, false),
            (None, Some(secret)) => (secret.expose_secret().to_owned(), true),
            (Some(_), Some(_)) => {
                return Err(Fault::bad_input("text and secret were both given")
                    .hint("send one of them; type the other in a second call"));
            }
            (None, None) => return Err(nothing()),
        };
        let text = if self.enter {
            format!("{text}\n")
        } else {
            text
        };
        let count = text.chars().count();
        if count == 0 {
            return Err(nothing());
        }
        if count > MOST {
            let what = if is_secret {
                "the secret is too long".to_owned()
            } else {
                format!("{count} characters are too many")
            };
            return Err(
                Fault::bad_input(format!("{what} to type at once")).hint(format!(
                    "send at most {MOST}; run_proxmox_vm_command takes longer input"
                )),
            );
        }
        if let Err(character) = keyboard::strokes(&text, self.layout) {
            let which = if is_secret {
                let place = text.chars().position(|c| c == character);
                format!("character {} of the secret", place.unwrap_or_default() + 1)
            } else {
                format!("{character:?}")
            };
            return Err(Fault::bad_input(format!(
                "{which} is not on a {} keyboard; nothing was typed",
                self.layout.word()
            ))
            .hint("send another layout (us, gb, de, fr) if the guest has it, or other text"));
        }
        Ok((SecretString::from(text), is_secret))
    }
}

fn nothing() -> Fault {
    Fault::bad_input("there is nothing to type").hint("send text, or secret for a password")
}
