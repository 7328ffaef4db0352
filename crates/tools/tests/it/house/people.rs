//! Who is at the other end of a call.

use std::sync::Mutex;

use tools::engine::{Asked, Progress, Question, Talk};

/// Nobody can be asked.
pub(crate) use tools::engine::Silent as Nobody;

/// Somebody who always says the same, and remembers what they were asked.
pub(crate) struct Person {
    says: Asked,
    pub(crate) asked: Mutex<Vec<Question>>,
    pub(crate) progress: Mutex<Vec<Progress>>,
}

impl Person {
    pub(crate) fn saying(says: Asked) -> Self {
        Self {
            says,
            asked: Mutex::default(),
            progress: Mutex::default(),
        }
    }

    pub(crate) fn saying_yes() -> Self {
        Self::saying(Asked::Yes {
            by: "person".to_owned(),
            lease: false,
        })
    }

    pub(crate) fn saying_no() -> Self {
        Self::saying(Asked::No {
            by: "person".to_owned(),
        })
    }

    pub(crate) fn times_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Talk for Person {
    fn progress(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress);
    }

    fn ask<'a>(&'a self, question: &'a Question) -> futures_util::future::BoxFuture<'a, Asked> {
        self.asked.lock().unwrap().push(question.clone());
        let says = self.says.clone();
        Box::pin(async move { says })
    }
}

/// Somebody who agrees, after something has happened meanwhile.
pub(crate) struct Meanwhile<F>(pub(crate) F);

impl<F: Fn() + Send + Sync> Talk for Meanwhile<F> {
    fn progress(&self, _: Progress) {}

    fn ask<'a>(&'a self, _: &'a Question) -> futures_util::future::BoxFuture<'a, Asked> {
        (self.0)();
        let yes = Asked::Yes {
            by: "person".to_owned(),
            lease: false,
        };
        Box::pin(async move { yes })
    }
}
