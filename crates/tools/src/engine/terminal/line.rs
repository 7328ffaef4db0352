//! A line on a guest's terminal.

use std::time::Duration;

use pve::console::{Terminal, Until, Waited};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::{Heard, doubtful, hear, untyped};
use crate::clean::{self, REDACTED};
use crate::engine::Engine;
use crate::engine::halt_point;
use crate::engine::read_back::Known;
use crate::engine::report::Report;
use crate::outcome::StepState;
use crate::plan::{Plan, TerminalLine};
use crate::terminal::{Found, OPENING, STILL, tail};
use crate::tool::Object;

/// Lines of what came that are shown.
const LINES: usize = 200;
/// Ctrl-c.
const INTERRUPT: &[u8] = b"\x03";

#[expect(
    clippy::disallowed_types,
    reason = "the engine hands its writer to its own steps"
)]
impl Engine {
    /// Types the line of a step.
    pub(in crate::engine) async fn type_line(
        &self,
        writer: &pve::Writer,
        plan: &Plan,
        line: &TerminalLine,
        report: &Report,
    ) -> Result<Known, Known> {
        let secret = plan.secrets.text(&line.line);
        let text = secret.ok_or_else(|| untyped("the secret text is missing"))?;
        let is_secret = matches!(line.line, pve::Value::Hole(_));
        let (mut terminal, found) = self.terminal(writer, plan, &line.at).await?;
        if !line.found.still_fits(found) || is_secret && line.found.is_safer_than(found) {
            return Err(untyped(&changed(found)));
        }
        if let Some(why) = self.stopped(report).await {
            return Err(untyped(&why));
        }
        if line.interrupts {
            let found = interrupt(&mut terminal).await?;
            let now = is_secret && line.found.is_safer_than(found);
            let why = if now {
                Some(changed(found))
            } else {
                self.stopped(report).await
            };
            if let Some(why) = why {
                let detail = format!("ctrl-c was pressed, then: {why}; the line was not typed");
                return Err(Known::new(StepState::Failed, detail));
            }
        }
        // A secret presses no Enter: what it does is decided by a call that everybody can read.
        let enter = if is_secret { "" } else { "\r" };
        let typed = SecretString::from(format!("{}{enter}", text.expose_secret()));
        let sent = terminal.send(typed.expose_secret().as_bytes()).await;
        sent.map_err(|error| doubtful(&error))?;
        halt_point::at("sent").await;
        let until = match &line.until {
            Some(text) => Until::Text(text.clone()),
            None => Until::Quiet(STILL),
        };
        let within = Duration::from_secs(line.within);
        let heard = hear(&mut terminal, &until, within, report).await?;
        halt_point::at("answered").await;
        if matches!(heard, Heard::Waited(Waited::Found)) && line.until.is_some() {
            // The rest of that line, and the prompt after it.
            let rest = terminal.wait(&Until::Quiet(STILL), OPENING).await;
            rest.map_err(|error| doubtful(&error))?;
        }
        Ok(came(line, &terminal, &heard, is_secret.then_some(&text)))
    }
}

/// Why a line that was planned for something else is not typed.
fn changed(found: Found) -> String {
    let now = found.words();
    format!("the terminal {now} by now, which was not so when this was planned")
}

/// Presses ctrl-c, and sees how the terminal stands then.
async fn interrupt(terminal: &mut Terminal) -> Result<Found, Known> {
    let sent = terminal.send(INTERRUPT).await;
    sent.map_err(|error| doubtful(&error))?;
    let quiet = terminal.wait(&Until::Quiet(STILL), OPENING).await;
    quiet.map_err(|error| doubtful(&error))?;
    Ok(Found::on(terminal.screen()))
}

/// What came after a line.
fn came(
    line: &TerminalLine,
    terminal: &Terminal,
    heard: &Heard,
    secret: Option<&SecretString>,
) -> Known {
    let mut text = terminal.news().text();
    if let Some(secret) = secret {
        text = without(&text, secret.expose_secret());
    }
    let (text, cut) = tail(&text, LINES);
    let (state, how) = ending(line, heard);
    let what = match secret {
        Some(_) => "the secret was typed without Enter",
        None => "the line was typed",
    };
    let mut detail = format!("{what}, {how}");
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

/// How waiting for what comes after a line ended.
fn ending(line: &TerminalLine, heard: &Heard) -> (StepState, String) {
    let waited = match heard {
        Heard::Waited(waited) => waited,
        Heard::Cancelled(by) => {
            let how = format!("then {by} cancelled the wait for what comes of it");
            return (StepState::Unknown, how);
        }
    };
    match (waited, &line.until) {
        (Waited::Found, Some(until)) => (StepState::Done, format!("{until:?} came")),
        (Waited::Found, None) => (StepState::Done, "the terminal is quiet".to_owned()),
        (Waited::TimeUp, Some(until)) => (
            StepState::Unknown,
            format!("{until:?} did not come within {} s", line.within),
        ),
        (Waited::TimeUp, None) => (StepState::Done, "the terminal still writes".to_owned()),
        (Waited::Closed, _) => (StepState::Unknown, "then the terminal closed".to_owned()),
    }
}

/// A text without a secret: a terminal that asked for something else than a password has shown it. All of the text goes
/// where the secret is in there in another form than it was typed in, as with a line end or lost blanks in between.
fn without(text: &str, secret: &str) -> String {
    if secret.trim().is_empty() {
        return text.to_owned();
    }
    let text = text.replace(secret, REDACTED);
    let dense = |text: &str| -> String {
        let text = clean::line(text);
        text.chars().filter(|c| !c.is_whitespace()).collect()
    };
    let parts: Vec<String> = text.split(REDACTED).map(dense).collect();
    if parts.iter().any(|part| part.contains(&dense(secret))) {
        return REDACTED.to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_in_whatever_form_it_came() {
        assert_eq!(without("a hunter2 b", "hunter2"), "a <redacted> b");
        assert_eq!(without("a hun\nter2 b", "hunter2"), REDACTED);
        assert_eq!(without("# hunter2\nnot found", "hunter2 "), REDACTED);
        assert_eq!(without("# hunter2", "hun\u{200b}ter2"), REDACTED);
        assert_eq!(without("a b", " "), "a b");
        assert_eq!(without("a b", "hunter2"), "a b");
    }
}
