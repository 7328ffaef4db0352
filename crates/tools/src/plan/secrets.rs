//! Secrets that a plan sends and never shows.

use std::collections::BTreeMap;

use pve::{Request, Value};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value as Json;

/// Passwords by the names of the holes that they fill. In memory only; prints without its values.
#[derive(Debug, Clone, Default)]
pub struct Secrets(BTreeMap<String, SecretString>);

impl Secrets {
    /// Keeps a secret, and gives the name of its hole: `secret`, and `secret-2` for another one of that name.
    pub(super) fn keep(&mut self, name: &str, value: SecretString) -> String {
        let is_kept = |hole: &String| {
            let kept = self.0.get(hole);
            kept.is_some_and(|kept| kept.expose_secret() != value.expose_secret())
        };
        let mut holes = (1..).map(|number| match number {
            1 => name.to_owned(),
            more => format!("{name}-{more}"),
        });
        let hole = holes.find(|hole| !is_kept(hole)).unwrap_or_default();
        self.0.insert(hole.clone(), value);
        hole
    }

    /// A text without them: PVE may repeat what it refuses.
    pub(crate) fn out_of(&self, text: String) -> String {
        let whole = self.0.values().map(ExposeSecret::expose_secret);
        // Of an address it may repeat the password in other words than the address.
        let within = whole.clone().flat_map(|secret| {
            let passwords = crate::clean::passwords_in(secret).into_iter();
            passwords.map(|at| &secret[at])
        });
        // The longest first: one may be the beginning of another.
        let mut secrets: Vec<&str> = whole.chain(within).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().fold(text, |text, secret| {
            pve::conceal(&text, secret, crate::clean::REDACTED)
        })
    }

    /// Blanks the secrets among some arguments, by whatever name they were given; of an address only its password.
    pub(crate) fn blank(&self, value: &mut Json) {
        match value {
            Json::String(text) => {
                let mut kept = self.0.iter();
                if let Some((hole, _)) = kept.find(|(_, it)| it.expose_secret() == text) {
                    let without = crate::clean::without_passwords(text);
                    let is_address = *hole == without;
                    *text = if is_address {
                        without
                    } else {
                        crate::clean::REDACTED.to_owned()
                    };
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.blank(item)),
            Json::Object(fields) => fields.values_mut().for_each(|field| self.blank(field)),
            _ => {}
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_secrets_of_one_name_are_two() {
        let mut secrets = Secrets::default();
        let holes: Vec<_> = ["a", "b", "a"]
            .map(|value| secrets.keep("secret", value.into()))
            .into();
        assert_eq!(holes, ["secret", "secret-2", "secret"]);
        let request = holes.iter().fold(Request::post("/x"), |request, hole| {
            request.with("secret", Value::Hole(hole.clone()))
        });
        assert!(secrets.fill(&request).holes().is_empty());
        let text = |hole: &String| secrets.text(&Value::Hole(hole.clone()));
        assert_eq!(text(&holes[1]).unwrap().expose_secret(), "b");
    }

    #[test]
    fn the_password_of_an_address_goes_also_without_the_address() {
        let mut secrets = Secrets::default();
        secrets.keep("url", "https://joe:hunter2@host/z.iso".into());
        let said = "Can't connect to joe:hunter2@host for https://joe:hunter2@host/z.iso";
        assert_eq!(
            secrets.out_of(said.to_owned()),
            "Can't connect to joe:<redacted>@host for <redacted>"
        );
    }

    #[test]
    fn of_an_address_only_the_password_is_blanked() {
        let mut secrets = Secrets::default();
        let address = "https://joe:hunter2@host/z.iso";
        let without = crate::clean::without_passwords(address);
        secrets.keep(&without, address.into());
        let mut value = json!({"url": address});
        secrets.blank(&mut value);
        assert_eq!(value, json!({"url": without}));
    }

    #[test]
    fn a_secret_that_begins_like_another_leaves_nothing_of_it() {
        let mut secrets = Secrets::default();
        secrets.keep("confirmation", "Summer2025".into());
        secrets.keep("password", "Summer2025!x9".into());
        let said = "'Summer2025!x9' is too weak".to_owned();
        assert_eq!(secrets.out_of(said), "'<redacted>' is too weak");
    }

    #[test]
    fn secrets_are_blanked_by_whatever_name_they_go() {
        let mut secrets = Secrets::default();
        secrets.keep("password", "hunter2".into());
        let mut value = json!({"odd": ["hunter2", "hunter"], "vmid": 105});
        secrets.blank(&mut value);
        assert_eq!(value, json!({"odd": ["<redacted>", "hunter"], "vmid": 105}));
    }
}
