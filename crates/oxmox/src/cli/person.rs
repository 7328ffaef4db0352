//! The person at the terminal: who they are, whether they can be asked, what they say.

use std::io::{self, IsTerminal as _};

use super::out;

/// What somebody answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Yes.
    Yes,
    /// Yes, and for what follows too.
    YesAndMore,
    /// Anything else.
    No,
}

/// The name of the user that runs this process.
pub fn name() -> String {
    whoami::username().unwrap_or_else(|_| "unknown".to_owned())
}

/// Whether a question would be seen, and could be answered.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, and waits for a line. Blocks, so async code calls it on a thread of its own. Anything unclear is a no.
pub fn answer(question: &str) -> Reply {
    out::ask(question);
    let mut line = String::new();
    if io::stdin().read_line(&mut line).is_err() {
        return Reply::No;
    }
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Reply::Yes,
        "k" => Reply::YesAndMore,
        _ => Reply::No,
    }
}
