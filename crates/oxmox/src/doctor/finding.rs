//! What was found.

use serde::Serialize;
use serde_json::Value;
use tools::clean;
use tools::fault::Fault;

use crate::unanswered;

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Not looked at, because something before it is broken.
    Skipped,
    /// Worth knowing.
    Note,
    /// Works now, and may not tomorrow.
    Warning,
    /// Does not work.
    Problem,
}

impl Level {
    /// The word in the table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Note => "note",
            Self::Warning => "WARNING",
            Self::Problem => "PROBLEM",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Where, if it is about a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What was looked at: `tls`.
    pub check: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What is so.
    pub says: String,
    /// What to type or do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same for programs, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
}

impl Finding {
    fn new(check: &'static str, level: Level, says: impl Into<String>) -> Self {
        Self {
            cluster: None,
            check,
            level,
            // Hosts, guests and PVE have a say in it.
            says: clean::line(&says.into()),
            hint: None,
            detail: None,
        }
    }

    /// As it should be.
    pub fn ok(check: &'static str, says: impl Into<String>) -> Self {
        Self::new(check, Level::Ok, says)
    }

    /// Worth knowing.
    pub fn note(check: &'static str, says: impl Into<String>) -> Self {
        Self::new(check, Level::Note, says)
    }

    /// May not work tomorrow.
    pub fn warning(check: &'static str, says: impl Into<String>) -> Self {
        Self::new(check, Level::Warning, says)
    }

    /// Does not work, and what to do about it.
    pub fn problem(check: &'static str, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(check, Level::Problem, says).hint(hint)
    }

    /// Not looked at.
    pub fn skipped(check: &'static str, says: impl Into<String>) -> Self {
        Self::new(check, Level::Skipped, says)
    }

    /// What failed, in the words that any call would give.
    pub fn failed(check: &'static str, fault: Fault, otherwise: &str) -> Self {
        let hint = fault.hint.unwrap_or_else(|| otherwise.to_owned());
        Self::problem(check, fault.message, hint)
    }

    /// What PVE did not answer.
    pub(super) fn unanswered(
        check: &'static str,
        asked: &str,
        error: pve::Error,
        otherwise: &str,
    ) -> Self {
        Self::failed(check, unanswered::told(asked, error), otherwise)
    }

    /// With what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(clean::line(&hint.into()));
        self
    }

    /// With more, for programs.
    #[must_use]
    pub fn detail(mut self, detail: Value) -> Self {
        self.detail = Some(detail);
        self
    }

    /// About this cluster.
    #[must_use]
    pub fn at(mut self, cluster: &str) -> Self {
        self.cluster = Some(cluster.to_owned());
        self
    }
}

/// All that was found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// In the order in which it is told.
    pub findings: Vec<Finding>,
}

impl Report {
    /// The worst of it.
    pub fn worst(&self) -> Level {
        let levels = self.findings.iter().map(|finding| finding.level);
        levels.max().unwrap_or(Level::Ok)
    }

    pub(super) fn extend(&mut self, more: impl IntoIterator<Item = Finding>) {
        self.findings.extend(more);
    }
}
