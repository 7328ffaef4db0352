//! The call itself, and what is printed of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tools::engine::{Call, Engine, Reply};
use tools::fault::{Fault, Kind};
use tools::outcome::{Outcome, Status, StepState};
use tools::spec::{Risk, Spec};
use tools::tool::{Object, Rendered};

use super::picture::Picture;
use super::{Flags, Global};
use crate::cli::exit::Exit;
use crate::cli::leave;
use crate::cli::out;
use crate::cli::terminal::Terminal;

/// The longest that the engine waits in one call, in seconds.
const WAIT: u64 = 600;
/// How long the end waits for steps that are on their way.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a change is looked at that takes longer than the engine waits.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A call that was asked for.
pub(super) struct Order {
    pub(super) spec: &'static Spec,
    pub(super) arguments: Object,
    pub(super) flags: Flags,
}

impl Order {
    /// Calls, prints the answer, and tells the exit code.
    pub(super) async fn perform(mut self, global: &Global) -> Result<Exit, Fault> {
        let picture = Picture::new(self.flags.picture.take())?;
        let session = global.session().await?;
        let engine = &session.engine;
        let changes = self.spec.risk > Risk::Read && !self.flags.preview;
        let terminal = Terminal::new(self.flags.yes);
        // There is no reason to give up early unless the caller said so.
        let to_the_end = changes && !self.arguments.contains_key("wait");
        // Where nobody can be asked, a wait would also be one for an approval from elsewhere: only if it was said.
        if to_the_end && terminal.has_an_answer() {
            self.arguments.insert("wait".to_owned(), Value::from(WAIT));
        }
        let mut call = Call::new(self.spec.name, self.arguments, &terminal.caller());
        call.preview = self.flags.preview;
        let answered = tokio::select! {
            reply = engine.call(call, &terminal) => reply,
            _ = tokio::signal::ctrl_c() => {
                terminal.clear();
                if terminal.is_asking() {
                    out::say("\nnothing was sent");
                    return Ok(Exit::Interrupted);
                }
                let (caller, program) = (terminal.caller(), global.program());
                leave::interrupted(engine, &caller, program, &leave::AtTerminal).await;
                return Ok(interrupted(engine, program).await);
            }
        };
        terminal.clear();
        if let Err(Fault {
            outcome: Some(outcome),
            ..
        }) = &answered
            && self.flags.json
        {
            self.flags.print(&Rendered::of(&**outcome)?)?;
        }
        let mut answer = match answered? {
            Reply::Done(answer) | Reply::Running(answer, _) => answer,
            // Only transports that say `Asked::Later` get questions back.
            Reply::Ask(_) => return Err(Fault::new(Kind::Internal, "a question came back")),
        };
        picture.keep(&answer.images);
        if !changes {
            self.flags.print(&answer)?;
            return Ok(Exit::Done);
        }
        let mut outcome = outcome(&answer)?;
        if outcome.status == Status::NeedsConfirmation && !self.flags.json {
            // Said below, in a person's words.
            (outcome.confirm, outcome.next) = (None, None);
            answer = Rendered::of(&outcome)?;
        }
        if to_the_end && outcome.status == Status::Running {
            outcome = last_word(engine, &terminal.caller(), global.program(), outcome).await?;
            answer = Rendered::of(&outcome)?;
        }
        self.flags.print(&answer)?;
        finish(engine, &outcome, global).await;
        Ok(outcome.status.into())
    }
}

impl Flags {
    fn print(&self, answer: &Rendered) -> Result<(), Fault> {
        if self.json {
            out::json(&answer.data)
        } else {
            out::data(&answer.text)
        }
    }
}

fn outcome(answer: &Rendered) -> Result<Outcome, Fault> {
    serde_json::from_value(Value::Object(answer.data.clone()))
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))
}

/// Waits on after the engine has stopped waiting, and reads how it ended.
async fn last_word(
    engine: &Arc<Engine>,
    caller: &str,
    program: &str,
    so_far: Outcome,
) -> Result<Outcome, Fault> {
    out::say("still going on; Ctrl-C ends the waiting");
    let ended = async {
        loop {
            let handle = engine.handle(&so_far.plan).await?;
            if handle.ended {
                return Ok(handle.outcome);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    tokio::select! {
        outcome = ended => outcome,
        _ = tokio::signal::ctrl_c() => {
            leave::interrupted(engine, caller, program, &leave::AtTerminal).await;
            Ok(engine.handle(&so_far.plan).await?.outcome)
        }
    }
}

/// Sees off what is on its way, and says what to do next.
async fn finish(engine: &Engine, outcome: &Outcome, global: &Global) {
    let (program, is_demo) = (global.program(), global.demo);
    if outcome.status == Status::NeedsConfirmation
        && let Ok(person) = engine.person_for(&outcome.plan).await
    {
        out::hint(format_args!("nobody could be asked here: {person}"));
    }
    // What the demo has done is gone with it.
    if outcome.status == Status::Applied && outcome.undo.is_some() && !is_demo {
        out::hint(format_args!(
            "`{program} undo {}` takes it back",
            outcome.plan
        ));
    }
    let complete = engine.drain(PATIENCE).await;
    let unsent = |outcome: &Outcome| {
        outcome
            .steps
            .iter()
            .any(|step| step.state == StepState::NotSent)
    };
    if !complete && unsent(outcome) {
        out::warn(
            "nobody waits any longer: PVE finishes what it has begun, and the steps after it are not sent",
        );
    }
}

/// Ctrl-C ends the waiting, not the work: what is being sent is finished, unless it is pressed again.
async fn interrupted(engine: &Arc<Engine>, program: &str) -> Exit {
    out::say("stopped waiting; finishing what was begun (Ctrl-C again leaves at once)");
    tokio::select! {
        _ = engine.drain(PATIENCE) => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    out::hint(format_args!(
        "`{program} audit` shows what was sent; tasks that PVE has started go on"
    ));
    Exit::Interrupted
}
