//! read_vm_terminal

use std::time::Duration;

use pve::console::{Until, Waited};
use pve::{GuestKind, NodeName, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::fault::Fault;
use crate::need;
use crate::spec::{Example, Risk, Spec, Special, Toolset, Wants};
use crate::terminal::{self, Found, OPENING, STILL};
use crate::tool::{Answer, Reads};
use crate::words::{self, line};

/// Lines that are shown if the caller does not say.
const LINES: usize = 60;

/// Reads what is on the terminal of a container, or of a VM with a serial port, as text.
///
/// Use it before and after send_vm_terminal_line, or to watch for a text (wait_for); for a VM's screen use
/// capture_vm_screen. It types nothing. Programs that do not draw themselves again show nothing at first, and a serial
/// port keeps nothing: then an empty line sent makes a prompt appear. The guest must be running, and the cluster
/// configured with user and password: PVE lets no API token into terminals. Needs VM.Console, and leaves a trace in the
/// audit log.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct ReadTerminal {
    /// The guest's id.
    vmid: Vmid,
    /// Wait for this text to come.
    wait_for: Option<String>,
    /// Seconds to wait for it; 10 if left out.
    #[schemars(range(min = 1, max = 40))]
    timeout: Option<u64>,
    /// Lines to show, from the end; 60 if left out.
    #[schemars(range(min = 1, max = 1000))]
    lines: Option<usize>,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

/// What was on the terminal.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::area) struct Shown {
    /// The guest's id.
    vmid: Vmid,
    /// The guest's name.
    name: String,
    /// What is shown.
    text: String,
    /// Whether older lines were left off.
    truncated: bool,
    /// What it seems to wait for.
    stands: String,
    /// Whether it closed by itself.
    closed: bool,
    /// With wait_for: whether it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<bool>,
    /// Why there may be more than can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Reads for ReadTerminal {
    const SPEC: Spec = Spec {
        name: "read_vm_terminal",
        title: "Read a guest's terminal",
        toolset: Toolset::Console,
        risk: Risk::Read,
        idempotent: true,
        special: Special {
            looks_inside: true,
            wants: &[Wants::Login],
            ..Special::NONE
        },
        needs: need::CONSOLE,
        examples: &[
            Example {
                ask: "What is on the DNS container's terminal?",
                args: r#"{"vmid": 200}"#,
            },
            Example {
                ask: "Does the build server say anything on its serial port?",
                args: r#"{"vmid": 106, "wait_for": "login:", "timeout": 1}"#,
            },
        ],
    };
    type Answer = Shown;

    async fn read(self, cx: &Context) -> Result<Shown, Fault> {
        let guest = super::guest(cx, self.vmid, self.node.as_ref()).await?;
        let config = guest.config().await?;
        if let Some(obstacle) = super::obstacle(&guest, &config).await? {
            return Err(Fault::refused(obstacle.because).hint(obstacle.instead));
        }
        let (mut view, mut waited) = terminal::watch(guest.pve(), &guest.at).await?;
        let mut found = None;
        if let Some(text) = &self.wait_for {
            let limit = Duration::from_secs(self.timeout.unwrap_or(10));
            waited = view.wait(&Until::Text(text.clone()), limit).await?;
            found = Some(waited == Waited::Found);
            if found == Some(true) {
                waited = view.wait(&Until::Quiet(STILL), OPENING).await?;
            }
        }
        let stands = Found::on(view.screen());
        let lines = self.lines.unwrap_or(LINES);
        let (text, truncated) = terminal::tail(&view.screen().text(), lines);
        Ok(Shown {
            vmid: guest.at.vmid,
            name: guest.name().to_owned(),
            text,
            truncated,
            stands: stands.words().to_owned(),
            closed: waited == Waited::Closed,
            found,
            note: (stands == Found::Blank).then(|| unseen(guest.at.kind).to_owned()),
        })
    }
}

/// Why a terminal may show nothing.
fn unseen(kind: GuestKind) -> &'static str {
    match kind {
        GuestKind::Qemu => {
            "a serial port keeps nothing of what was written before: send_vm_terminal_line with an empty line shows \
             what answers there"
        }
        GuestKind::Lxc => {
            "what runs there has not drawn itself again: send_vm_terminal_line with an empty line shows what answers"
        }
    }
}

impl Answer for Shown {
    fn text(&self) -> String {
        let mut out = format!(
            "terminal of {} ({}): it {}",
            self.vmid,
            crate::clean::line(&self.name),
            self.stands
        );
        match self.found {
            Some(true) => out.push_str("; the text came"),
            Some(false) => out.push_str("; the text did not come"),
            None => {}
        }
        if self.closed {
            out.push_str("; it closed");
        }
        if self.truncated {
            out.push_str("; older lines are left off");
        }
        out.push('\n');
        out.push_str(&words::each_set_off(self.text.lines()));
        if let Some(note) = &self.note {
            line!(out, "{note}");
        }
        out
    }
}
