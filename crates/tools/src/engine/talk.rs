//! How the engine reaches the person or program at the other end of a call.

use futures_util::future::BoxFuture;

use super::Question;
use crate::fault::Fault;

/// What the transport of a call can do meanwhile.
pub trait Talk: Send + Sync {
    /// Tells how far a change is.
    fn progress(&self, progress: Progress);
    /// Puts a question to a person.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked>;
    /// Whether the caller has gone. What was not begun by then is not sent, and nothing more is typed.
    fn gone(&self) -> bool {
        false
    }
    /// Fails if the caller may not call any more: the token that the call came with was revoked meanwhile. Asked right
    /// before the first step is sent.
    fn admitted(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async { Ok(()) })
    }
}

/// How far a change is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// 0 to 1, where PVE says.
    pub fraction: Option<f64>,
    /// What is going on, with the task's last log line.
    pub message: String,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A person said yes.
    Yes {
        /// Who, as far as the transport can tell.
        by: String,
        /// Also for the next ten minutes of key presses on this guest.
        lease: bool,
    },
    /// A person said no.
    No {
        /// Who.
        by: String,
    },
    /// They were asked and have not decided: dismissed, timed out, cut off.
    Undecided,
    /// The answer comes in a second call.
    Later,
    /// Nobody can be asked here.
    Nobody,
}

/// Nobody is there: no progress, no questions.
pub struct Silent;

impl Talk for Silent {
    fn progress(&self, _: Progress) {}

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async { Asked::Nobody })
    }
}
