//! The one place that prints: data on stdout, talk on stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use tools::clean;
use tools::fault::{Fault, Kind};

/// What the command was asked for, for people or for the next program in a pipe.
pub fn data(text: &str) -> Result<(), Fault> {
    let mut stdout = io::stdout().lock();
    let ended = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    match write!(stdout, "{text}{ended}").and_then(|()| stdout.flush()) {
        // `oxmox tools | head` has what it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| {
            Fault::new(Kind::Internal, format!("stdout cannot be written: {error}"))
        }),
    }
}

/// The same as JSON.
pub fn json(value: &impl Serialize) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    data(&text)
}

/// What is going on.
pub fn say(text: impl Display) {
    // Nobody listening is no reason to stop.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The same without a line's end: a question.
pub fn ask(text: impl Display) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

/// What to do next.
pub fn hint(text: impl Display) {
    say(format_args!("{} {text}", label("hint:", "36")));
}

/// What a person should know, though it stops nothing.
pub fn warn(text: impl Display) {
    say(format_args!("{} {text}", label("warning:", "33")));
}

/// What went wrong, and what to do instead.
pub fn fault(fault: &Fault) {
    let (message, advice) = harmless(fault);
    say(format_args!("{} {message}", label("error:", "31")));
    if let Some(text) = advice {
        hint(text);
    }
}

/// A fault's message and hint without what a terminal would act on: PVE, and guests through it, have a say in both.
fn harmless(fault: &Fault) -> (String, Option<String>) {
    let advice = fault.hint.as_deref().map(clean::text);
    (clean::text(&fault.message), advice)
}

/// A heading between parts of a longer talk.
pub fn heading(text: impl Display) {
    say(format_args!("\n{}", label(&text.to_string(), "1")));
}

/// A word in colour, where colour is seen and wanted.
fn label(word: &str, colour: &str) -> String {
    if in_colour() {
        format!("\u{1b}[1;{colour}m{word}\u{1b}[0m")
    } else {
        word.to_owned()
    }
}

/// Whether stderr shows colour: <https://no-color.org>.
pub fn in_colour() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal()
        && !set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_cannot_act_on_the_terminal() {
        let fault = Fault::bad_input("no \u{1b}[2J\u{1b}]0;owned\u{7}vm\u{202e}gpj\nnext")
            .hint("try \u{9b}31m\u{2066}this");
        let (message, advice) = harmless(&fault);
        assert_eq!(message, "no [2J]0;ownedvmgpj\nnext");
        assert_eq!(advice.as_deref(), Some("try 31mthis"));
    }
}
