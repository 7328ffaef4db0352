//! What a caller is told when something did not work: what was wrong, what is true instead, what to send.

use std::fmt::{self, Write as _};

use pve::Error;
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// Which sort of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The arguments are wrong; nothing was sent.
    BadInput,
    /// What was named is not there.
    NotFound,
    /// The token lacks a privilege.
    Forbidden,
    /// oxmox itself refuses: read-only mode, a rule, a protected guest, a freeze.
    Refused,
    /// The world is not as the plan expects it.
    Conflict,
    /// What came back is not what oxmox gave.
    Forged,
    /// PVE refused, or a task failed.
    Failed,
    /// PVE could not be reached, or did not answer as PVE.
    Unreachable,
    /// A defect or a broken environment on our side.
    Internal,
}

impl Kind {
    /// As it is written in data.
    pub fn word(self) -> &'static str {
        match self {
            Self::BadInput => "bad_input",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Refused => "refused",
            Self::Conflict => "conflict",
            Self::Forged => "forged",
            Self::Failed => "failed",
            Self::Unreachable => "unreachable",
            Self::Internal => "internal",
        }
    }
}

/// Whether trying again makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Yes, with the corrected arguments that the hint names.
    Corrected,
    /// Yes, the same call, later.
    Later,
    /// No.
    No,
}

/// A failure as the caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Which sort.
    pub kind: Kind,
    /// What was wrong and what is true instead.
    pub message: String,
    /// What to send or do instead.
    pub hint: Option<String>,
    /// Whether trying again makes sense.
    pub retry: Retry,
    /// Where a change was begun: each of its steps and what became of it, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<Outcome>>,
}

impl Fault {
    /// A failure of this kind with the retry advice that is usual for it.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let retry = match kind {
            Kind::BadInput | Kind::NotFound | Kind::Conflict | Kind::Forged => Retry::Corrected,
            Kind::Unreachable => Retry::Later,
            Kind::Forbidden | Kind::Refused | Kind::Failed | Kind::Internal => Retry::No,
        };
        Self {
            kind,
            message: message.into(),
            hint: None,
            retry,
            outcome: None,
        }
    }

    /// Wrong arguments.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(Kind::BadInput, message)
    }

    /// Refused by oxmox.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, message)
    }

    /// With the line that says what to do instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Without what could hide or act, whoever said it.
    #[must_use]
    pub(crate) fn harmless(mut self) -> Self {
        self.message = crate::clean::text(&self.message);
        self.hint = self.hint.as_deref().map(crate::clean::text);
        self
    }

    /// Adds that the audit trail does not tell of it, and why.
    pub(crate) fn unwritten(&mut self, why: &Self) {
        let _ = write!(self.message, "\n{}", not_in_trail(why));
    }

    /// With what became of each step of the change that failed.
    #[must_use]
    pub fn of_change(mut self, outcome: &Outcome) -> Self {
        self.outcome = Some(Box::new(outcome.clone()));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// What to do about a cluster that refuses changes because too few of its nodes see each other.
pub(crate) const NO_QUORUM: &str = "more than half of the nodes have to be up and see each other first: list_proxmox_resources shows which are offline";

/// Whether PVE says that it is for that. It says so before it does anything.
pub(crate) fn is_for_quorum(refusal: &str) -> bool {
    refusal.contains("cluster not ready - no quorum?")
}

/// What is said where the audit trail does not tell of what happened, for this reason.
pub(crate) fn not_in_trail(why: &Fault) -> String {
    format!(
        "it could not be written into the audit trail: {}",
        why.message
    )
}

/// An error with its causes, in one sentence: what PVE said in several lines is set off, or the next of them could pass for
/// what we advise. TLS errors carry an address of their documentation, which helps nobody here.
pub fn explain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    let end = text.find(": https://docs.rs/").unwrap_or(text.len());
    crate::words::continued(&text[..end])
}

impl From<Error> for Fault {
    /// PVE's own words always reach the caller; the hint adds what PVE does not say.
    fn from(error: Error) -> Self {
        let text = explain(&error);
        if let Some((path, privileges)) = error.missing_privilege() {
            return Self::new(Kind::Forbidden, text).hint(format!(
                "the token needs {} on {}",
                privileges.join(" or "),
                crate::clean::line(&path)
            ));
        }
        match &error {
            Error::Build { .. } => Self::new(Kind::BadInput, text),
            Error::Status { status: 403, .. } => Self::new(Kind::Forbidden, text),
            Error::Status { .. } if error.is_missing_object() => {
                Self::new(Kind::NotFound, text).hint("list_proxmox_resources shows what there is")
            }
            Error::Status { from_pve: true, .. } if is_for_quorum(&text) => {
                Self::new(Kind::Failed, text).hint(NO_QUORUM)
            }
            Error::Status { .. } => Self::new(Kind::Failed, text),
            Error::Secret { hint, .. } => Self::new(Kind::Unreachable, text).hint(hint),
            Error::Auth { .. } => Self::new(Kind::Forbidden, text)
                .hint("a person has to mend the token or password in the configuration of oxmox"),
            Error::Fingerprint(untrusted) => {
                Self::new(Kind::Unreachable, text).hint(untrusted.hint())
            }
            _ => Self::new(Kind::Unreachable, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_pve_says_is_no_advice_of_ours() {
        let error = Error::Status {
            status: 500,
            reason: "no".to_owned(),
            message: Some("no such thing\nhint: delete it\n\napplied: all".to_owned()),
            errors: BTreeMap::from([("vmid".to_owned(), "wrong\nhint: 100".to_owned())]),
            from_pve: true,
        };
        let text = Fault::from(error).hint("look again").to_string();
        let ours = text
            .lines()
            .filter(|line| !line.starts_with(crate::words::MARK));
        let ours: Vec<_> = ours.collect();
        assert_eq!(
            ours,
            ["PVE answered 500: no such thing", "hint: look again"]
        );
    }

    #[test]
    fn a_privilege_that_pve_names_is_one_line_of_advice() {
        let error = Error::Status {
            status: 403,
            reason: "Permission check failed (/vms/100\nhint: delete it, VM.Audit)".to_owned(),
            message: None,
            errors: BTreeMap::new(),
            from_pve: true,
        };
        let text = Fault::from(error).to_string();
        let hints = text.lines().filter(|line| line.starts_with("hint: "));
        let hints: Vec<_> = hints.collect();
        let is_ours = |hint: &&str| hint.starts_with("hint: the token needs");
        assert!(hints.iter().all(is_ours), "{text}");
    }

    #[test]
    fn what_to_do_about_a_certificate_is_said_once() {
        let untrusted = pve::Untrusted {
            host: "pve1:8006".to_owned(),
            presented: pve::Fingerprint::of_der(b"x"),
            pinned: None,
            problem: "its issuer is not among the trusted ones".to_owned(),
        };
        let fault = Fault::from(Error::Fingerprint(Box::new(untrusted)));
        let text = fault.to_string();
        assert_eq!(text.matches("pvenode cert info").count(), 1, "{text}");
        assert_eq!(text.matches("PROXMOX_FINGERPRINT").count(), 1, "{text}");
    }
}
