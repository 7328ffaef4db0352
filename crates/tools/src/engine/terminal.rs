//! Lines and programs on a guest's terminal. PVE acknowledges nothing of what is typed; what comes back is all there is.

use std::time::Duration;

use pve::console::{Program, Size, Terminal, Until, Waited};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::Engine;
use super::report::Report;
use super::step::{Known, refused};
use crate::clean::REDACTED;
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::{Plan, TerminalExec, TerminalLine};
use crate::terminal::{Found, OPENING, STILL, head, tail};
use crate::tool::Object;

/// Lines of what came that are shown.
const LINES: usize = 200;
/// Ctrl-c.
const INTERRUPT: &[u8] = b"\x03";

/// A step that stopped before it typed anything.
fn untyped(why: &str) -> Known {
    Known::new(StepState::Failed, format!("{why}; nothing was typed"))
}

/// A step that broke off after it typed something.
fn doubtful(error: &pve::Error) -> Known {
    Known::new(
        StepState::Unknown,
        format!(
            "it was typed, then: {}; see what came of it with read_vm_terminal",
            explain(error)
        ),
    )
}

#[expect(
    clippy::disallowed_types,
    reason = "the engine hands its writer to its own steps"
)]
impl Engine {
    /// Types the line of a step.
    pub(super) async fn type_line(
        &self,
        writer: &pve::Writer,
        plan: &Plan,
        line: &TerminalLine,
        report: &Report,
    ) -> Result<Known, Known> {
        let secret = plan.secrets.text(&line.line);
        let text = secret.ok_or_else(|| untyped("the secret text is missing"))?;
        let (mut terminal, found) = self.terminal(writer, plan, &line.at).await?;
        if found != line.found && found.is_somebodys() {
            let now = found.words();
            return Err(untyped(&format!(
                "the terminal {now} by now, which was not so when this was planned"
            )));
        }
        if let Some(why) = self.stopped(report) {
            return Err(untyped(&why));
        }
        if line.interrupts {
            terminal
                .send(INTERRUPT)
                .await
                .map_err(|error| doubtful(&error))?;
            let quiet = terminal.wait(&Until::Quiet(STILL), OPENING).await;
            quiet.map_err(|error| doubtful(&error))?;
        }
        let typed = format!("{}\r", text.expose_secret());
        let sent = terminal.send(typed.as_bytes()).await;
        sent.map_err(|error| doubtful(&error))?;
        let until = match &line.until {
            Some(text) => Until::Text(text.clone()),
            None => Until::Quiet(STILL),
        };
        let within = Duration::from_secs(line.within);
        let waited = terminal.wait(&until, within).await;
        let waited = waited.map_err(|error| doubtful(&error))?;
        if waited == Waited::Found && line.until.is_some() {
            // The rest of that line, and the prompt after it.
            let rest = terminal.wait(&Until::Quiet(STILL), OPENING).await;
            rest.map_err(|error| doubtful(&error))?;
        }
        let is_secret = matches!(line.line, pve::Value::Hole(_));
        Ok(came(line, &terminal, waited, is_secret.then_some(&text)))
    }

    /// Runs the program of a step at the prompt of a shell.
    pub(super) async fn run_at_prompt(
        &self,
        writer: &pve::Writer,
        plan: &Plan,
        exec: &TerminalExec,
        report: &Report,
    ) -> Result<Known, Known> {
        let words = exec.command.iter().map(|word| plan.secrets.text(word));
        let words: Option<Vec<SecretString>> = words.collect();
        let words = words.ok_or_else(|| untyped("a secret of the command is missing"))?;
        let (mut terminal, found) = self.terminal(writer, plan, &exec.at).await?;
        if found != Found::Prompt {
            return Err(untyped(&no_prompt(found)));
        }
        if let Some(why) = self.stopped(report) {
            return Err(untyped(&why));
        }
        let mark = crate::keys::hex(&crate::keys::random::<8>());
        let words: Vec<&str> = words.iter().map(ExposeSecret::expose_secret).collect();
        let program = Program::new(&words, &mark);
        let sent = terminal.send(program.line().as_bytes()).await;
        sent.map_err(|error| doubtful(&error))?;
        let end = Until::Bytes(program.end_mark().into());
        let within = Duration::from_secs(exec.within);
        let waited = terminal.wait(&end, within).await;
        waited.map_err(|error| doubtful(&error))?;
        // The end mark is there; the exit code behind it and the prompt may still be on the way.
        let rest = terminal.wait(&Until::Quiet(STILL / 3), OPENING).await;
        rest.map_err(|error| doubtful(&error))?;
        Ok(ran(exec, &program, &terminal))
    }

