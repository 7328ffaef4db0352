//! A program at the prompt of a shell on a guest's terminal.

use std::time::Duration;

use pve::console::{Program, Terminal, Until, Waited};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{Heard, doubtful, hear, untyped};
use crate::engine::Engine;
use crate::engine::halt_point;
use crate::engine::read_back::Known;
use crate::engine::report::Report;
use crate::outcome::StepState;
use crate::plan::{Plan, TerminalExec};
use crate::terminal::{Found, head};
use crate::tool::Object;

impl Engine {
    /// Runs the program of a step at the prompt of a shell.
    #[expect(
        clippy::disallowed_types,
        reason = "the engine hands its writer to its own steps"
    )]
    pub(in crate::engine) async fn run_at_prompt(
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
        if let Some(why) = self.stopped(report).await {
            return Err(untyped(&why));
        }
        let mark = crate::keys::hex(&crate::keys::random::<8>());
        let words: Vec<&str> = words.iter().map(ExposeSecret::expose_secret).collect();
        let program = Program::new(&words, &mark);
        let sent = terminal.send(program.line().as_bytes()).await;
        sent.map_err(|error| doubtful(&error))?;
        halt_point::at("sent").await;
        let end = Until::Line(program.end_mark().into());
        let within = Duration::from_secs(exec.within);
        let heard = hear(&mut terminal, &end, within, report).await?;
        halt_point::at("answered").await;
        Ok(ran(exec, &program, &terminal, &heard))
    }
}

/// What came of a program.
fn ran(exec: &TerminalExec, program: &Program, terminal: &Terminal, heard: &Heard) -> Known {
    let Some(ran) = program.read(terminal.raw_news()) else {
        let why = unheard(exec, heard);
        let detail = format!("it was typed, and nothing shows that it began: {why}");
        return Known::new(StepState::Unknown, detail);
    };
    let (output, is_cut) = head(&ran.output);
    let truncated = is_cut || terminal.lost_news();
    let mut result = Object::from_iter([("output".to_owned(), json!(output))]);
    if truncated {
        result.insert("truncated".to_owned(), json!(true));
    }
    let (state, mut detail) = match (ran.code, heard) {
        (Some(code), _) => {
            result.insert("exit_code".to_owned(), json!(code));
            (StepState::Done, format!("it ended with exit code {code}"))
        }
        (None, Heard::Waited(Waited::Found)) => {
            let detail = "it ended, and what the shell says of its exit code is no number";
            (StepState::Unknown, detail.to_owned())
        }
        (None, Heard::Waited(Waited::Closed)) => {
            let detail = "it began, then the terminal closed; whether it goes on is not known";
            (StepState::Unknown, detail.to_owned())
        }
        (None, _) => {
            let why = unheard(exec, heard);
            let detail = format!(
                "{why}, and it runs on in the terminal; send_vm_terminal_line with ctrl_c ends it"
            );
            (StepState::Unknown, detail)
        }
    };
    if truncated {
        detail.push_str("; not all of its output is shown");
    }
    Known {
        result: Some(result),
        ..Known::new(state, detail)
    }
}

/// Why nobody waits any longer for what a program writes.
fn unheard(exec: &TerminalExec, heard: &Heard) -> String {
    match heard {
        Heard::Waited(Waited::Found) => "only its end was seen".to_owned(),
        Heard::Waited(Waited::Closed) => "the terminal closed".to_owned(),
        Heard::Waited(Waited::TimeUp) => format!("it has not ended within {} s", exec.within),
        Heard::Cancelled(by) => format!("{by} cancelled the wait"),
    }
}

/// Why a program cannot be run there, and what to do.
fn no_prompt(found: Found) -> String {
    match found {
        Found::Blank => "the container's terminal shows nothing: most likely a program runs there, perhaps that of an earlier call, which send_vm_terminal_line with ctrl_c ends (toolset console); or a login waits there from before cmode: shell was set, and stop_proxmox_vm with action reboot brings the shell".to_owned(),
        Found::Login | Found::Password => format!(
            "the container's terminal {} instead of a shell: cmode: shell takes effect at a restart, and a login session that is open stays attached until it ends; restart the container with stop_proxmox_vm (action reboot)",
            found.words()
        ),
        Found::HalfTyped | Found::Busy | Found::Prompt => format!(
            "the container's terminal {}: it may be somebody's; see it with read_vm_terminal (toolset console), and try again once it waits for a command",
            found.words()
        ),
    }
}
