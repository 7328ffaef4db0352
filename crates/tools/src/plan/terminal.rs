//! What is typed on terminals.

use pve::{GuestRef, Value};
use serde::{Deserialize, Serialize};

use crate::terminal::Found;

/// One line on a terminal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TerminalLine {
    /// The guest.
    pub at: GuestRef,
    /// The line, or the hole of one that must not be seen.
    pub line: Value,
    /// Whether ctrl-c goes before it.
    pub interrupts: bool,
    /// How the terminal stood when it was planned. Who agreed to type there did not agree to type into something else.
    pub found: Found,
    /// What to wait for; else until the terminal is quiet.
    pub until: Option<String>,
    /// Seconds to wait.
    pub within: u64,
}

/// A program at the prompt of a container's terminal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TerminalExec {
    /// The container.
    pub at: GuestRef,
    /// The program and its arguments, or the holes of those that must not be seen.
    pub command: Vec<Value>,
    /// Seconds within which it should end.
    pub within: u64,
}
