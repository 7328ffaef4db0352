//! What PVE, or whoever stands in for it, said against a request, without the secrets that it was told: an error text goes to
//! terminals, logs and models.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use crate::conceal::conceal;
use crate::encode;
use crate::error::Error;

/// What stands in for a secret.
const REDACTED: &str = "<redacted>";

/// The secrets that went out with a request. `Debug` shows none of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Veil(Arc<[SecretString]>);

impl Veil {
    /// Over these, and the forms in which they are sent.
    pub(super) fn over<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut forms = Vec::new();
        for secret in secrets {
            let secret = secret.expose_secret().trim();
            let quoted = serde_json::Value::from(secret).to_string();
            forms.push(quoted[1..quoted.len() - 1].to_owned());
            forms.push(encode::encode_value(secret));
            forms.push(encode::encode_cookie(secret));
            forms.push(secret.to_owned());
        }
        // The longest first: one may be part of another.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self(forms.into_iter().map(SecretString::from).collect())
    }

    /// A text without them.
    pub(super) fn text(&self, text: &str) -> String {
        let secrets = self.0.iter().map(ExposeSecret::expose_secret);
        secrets.fold(text.to_owned(), |text, secret| {
            conceal(&text, secret, REDACTED)
        })
    }

    /// An error without them.
    pub(super) fn error(&self, error: Error) -> Error {
        match error {
            Error::Status {
                status,
                reason,
                message,
                errors,
                from_pve,
            } => Error::Status {
                status,
                reason: self.text(&reason),
                message: message.map(|text| self.text(&text)),
                errors: errors
                    .into_iter()
                    .map(|(key, text)| (self.text(&key), self.text(&text)))
                    .collect(),
                from_pve,
            },
            Error::Auth { what, is_refusal } => Error::Auth {
                what: self.text(&what),
                is_refusal,
            },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn veil(secrets: &[&str]) -> Veil {
        let secrets: Vec<_> = secrets.iter().map(|it| SecretString::from(*it)).collect();
        Veil::over(&secrets)
    }

    #[test]
    fn every_form_in_which_it_went_out_is_blanked() {
        let veil = veil(&[
            "PVE:root@pam:65A1::c2ln==",
            "with \"quotes\" & more",
            "1234",
        ]);
        for text in [
            "no ticket PVE:root@pam:65A1::c2ln==",
            "PVE%3Aroot%40pam%3A65A1%3A%3Ac2ln%3D%3D is none",
            "{\"password\":\"with \\\"quotes\\\" & more\"}",
            "with%20%22quotes%22%20%26%20more",
            "code totp:1234",
        ] {
            let shown = veil.text(text);
            assert!(shown.contains(REDACTED), "{shown}");
            for part in ["65A1", "quotes", "1234"] {
                assert!(!shown.contains(part), "{shown}");
            }
        }
    }

    #[test]
    fn a_secret_within_another_leaves_nothing_of_it() {
        assert_eq!(veil(&["abcd", "abcdefgh"]).text("abcdefgh"), REDACTED);
    }

    #[test]
    fn what_is_hardly_a_secret_spoils_no_text() {
        assert_eq!(veil(&["a", ""]).text("what a day"), "what a day");
    }
}
