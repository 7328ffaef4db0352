//! Secrets that a plan sends and never shows.

use std::collections::BTreeMap;

use pve::Request;
use secrecy::SecretString;

/// Passwords by the names of the holes that they fill. In memory only; prints without its values.
#[derive(Debug, Clone, Default)]
pub struct Secrets(BTreeMap<String, SecretString>);

impl Secrets {
    pub(super) fn keep(&mut self, name: &str, value: SecretString) {
        self.0.insert(name.to_owned(), value);
    }

    /// The request with its holes filled, ready to be sent.
    pub fn fill(&self, request: &Request) -> Request {
        request.fill(&self.0)
    }
}
