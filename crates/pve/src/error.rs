//! What can go wrong with a call, by the stage it was in, because the stage decides whether it may be repeated.
//!
//! `Display` tells the error itself and not its source; walk `source()` for the cause.

mod untrusted;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use untrusted::Untrusted;

/// A shared cause: errors are clonable, so that callers waiting for one login can all be told why it failed.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a call did not give its answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request or the settings are wrong; nothing was sent.
    #[error("not sent: {what}")]
    Build {
        /// What is wrong.
        what: String,
    },
    /// No connection; PVE has certainly not seen the request.
    #[error("{host} was not reached: {what}")]
    NeverSent {
        /// The host and port that were tried last.
        host: String,
        /// What was being done.
        what: String,
        /// The cause, where there is one.
        #[source]
        source: Option<Cause>,
    },
    /// The answer is missing; PVE may or may not have carried out the request.
    #[error("no answer from {host}: {what}")]
    MaybeSent {
        /// The host and port that were asked.
        host: String,
        /// What was being done.
        what: String,
        /// The cause, where there is one.
        #[source]
        source: Option<Cause>,
    },
    /// An error came as the answer: from PVE, or from a proxy before it.
    #[error("{}", status_text(*status, reason, message.as_deref(), errors, *from_pve))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The HTTP reason phrase, in which PVE puts its message.
        reason: String,
        /// The `message` of the body.
        message: Option<String>,
        /// What is wrong with which parameter.
        errors: BTreeMap<String, String>,
        /// False for a 5xx that is not in the form in which PVE answers: something in between spoke in its place.
        from_pve: bool,
    },
    /// PVE answered with success, but not with what was expected; a write has been carried out.
    #[error("the answer to {request} cannot be read: {what}")]
    Decode {
        /// Method and path.
        request: String,
        /// What was expected.
        what: String,
    },
    /// The secret could not be had from where it is kept; nothing was sent.
    #[error("{what}")]
    Secret {
        /// Whose secret, where it should be, and why it is not to be had.
        what: String,
        /// What a person can do about it.
        hint: String,
    },
    /// PVE did not accept the credentials; the request was not carried out.
    #[error("{what}")]
    Auth {
        /// Who was refused and what PVE said.
        what: String,
        /// Whether PVE said no to the credentials. Else they may be right: it asked for a second factor, or could not say.
        is_refusal: bool,
    },
    /// A console did not open, ended, or spoke what is not its protocol.
    #[error("the console: {what}")]
    Console {
        /// What happened.
        what: String,
    },
    /// The server's certificate is not trusted; nothing was sent, no credentials either.
    #[error("{0}")]
    Fingerprint(Box<Untrusted>),
}

impl Error {
    /// True if PVE said no to the token or the password. A login may come to nothing for other reasons.
    pub fn is_refused_login(&self) -> bool {
        matches!(
            self,
            Self::Auth {
                is_refusal: true,
                ..
            }
        )
    }

    /// True if PVE has certainly not carried out the request, so that sending it again is safe.
    pub fn is_never_sent(&self) -> bool {
        match self {
            Self::Build { .. }
            | Self::NeverSent { .. }
            | Self::Secret { .. }
            | Self::Auth { .. }
            | Self::Fingerprint(_) => true,
            // The node that was asked could not reach the node that the request was for.
            Self::Status { status, .. } => *status == 595,
            Self::MaybeSent { .. } | Self::Decode { .. } | Self::Console { .. } => false,
        }
    }

    /// True if nobody can tell from this error whether PVE carried out the request.
    pub fn is_maybe_sent(&self) -> bool {
        match self {
            Self::MaybeSent { .. } | Self::Decode { .. } | Self::Console { .. } => true,
            Self::Status {
                status, from_pve, ..
            } => leaves_doubt(*status, *from_pve),
            _ => false,
        }
    }

