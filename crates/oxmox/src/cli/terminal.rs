//! The terminal as the engine's other end: it shows progress, and puts questions to the person who typed the command.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use secrecy::ExposeSecret as _;
use tools::engine::{Asked, Progress, Question, Talk};
use tools::tool::Answer as _;

use super::person::{self, Reply};
use super::{out, progress};

/// A person at a terminal, or a script where one could be.
#[derive(Debug)]
pub struct Terminal {
    /// `--yes`: whoever typed it has said yes already.
    yes: bool,
    user: String,
    progress: progress::Display,
    asking: AtomicBool,
}

impl Terminal {
    /// The terminal of this process.
    pub fn new(yes: bool) -> Self {
        Self {
            yes,
            user: person::name(),
            progress: progress::Display::default(),
            asking: AtomicBool::new(false),
        }
    }

    /// Who calls, for confirmations and the audit trail.
    pub fn caller(&self) -> String {
        format!("cli:{}", self.user)
    }

    /// Whether a question would be answered: by a person, or by `--yes`.
    pub fn has_an_answer(&self) -> bool {
        self.yes || person::is_there()
    }

    /// Whether a question is open: then nothing was sent yet.
    pub fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Relaxed)
    }

    /// Takes the progress bar away.
    pub fn clear(&self) {
        self.progress.clear();
    }
}

impl Talk for Terminal {
    fn progress(&self, progress: Progress) {
        self.progress.show(&progress);
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async move {
            if !self.has_an_answer() {
                return Asked::Nobody;
            }
            out::say(shown(question));
            let by = self.user.clone();
            if self.yes {
                return Asked::Yes { by, lease: false };
            }
            for text in &question.secret_texts {
                out::say(format_args!(
                    "secret text: {:?}",
                    tools::clean::line(text.expose_secret())
                ));
            }
            let words = if question.can_lease {
                "Do it? [y/N, k: yes, and keys on this guest for ten minutes] "
            } else {
                "Do it? [y/N] "
            };
            self.asking.store(true, Ordering::Relaxed);
            let answer = tokio::task::spawn_blocking(|| person::answer(words)).await;
            self.asking.store(false, Ordering::Relaxed);
            match answer {
                Ok(Reply::Yes) => Asked::Yes { by, lease: false },
                Ok(Reply::YesAndMore) => Asked::Yes {
                    by,
                    lease: question.can_lease,
                },
                Ok(Reply::No) => Asked::No { by },
                Err(_) => Asked::Undecided,
            }
        })
    }
}

/// The plan in words, without what only somebody who cannot be asked needs to know.
fn shown(question: &Question) -> String {
    let mut outcome = question.outcome.clone();
    (outcome.confirm, outcome.next) = (None, None);
    format!("on cluster {}:\n{}", outcome.cluster, outcome.text())
}