    /// Opens a terminal and sees how it stands. Nothing is typed.
    async fn terminal(
        &self,
        writer: &pve::Writer,
        plan: &Plan,
        at: &pve::GuestRef,
    ) -> Result<(Terminal, Found), Known> {
        let mut terminal = match writer.terminal(at, Size::default(), OPENING).await {
            Ok(terminal) => terminal,
            Err(error) => {
                let cluster = self.cluster(&plan.cluster);
                let pve = &cluster.map_err(|fault| untyped(&fault.message))?.pve;
                let known = refused(pve, plan, &error).await;
                return Err(untyped(&known.detail.unwrap_or_default()));
            }
        };
        let waited = terminal.wait(&Until::Quiet(STILL), OPENING).await;
        let waited = waited.map_err(|error| untyped(&explain(&error)))?;
        let screen = terminal.screen();
        if waited == Waited::Closed {
            let last = crate::words::clip(&screen.text(), 200);
            return Err(untyped(&format!("the terminal closed and said: {last}")));
        }
        let found = Found::on(screen);
        Ok((terminal, found))
    }
}

/// What came after a line.
fn came(
    line: &TerminalLine,
    terminal: &Terminal,
    waited: Waited,
    secret: Option<&SecretString>,
) -> Known {
    let mut text = terminal.news().text();
    if let Some(secret) = secret.filter(|secret| !secret.expose_secret().is_empty()) {
        // A terminal that asked for something else than a password has shown it.
        text = text.replace(secret.expose_secret(), REDACTED);
    }
    let (text, cut) = tail(&text, LINES);
    let (state, how) = match (waited, &line.until) {
        (Waited::Found, Some(until)) => (StepState::Done, format!("{until:?} came")),
        (Waited::Found, None) => (StepState::Done, "the terminal is quiet".to_owned()),
        (Waited::TimeUp, Some(until)) => (
            StepState::Unknown,
            format!("{until:?} did not come within {} s", line.within),
        ),
        (Waited::TimeUp, None) => (StepState::Done, "the terminal still writes".to_owned()),
        (Waited::Closed, _) => (StepState::Unknown, "then the terminal closed".to_owned()),
    };
    let mut detail = format!("the line was typed, {how}");
    if line.found.is_somebodys() {
        detail = format!("{detail}; before it, the terminal {}", line.found.words());
    }
    detail = format!("{detail}; now it {}", Found::on(terminal.screen()).words());
    if cut {
        detail.push_str("; only the end of what came is shown");
    }
    Known {
        result: Some(Object::from_iter([("terminal".to_owned(), json!(text))])),
        ..Known::new(state, detail)
    }
}

/// What came of a program.
fn ran(exec: &TerminalExec, program: &Program, terminal: &Terminal) -> Known {
    let Some(ran) = program.read(terminal.raw_news()) else {
        return Known::new(
            StepState::Unknown,
            "it was typed, and nothing shows that it began; see the terminal with read_vm_terminal",
        );
    };
    let (output, is_cut) = head(&ran.output);
    let truncated = is_cut || terminal.lost_news();
    let mut result = Object::from_iter([("output".to_owned(), json!(output))]);
    if truncated {
        result.insert("truncated".to_owned(), json!(true));
    }
    let (state, mut detail) = match ran.code {
        Some(code) => {
            result.insert("exit_code".to_owned(), json!(code));
            (StepState::Done, format!("it ended with exit code {code}"))
        }
        None => (
            StepState::Unknown,
            format!(
                "it has not ended within {} s and runs on in the terminal; read_vm_terminal shows how it goes",
                exec.within
            ),
        ),
    };
    if truncated {
        detail.push_str("; not all of its output is shown");
    }
    Known {
        result: Some(result),
        ..Known::new(state, detail)
    }
}

/// Why a program cannot be run there, and what to do.
fn no_prompt(found: Found) -> String {
    match found {
        Found::Login | Found::Password | Found::Blank => format!(
            "the container's terminal {} instead of a shell: cmode: shell takes effect at a restart, and a login session that is open stays attached until it ends; restart the container with stop_proxmox_vm (action reboot)",
            found.words()
        ),
        Found::HalfTyped | Found::Busy | Found::Prompt => format!(
            "the container's terminal {}: it may be somebody's; see it with read_vm_terminal, and try again once it waits for a command",
            found.words()
        ),
    }
}
