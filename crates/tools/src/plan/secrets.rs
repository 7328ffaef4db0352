//! Secrets that a plan sends and never shows.

use std::collections::BTreeMap;

use pve::{Request, Value};
use secrecy::SecretString;

/// Passwords by the names of the holes that they fill. In memory only; prints without its values.
#[derive(Debug, Clone, Default)]
pub struct Secrets(BTreeMap<String, SecretString>);

impl Secrets {
    pub(super) fn keep(&mut self, name: &str, value: SecretString) {
        self.0.insert(name.to_owned(), value);
    }

    /// The text that a value is or stands for; `None` if the secret for its hole is missing.
    pub fn text(&self, value: &Value) -> Option<SecretString> {
        match value {
            Value::Hole(name) => self.0.get(name).cloned(),
            plain => Some(SecretString::from(plain.to_string())),
        }
    }

    /// The request with its holes filled, ready to be sent.
    pub fn fill(&self, request: &Request) -> Request {
        request.fill(&self.0)
    }
}
