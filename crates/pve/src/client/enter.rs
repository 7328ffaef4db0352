//! A person's login, step by step: the password, and what PVE asks for beside it.
//!
//! Programs log in by a token, or by a password without a second factor, and need nothing of this.

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::Client;
use super::session::LoginAnswer;
use crate::encode::decode_value;
use crate::error::Error;
use crate::lenient;
use crate::request::Request;
use crate::settings::{Credentials, Settings};

/// Where a login stands.
#[derive(Debug, Clone)]
pub enum Entry {
    /// Logged in: credentials for [`connect`](crate::connect).
    In(Credentials),
    /// The password is right, and not enough.
    Half(Challenge),
}

/// What PVE asks for beside the password.
#[derive(Debug, Clone)]
pub struct Challenge {
    ticket: SecretString,
    /// A code from an application will do.
    pub totp: bool,
    /// One of the recovery keys will do.
    pub recovery: bool,
    /// What else would do, as PVE calls it: `webauthn`, `u2f`, `yubico`.
    pub others: Vec<String>,
}

/// An answer to a challenge.
#[derive(Debug, Clone)]
pub enum Factor {
    /// The code that the application shows.
    Totp(SecretString),
    /// One of the recovery keys, which is used up by it.
    Recovery(SecretString),
}

/// Sends the password of `settings`. Credentials that are no password are in already.
pub async fn log_in(settings: &Settings) -> Result<Entry, Error> {
    let Credentials::Password { user, password } = &settings.credentials else {
        return Ok(Entry::In(settings.credentials.clone()));
    };
    let request = Request::post("/access/ticket")
        .with("username", user.as_str())
        .with("password", password.get().await?.expose_secret());
    let answer = ask(settings, &request).await?;
    if !answer.needs_second_factor {
        return entered(user, answer).map(Entry::In);
    }
    let ticket = answer.ticket.ok_or_else(|| no_ticket(user))?;
    Ok(Entry::Half(Challenge::parse(ticket)))
}

/// Sends the second factor.
pub async fn answer_challenge(
    settings: &Settings,
    challenge: &Challenge,
    factor: &Factor,
) -> Result<Credentials, Error> {
    let user = settings.credentials.id();
    let (kind, code) = match factor {
        Factor::Totp(code) => ("totp", code),
        Factor::Recovery(key) => ("recovery", key),
    };
    let request = Request::post("/access/ticket")
        .with("username", user.as_str())
        .with(
            "password",
            format!("{kind}:{}", code.expose_secret().trim()),
        )
        .with("tfa-challenge", challenge.ticket.expose_secret());
    entered(&user, ask(settings, &request).await?)
}

async fn ask(settings: &Settings, request: &Request) -> Result<LoginAnswer, Error> {
    let client = Client::new(settings.clone())?;
    client.session.ask_for_ticket(&client, request).await
}

fn entered(user: &str, answer: LoginAnswer) -> Result<Credentials, Error> {
    match (answer.ticket, answer.csrf) {
        (Some(ticket), Some(csrf)) if !answer.needs_second_factor => Ok(Credentials::Ticket {
            user: user.to_owned(),
            ticket,
            csrf,
        }),
        _ => Err(no_ticket(user)),
    }
}

fn no_ticket(user: &str) -> Error {
    Error::Auth {
        what: format!("{user} logged in, but PVE gave no ticket"),
        is_refusal: false,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    #[serde(deserialize_with = "lenient::flag")]
    totp: bool,
    recovery: Option<serde_json::Value>,
    #[serde(flatten)]
    others: serde_json::Map<String, serde_json::Value>,
}

impl Challenge {
    /// What is asked for stands in the ticket: `PVE:!tfa!%7B%22totp%22%3Atrue%7D:6AFA0665::SIGNATURE`. One that does not
    /// say is taken to want a code, as those of older versions do.
    fn parse(ticket: SecretString) -> Self {
        let asked = (|| {
            let text = ticket.expose_secret().split(':').nth(1)?;
            let text = decode_value(text.strip_prefix("!tfa!")?);
            serde_json::from_str::<Asked>(&text).ok()
        })();
        let known = asked.is_some();
        let asked = asked.unwrap_or_default();
        let others = asked.others.into_iter();
        let others = others.filter(|(_, value)| is_asked_for(value));
        Self {
            totp: asked.totp || !known,
            recovery: asked.recovery.is_some_and(|left| has_any(&left)),
            others: others.map(|(name, _)| name).collect(),
            ticket,
        }
    }
}

/// What is there is asked for, unless it says that it is not.
fn is_asked_for(value: &serde_json::Value) -> bool {
    !value.is_null() && lenient::as_bool(value) != Some(false)
}

/// Which recovery keys are left: their numbers, or in older versions a word.
fn has_any(left: &serde_json::Value) -> bool {
    match left {
        serde_json::Value::Array(keys) => !keys.is_empty(),
        left => *left != "unavailable" && !left.is_null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(text: &str) -> Challenge {
        let text = crate::encode::encode_value(text);
        Challenge::parse(format!("PVE:!tfa!{text}:6AFA0665::c2ln").into())
    }

    #[test]
    fn a_ticket_says_what_it_wants() {
        let code = challenge(r#"{"totp":true,"recovery":"available"}"#);
        assert!(code.totp && code.recovery && code.others.is_empty());
        let key = challenge(r#"{"webauthn":{"publicKey":{}},"u2f":null,"yubico":false}"#);
        assert!(!key.totp && !key.recovery);
        assert!(challenge(r#"{"recovery":[0,3]}"#).recovery);
        assert!(!challenge(r#"{"totp":true,"recovery":[]}"#).recovery);
        assert_eq!(key.others, ["webauthn"]);
        for yes in ["1", "\"1\"", "true"] {
            let told = challenge(&format!(
                r#"{{"totp":{yes},"recovery":[1],"u2f":"0","yubico":0}}"#
            ));
            assert!(
                told.totp && told.recovery && told.others.is_empty(),
                "{told:?}"
            );
        }
        assert!(!challenge(r#"{"totp":"0","webauthn":{}}"#).totp);
        assert!(Challenge::parse("PVE:tfa!x".into()).totp);
        assert!(!format!("{code:?}").contains("c2ln"));
    }
}