    /// The HTTP status, if PVE answered with an error.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// What PVE itself said, in the best single text: the message, and what is wrong with which parameter.
    pub fn pve_text(&self) -> Option<String> {
        match self {
            Self::Status {
                reason,
                message,
                errors,
                ..
            } => Some(said(reason, message.as_deref(), errors)).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// True if PVE says that the object of the request is not there (it answers 500 for that, hardly ever 404).
    pub fn is_missing_object(&self) -> bool {
        let Self::Status {
            status, from_pve, ..
        } = self
        else {
            return false;
        };
        if *status == 404 {
            return true;
        }
        // A 403 can say so too, but then what is missing is the right to know.
        let text = self.pve_text().unwrap_or_default().to_ascii_lowercase();
        matches!(status, 400 | 500)
            && *from_pve
            && !text.starts_with("agent error")
            && [
                "does not exist",
                "no such ",
                "unable to find configuration file",
                "hostname lookup",
            ]
            .iter()
            .any(|words| text.contains(words))
    }

    /// The path and the privileges (any one of them would do) that a refused request lacked, if PVE named them.
    pub fn missing_privilege(&self) -> Option<(String, Vec<String>)> {
        let Self::Status { status: 403, .. } = self else {
            return None;
        };
        let text = self.pve_text()?;
        let inner = text
            .split_once("Permission check failed (")?
            .1
            .rsplit_once(')')?
            .0;
        let (path, privileges) = inner.split_once(", ")?;
        let named: Vec<String> = privileges.split('|').map(|p| p.trim().to_owned()).collect();
        let is_privilege = |p: &String| {
            p.contains('.') && p.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        };
        (path.starts_with('/') && named.iter().all(is_privilege)).then(|| (path.to_owned(), named))
    }
}

/// Whether an answer of this status leaves open if PVE carried out the request.
pub(crate) fn leaves_doubt(status: u16, from_pve: bool) -> bool {
    match status {
        // Whoever says so has not begun: the method is unknown, or the node that should do it was not reached.
        501 | 595 => false,
        // A proxy that got no answer from PVE; or the connection between two nodes of PVE broke, or the answer could
        // not be written.
        502..=504 | 596..=599 => true,
        _ => status >= 500 && !from_pve,
    }
}

fn status_text(
    status: u16,
    reason: &str,
    message: Option<&str>,
    errors: &BTreeMap<String, String>,
    from_pve: bool,
) -> String {
    let who = if from_pve {
        "PVE"
    } else {
        "something in between, not PVE,"
    };
    match said(reason, message, errors) {
        text if text.is_empty() => format!("{who} answered {status} without a text"),
        text => format!("{who} answered {status}: {text}"),
    }
}

/// The reason phrase and the message mostly say the same; the longer one wins unless each has its own to say.
fn said(reason: &str, message: Option<&str>, errors: &BTreeMap<String, String>) -> String {
    let reason = reason.trim();
    let message = message.unwrap_or_default().trim();
    let mut text = if message.is_empty() || flat(reason).contains(&flat(message)) {
        reason.to_owned()
    } else if reason.is_empty() || flat(message).contains(&flat(reason)) {
        message.to_owned()
    } else {
        format!("{reason}: {message}")
    };
    if !errors.is_empty() {
        let each: Vec<String> = errors
            .iter()
            .map(|(parameter, problem)| format!("{parameter}: {}", problem.trim()))
            .collect();
        text = format!("{text} {}", each.join("; "));
    }
    text.trim().to_owned()
}

/// A reason phrase is one line; the message has line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, reason: &str, message: Option<&str>) -> Error {
        Error::Status {
            status,
            reason: reason.to_owned(),
            message: message.map(str::to_owned),
            errors: BTreeMap::new(),
            from_pve: true,
        }
    }

