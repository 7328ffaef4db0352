//! Accounts at certificate authorities, and certificates ordered with them.

use sha2::{Digest, Sha256};

use super::hex;
use crate::clock::Time;

/// The authority that PVE takes unless told otherwise.
pub const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";
/// Its twin for trials.
pub const STAGING: &str = "https://acme-staging-v02.api.letsencrypt.org/directory";

/// An account at a certificate authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// `mailto:` addresses.
    pub contact: Vec<String>,
    /// The authority.
    pub directory: String,
    /// The terms that were agreed to.
    pub terms: Option<String>,
    /// Where the authority keeps it.
    pub location: String,
}

impl Account {
    /// The account as the authority accepts it.
    ///
    /// # Errors
    /// The end of the task where nobody agreed to the terms, or nobody answers under the address.
    pub fn registered(mut self, name: &str) -> Result<Self, String> {
        let host = self.directory.split('/').nth(2).unwrap_or_default();
        if !host.ends_with("letsencrypt.org") {
            return Err(format!(
                "Registration failed: Can't connect to {host}:443 (Name or service not known)"
            ));
        }
        if self.terms.is_none() {
            return Err(format!(
                "Registration failed: Error: POST to https://{host}/acme/new-acct: must agree to terms of service"
            ));
        }
        let number = Sha256::digest(name)[..4]
            .iter()
            .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
        self.location = format!("https://{host}/acme/acct/{number}");
        Ok(self)
    }
}

/// A certificate that a node got for its web interface. What the simulator itself shows to its clients stays the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The names that it is for.
    pub domains: Vec<String>,
    /// When it was made.
    pub made: Time,
}

impl Certificate {
    /// `AA:BB:...`; no two certificates have the same.
    pub fn fingerprint(&self) -> String {
        let digest = hex(&Sha256::digest(format!("{self:?}"))).to_uppercase();
        let pairs: Vec<&str> = (0..digest.len())
            .step_by(2)
            .map(|at| &digest[at..at + 2])
            .collect();
        pairs.join(":")
    }
}
