//! A refused certificate, told so that a person can decide about it.

use std::fmt;

use crate::fingerprint::Fingerprint;

/// A certificate that was refused, and the setting that would accept it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untrusted {
    /// Host and port.
    pub host: String,
    /// The SHA-256 fingerprint of the certificate that the server presented.
    pub presented: Fingerprint,
    /// The pin it was compared with, if the host has one.
    pub pinned: Option<Fingerprint>,
    /// Why it was refused.
    pub problem: String,
}

impl Untrusted {
    /// The line of the configuration that would trust the presented certificate.
    pub fn setting(&self) -> String {
        format!("pin = \"{}\"", self.presented)
    }

    /// How to decide, and the exact setting.
    pub fn hint(&self) -> String {
        format!(
            "compare it with the SHA-256 fingerprint shown on the node itself (`pvenode cert info`); only if it is \
             the same, put {} under host {} in its [clusters.NAME] section; `oxmox cluster add` takes it behind its \
             --host, PROXMOX_FINGERPRINT holds it for the one that PROXMOX_HOST names",
            self.setting(),
            self.host,
        )
    }
}

/// What is so. What to do about it is the [`hint`](Untrusted::hint), which has a place of its own wherever this is told.
impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(pinned) = &self.pinned {
            return write!(
                f,
                "THE CERTIFICATE OF {} IS NOT THE PINNED ONE: expected {pinned}, presented {}. \
                 It was renewed, or somebody is in between",
                self.host, self.presented
            );
        }
        write!(
            f,
            "the certificate of {} is not trusted: {}; it presented {}",
            self.host, self.problem, self.presented
        )
    }
}

impl std::error::Error for Untrusted {}
