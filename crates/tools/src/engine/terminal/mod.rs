//! Typing on a guest's terminal. PVE acknowledges nothing of what is typed; what comes back is all there is.

mod line;
mod program;

use std::time::{Duration, Instant};

use pve::console::{Size, Terminal, Until, Waited};

use super::Engine;
use super::read_back::Known;
use super::report::Report;
use super::step::refused;
use crate::clean;
use crate::fault::explain;
use crate::outcome::StepState;
use crate::plan::Plan;
use crate::terminal::{Found, OPENING, STILL};
use crate::words;

/// How often whoever waits looks whether that was cancelled. Longer than a terminal must be still to be called so.
const GLANCE: Duration = Duration::from_secs(1);

/// A step that stopped before it typed anything.
fn untyped(why: &str) -> Known {
    Known::new(StepState::Failed, format!("{why}; nothing was typed"))
}

/// A step that broke off after it typed something.
fn doubtful(error: &pve::Error) -> Known {
    let why = explain(error);
    Known::new(StepState::Unknown, format!("it was typed, then: {why}"))
}

/// How waiting for a terminal ended.
enum Heard {
    /// By itself.
    Waited(Waited),
    /// Somebody does not want to wait any longer.
    Cancelled(String),
}

/// Waits for something on a terminal, unless that is cancelled.
async fn hear(
    terminal: &mut Terminal,
    until: &Until,
    within: Duration,
    report: &Report,
) -> Result<Heard, Known> {
    let deadline = Instant::now() + within;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = terminal.wait(until, left.min(GLANCE)).await;
        let waited = waited.map_err(|error| doubtful(&error))?;
        if waited != Waited::TimeUp || left <= GLANCE {
            return Ok(Heard::Waited(waited));
        }
        if let Some(by) = report.cancelled_by().await {
            return Ok(Heard::Cancelled(by));
        }
    }
}

impl Engine {
    /// Opens a terminal and sees how it stands. Nothing is typed.
    #[expect(
        clippy::disallowed_types,
        reason = "the engine hands its writer to its own steps"
    )]
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
            // On one line: it is the guest's, and must not look like ours.
            let last = words::clip(&clean::line(&screen.text()), 200);
            return Err(untyped(&format!("the terminal closed and said: {last}")));
        }
        let found = Found::on(screen);
        Ok((terminal, found))
    }
}
