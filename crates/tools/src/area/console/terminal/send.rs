//! send_vm_terminal_line

use pve::console::Waited;
use pve::{NodeName, Vmid};
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use super::super::input::Input;
use crate::clean;
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need;
use crate::plan::{Action, Blocker, Plan, Step, TerminalLine, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset, Wants};
use crate::terminal::{self, Found};
use crate::tool::Changes;
use crate::words;

/// Bytes of a line that every terminal takes at once.
const MOST: usize = 2000;
/// Characters of a line that a sentence shows.
const SHOWN: usize = 500;

/// Types one line on the terminal of a container, or of a VM with a serial port, and returns the text that comes.
///
/// Use it to log in, to answer a program, or for a command whose exit code does not matter; run_proxmox_vm_command tells
/// exit codes. An empty line makes a prompt appear. The session on a terminal stays when nobody watches and may be
/// somebody's: the preview says if a line is half typed or a program runs; ctrl_c drops or ends that first. A person must
/// approve each call; you cannot confirm it yourself. The guest must be running, and the cluster configured with user and
/// password: PVE lets no API token into terminals. Needs VM.Console. It cannot be undone.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct SendTerminalLine {
    /// The guest's id.
    vmid: Vmid,
    /// The line, without its end.
    line: Option<String>,
    /// Instead of line: a password of at most 128 characters. Only the person who approves it sees it; it is not recorded.
    /// It presses no Enter: line "" does that.
    #[schemars(with = "Option<String>")]
    secret: Option<SecretString>,
    /// Press ctrl-c first.
    #[serde(default)]
    ctrl_c: bool,
    /// Wait for this text to come; until it is quiet if left out.
    wait_for: Option<String>,
    /// Seconds to wait; 10 if left out.
    #[schemars(range(min = 1, max = 40))]
    timeout: Option<u64>,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

impl Changes for SendTerminalLine {
    const SPEC: Spec = Spec {
        name: "send_vm_terminal_line",
        title: "Type a line on a guest's terminal",
        toolset: Toolset::Console,
        risk: Risk::Grant,
        idempotent: false,
        special: Special {
            always: true,
            wants: &[Wants::Login],
            ..Special::NONE
        },
        needs: need::CONSOLE,
        examples: &[
            Example {
                ask: "Press enter on the DNS container's terminal",
                args: r#"{"vmid": 200, "line": "", "wait_for": "login:"}"#,
            },
            Example {
                ask: "Type the password at the build server's serial console",
                args: r#"{"vmid": 106, "secret": "demo"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::TerminalLine];

    async fn plan(mut self, cx: &Context) -> Result<Plan, Fault> {
        let typed = self.typed()?;
        let is_secret = matches!(typed, Input::Secret(_));
        let guest = super::guest(cx, self.vmid, self.node.as_ref()).await?;
        let what = match &typed {
            Input::Secret(_) => typed.label(),
            Input::Plain(text) if text.is_empty() => "an empty line".to_owned(),
            Input::Plain(text) => format!("{:?}", words::clip(&clean::line(text), SHOWN)),
        };
        let says = format!("Type {what} on the terminal of {}", guest.label());
        let mut plan = self
            .frame(&guest, format!("{says} on {}", guest.at.node))
            .await?;
        let found = match &plan.blockers[..] {
            [] => look(&guest, &mut plan).await?,
            _ => Found::Blank,
        };
        if is_secret && !matches!(found, Found::Password | Found::Blank) {
            plan.warnings.push(format!(
                "the terminal {}: a secret typed there is shown to whoever looks at it",
                found.words()
            ));
        }
        let line = typed.into_value(&mut plan);
        let line = TerminalLine {
            at: guest.at.clone(),
            line,
            interrupts: self.ctrl_c,
            found,
            until: self.wait_for,
            within: self.timeout.unwrap_or(10),
        };
        plan.steps.push(Step::new(says, Action::TerminalLine(line)));
        Ok(plan)
    }
}

/// How the terminal stands, with a warning where it may be somebody's.
async fn look(guest: &Guest, plan: &mut Plan) -> Result<Found, Fault> {
    let (view, waited) = terminal::watch(guest.pve(), &guest.at).await?;
    if waited == Waited::Closed {
        let last = words::clip(&clean::line(&view.screen().text()), SHOWN);
        plan.blockers.push(Blocker::new(
            format!("the terminal closed at once and said: {last}"),
            "mend that, or try again once the guest has come up",
        ));
    }
    let found = Found::on(view.screen());
    if found.is_somebodys() {
        plan.warnings.push(format!(
            "the terminal {}: it may be somebody's, and the line is typed into that; read_vm_terminal shows it",
            found.words()
        ));
    }
    Ok(found)
}

impl SendTerminalLine {
    /// The plan without its step.
    async fn frame(&self, guest: &Guest, summary: String) -> Result<Plan, Fault> {
        let config = guest.config().await?;
        let does = "its terminal receives the line";
        let mut plan = super::frame(&Self::SPEC, guest, &config, (summary, does)).await?;
        if self.ctrl_c {
            plan.warnings
                .push("ctrl-c goes first: it ends what runs in the foreground there".to_owned());
        }
        plan.undo = Undo::Impossible {
            because: "what was typed cannot be undone".to_owned(),
        };
        Ok(plan)
    }

    /// The text to type, checked before anything is sent.
    fn typed(&mut self) -> Result<Input, Fault> {
        let typed = match (self.line.take(), self.secret.take()) {
            (Some(text), None) => Input::Plain(text),
            (None, Some(_)) if self.wait_for.is_some() => {
                return Err(Fault::bad_input(
                    "a secret is typed without Enter, so that nothing answers it; nothing was typed",
                )
                .hint("send secret without wait_for; then press Enter with line \"\", and wait_for there"));
            }
            (None, Some(secret)) => Input::secret(secret)?,
            (Some(_), Some(_)) => {
                return Err(Fault::bad_input("line and secret were both given")
                    .hint("send one of them; type the other in a second call"));
            }
            (None, None) => {
                return Err(Fault::bad_input("there is nothing to type")
                    .hint("send line (\"\" presses Enter), or secret for a password"));
            }
        };
        let text = typed.expose();
        let length = text.len();
        if length > MOST {
            return Err(
                Fault::bad_input(format!("{length} bytes are too many for one line"))
                    .hint(format!("send at most {MOST}")),
            );
        }
        if text.chars().any(char::is_control) {
            return Err(
                Fault::bad_input("the line holds a line end or another control character")
                    .hint("send one line at a time; ctrl_c presses ctrl-c"),
            );
        }
        if text.is_empty() && matches!(typed, Input::Secret(_)) {
            return Err(
                Fault::bad_input("the secret is empty: there is nothing to type")
                    .hint("send line \"\" to press Enter"),
            );
        }
        Ok(typed)
    }
}