    #[test]
    fn every_part_of_what_pve_said_reaches_the_caller_once() {
        let plain = status(
            500,
            "VM is locked (backup)",
            Some("VM is locked (backup)\n"),
        );
        assert_eq!(plain.pve_text().unwrap(), "VM is locked (backup)");
        let wrapped = status(
            500,
            "400 Parameter verification failed.",
            Some("400 Parameter verification failed.\nschedule: bad\n"),
        );
        assert_eq!(
            wrapped.pve_text().unwrap(),
            "400 Parameter verification failed.\nschedule: bad"
        );
        assert_eq!(
            status(401, "No ticket", None).pve_text().unwrap(),
            "No ticket"
        );
        assert_eq!(status(500, "", None).pve_text(), None);
        let both = status(500, "one", Some("two")).to_string();
        assert_eq!(both, "PVE answered 500: one: two");
    }

    #[test]
    fn parameter_errors_are_part_of_the_text() {
        let error = Error::Status {
            status: 400,
            reason: "Parameter verification failed.".to_owned(),
            message: Some("Parameter verification failed.\n".to_owned()),
            errors: BTreeMap::from([("vmid".to_owned(), "not a valid VM ID\n".to_owned())]),
            from_pve: true,
        };
        assert_eq!(
            error.to_string(),
            "PVE answered 400: Parameter verification failed. vmid: not a valid VM ID"
        );
    }

    #[test]
    fn missing_objects_are_recognised() {
        for text in [
            "Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist",
            "unable to find configuration file for VM 999 on node 'pve1'",
            "no such user ('ghost@pve')",
            "hostname lookup 'nope' failed - failed to get address info for: nope: x",
            "storage 'nosuch' does not exist",
            "no such vzdump job",
        ] {
            assert!(status(500, text, None).is_missing_object(), "{text}");
        }
        assert!(status(400, "no such task", None).is_missing_object());
        assert!(status(404, "", None).is_missing_object());
        assert!(!status(500, "Agent error: PID ld does not exist", None).is_missing_object());
        assert!(
            !status(
                403,
                "Permission check failed (pool 'nope' does not exist)",
                None
            )
            .is_missing_object()
        );
        assert!(!status(500, "VM is locked", None).is_missing_object());
    }

    #[test]
    fn the_missing_privilege_is_found() {
        let one = status(403, "Permission check failed (/vms/100, VM.Clone)", None);
        assert_eq!(
            one.missing_privilege(),
            Some(("/vms/100".to_owned(), vec!["VM.Clone".to_owned()]))
        );
        let any = status(
            403,
            "Permission check failed (/vms/100, VM.Clone|VM.Audit)",
            None,
        );
        assert_eq!(any.missing_privilege().unwrap().1, ["VM.Clone", "VM.Audit"]);
        for text in [
            "Permission check failed",
            "Permission check failed (user != root@pam)",
            "Permission check failed (, Pool.Allocate)",
            "Permission check failed (pool 'nope' does not exist)",
        ] {
            assert_eq!(status(403, text, None).missing_privilege(), None, "{text}");
        }
    }

    #[test]
    fn the_proxy_codes_count_by_stage() {
        assert!(status(595, "No route to host", None).is_never_sent());
        assert!(status(596, "Broken pipe", None).is_maybe_sent());
        assert!(!status(500, "x", None).is_never_sent());
        assert!(!status(500, "x", None).is_maybe_sent());
    }

    #[test]
    fn what_a_proxy_says_leaves_doubt() {
        for code in [502, 503, 504, 596, 597, 598, 599] {
            assert!(leaves_doubt(code, true), "{code}");
        }
        for code in [500, 505, 520] {
            assert!(
                leaves_doubt(code, false) && !leaves_doubt(code, true),
                "{code}"
            );
        }
        for code in [400, 401, 403, 404, 501, 595] {
            assert!(
                !leaves_doubt(code, false) && !leaves_doubt(code, true),
                "{code}"
            );
        }
        let text = status_text(502, "Bad Gateway", None, &BTreeMap::new(), false);
        assert!(text.contains("not PVE"), "{text}");
    }
}
