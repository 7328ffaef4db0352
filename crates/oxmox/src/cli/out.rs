//! The one place that prints: data on stdout, talk on stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use tools::clean;
use tools::fault::{Fault, Kind};

use super::fold;

/// What the command was asked for, for people or for the next program in a pipe.
pub fn data(text: &str) -> Result<(), Fault> {
    written(&clean::text(text))
}

/// The same, of which the first part is a table: on a terminal its rows fit.
pub fn table(text: &str) -> Result<(), Fault> {
    let text = clean::text(text);
    match terminal_size::terminal_size_of(io::stdout()) {
        Some((width, _)) => written(&fold::folded(&text, width.0.into())),
        None => written(&text),
    }
}

/// The same as JSON. What a terminal would act on is escaped in it, and nothing is lost.
pub fn json(value: &impl Serialize) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    written(&clean::json(&text))
}

fn written(text: &str) -> Result<(), Fault> {
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

/// What is going on. PVE, and guests through it, have a say in much of it: what a terminal would act on is taken out here, for
/// all who talk.
pub fn say(text: impl Display) {
    labelled("", text);
}

/// The same without a line's end: a question.
pub fn ask(text: impl Display) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{}", clean::text(&text.to_string())).and_then(|()| stderr.flush());
}

/// What to do next.
pub fn hint(text: impl Display) {
    labelled(&label("hint:", "36"), text);
}

/// What a person should know, though it stops nothing.
pub fn warn(text: impl Display) {
    labelled(&label("warning:", "33"), text);
}

/// What went wrong, and what to do instead.
pub fn fault(fault: &Fault) {
    labelled(&label("error:", "31"), &fault.message);
    if let Some(text) = &fault.hint {
        hint(text);
    }
}

/// A heading between parts of a longer talk.
pub fn heading(text: impl Display) {
    let text = clean::text(&text.to_string());
    labelled(&format!("\n{}", label(&text, "1")), "");
}

fn labelled(label: &str, text: impl Display) {
    // Nobody listening is no reason to stop.
    let _ = writeln!(io::stderr().lock(), "{}", line_of(label, &text.to_string()));
}

/// The label is ours, the text is not.
fn line_of(label: &str, text: &str) -> String {
    let space = if label.is_empty() || text.is_empty() {
        ""
    } else {
        " "
    };
    format!("{label}{space}{}", clean::text(text))
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
    fn nobody_who_is_quoted_can_act_on_the_terminal() {
        let text = "no \u{1b}[2J\u{1b}]0;owned\u{7}vm\u{202e}gpj\u{9b}31m\nnext";
        assert_eq!(line_of("", text), "no [2J]0;ownedvmgpj31m\nnext");
        let label = "\u{1b}[1;31merror:\u{1b}[0m";
        assert_eq!(
            line_of(label, text),
            format!("{label} no [2J]0;ownedvmgpj31m\nnext")
        );
    }
}
