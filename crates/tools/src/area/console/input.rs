//! The text that a call types on a console or terminal: in plain sight, or secret.

use pve::Value;
use secrecy::{ExposeSecret, SecretString};

use crate::clean;
use crate::fault::Fault;
use crate::plan::Plan;

/// The most characters of a secret. A password fits; a script does not.
const MOST: usize = 128;

/// The text that a call types.
pub(super) enum Input {
    /// Shown in the plan and recorded.
    Plain(String),
    /// Shown to nobody but the person who approves it.
    Secret(SecretString),
}

impl Input {
    /// A secret text, if it has at most 128 characters and each of them can be seen: nobody can approve what a question does
    /// not show. Faults do not repeat it.
    pub(super) fn secret(text: SecretString) -> Result<Self, Fault> {
        let secret = text.expose_secret();
        let count = secret.chars().count();
        if count > MOST {
            let why =
                format!("a secret has at most {MOST} characters (got {count}); nothing was typed");
            return Err(Fault::bad_input(why).hint(
                "send a password as secret, and all else as text or line, which the person who approves it sees in the plan",
            ));
        }
        if secret.chars().any(char::is_control) || clean::line(secret) != secret {
            return Err(Fault::bad_input(
                "the secret holds a line end, a control character or an invisible one; nothing was typed",
            )
            .hint("send printable characters only; Enter is pressed by another call"));
        }
        Ok(Self::Secret(text))
    }

    /// "a secret (12 characters)"; a plain text is quoted by its tool.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Plain(text) => format!("{text:?}"),
            Self::Secret(secret) => {
                let count = secret.expose_secret().chars().count();
                format!("a secret ({})", crate::words::count(count, "character"))
            }
        }
    }

    /// The text itself.
    pub(super) fn expose(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Secret(secret) => secret.expose_secret(),
        }
    }

    /// The value that stands for it in a step. The plan keeps a secret beside itself, and shows it as "secret, 12 characters".
    pub(super) fn into_value(self, plan: &mut Plan) -> Value {
        match self {
            Self::Plain(text) => Value::from(text),
            Self::Secret(secret) => {
                let count = secret.expose_secret().chars().count();
                let name = format!("secret, {}", crate::words::count(count, "character"));
                plan.secret(&name, secret)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_is_printable_and_short() {
        for text in ["hunter2", "grün ß", &"a".repeat(128), " "] {
            assert!(Input::secret(text.into()).is_ok(), "{text}");
        }
        for text in [
            "a\nb",
            "a\r",
            "a\tb",
            "\u{3}",
            "a\u{7f}",
            "a\u{200b}b",
            "a\u{202e}b",
            "a\u{2028}b",
            &"a".repeat(129),
        ] {
            let Err(fault) = Input::secret(text.into()) else {
                panic!("{text:?} was taken");
            };
            assert!(!fault.to_string().contains(text), "{fault}");
        }
    }
}
