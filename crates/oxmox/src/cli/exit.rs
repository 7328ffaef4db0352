//! What the exit code tells a script.

use std::process::ExitCode;

use tools::fault::{Fault, Kind};
use tools::outcome::Status;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// As asked, or it goes on as asked.
    Done = 0,
    /// It did not work, or a person said no.
    Failed = 1,
    /// The command line, an argument or the configuration is wrong.
    Usage = 2,
    /// Sent, and nobody can say whether it took effect.
    Unknown = 3,
    /// It waits for a person.
    NeedsConfirmation = 4,
    /// Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<&Fault> for Exit {
    fn from(fault: &Fault) -> Self {
        match fault.kind {
            Kind::BadInput => Self::Usage,
            _ => Self::Failed,
        }
    }
}

impl From<Status> for Exit {
    fn from(status: Status) -> Self {
        match status {
            Status::Applied | Status::Running => Self::Done,
            Status::NotApplied | Status::Failed => Self::Failed,
            Status::Unknown => Self::Unknown,
            Status::NeedsConfirmation => Self::NeedsConfirmation,
        }
    }
}
