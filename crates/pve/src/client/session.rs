//! Who we are to PVE: a token's header, or a ticket that is fetched once, shared, and renewed before it ends.

use std::time::{Duration, Instant};

use hyper::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::Client;
use super::reply::Reply;
use super::wire::Wire;
use crate::encode;
use crate::error::Error;
use crate::lenient;
use crate::request::Request;
use crate::settings::{Credentials, Timeouts};

const CSRF: HeaderName = HeaderName::from_static("csrfpreventiontoken");
/// After two hours PVE refuses a ticket; one that could not be renewed is used until shortly before.
const TICKET_LIFE: Duration = Duration::from_mins(2 * 60 - 1);

/// How long to leave PVE alone after a renewal failed while the old ticket still works.
const RENEWAL_PAUSE: Duration = Duration::from_mins(1);

/// The headers that tell PVE who asks. Sensitive: `HeaderValue` hides them in `Debug`.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    identity: (HeaderName, HeaderValue),
    csrf: Option<HeaderValue>,
    /// Which login it came from; 0 for a token.
    generation: u64,
}

impl Signature {
    /// The headers of a request; only writes need the CSRF token.
    pub(super) fn headers(&self, is_write: bool) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = vec![self.identity.clone()];
        if let Some(csrf) = self.csrf.as_ref().filter(|_| is_write) {
            headers.push((CSRF, csrf.clone()));
        }
        headers
    }
}

/// The identity of a client.
#[derive(Debug)]
pub(super) struct Session {
    /// For messages: `root@pam!mcp` or `root@pam`.
    id: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Token(Signature),
    Login(Box<Account>),
}

#[derive(Debug)]
struct Account {
    password: SecretString,
    login: Mutex<Login>,
}

#[derive(Debug, Default)]
struct Login {
    ticket: Option<Ticket>,
    /// The newest failure, for those that were waiting for that very login.
    failed: Option<(Instant, Error)>,
    generation: u64,
}

#[derive(Debug)]
struct Ticket {
    text: SecretString,
    signature: Signature,
    renew_at: Instant,
    ends_at: Instant,
}

impl Ticket {
    fn new(
        (text, csrf): (SecretString, &SecretString),
        generation: u64,
        issued: Instant,
        renewal: Duration,
    ) -> Result<Self, Error> {
        let cookie = encode::encode_cookie(text.expose_secret());
        Ok(Self {
            signature: Signature {
                identity: (COOKIE, sensitive(&format!("PVEAuthCookie={cookie}"))?),
                csrf: Some(sensitive(csrf.expose_secret())?),
                generation,
            },
            text,
            renew_at: issued + renewal,
            ends_at: issued + TICKET_LIFE,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct LoginAnswer {
    #[serde(default)]
    pub(super) ticket: Option<SecretString>,
    #[serde(rename = "CSRFPreventionToken", default)]
    pub(super) csrf: Option<SecretString>,
    #[serde(rename = "NeedTFA", default, deserialize_with = "lenient::flag")]
    pub(super) needs_second_factor: bool,
}

impl Session {
    pub(super) fn new(credentials: &Credentials) -> Result<Self, Error> {
        let id = credentials.id();
        let kind = match credentials {
            Credentials::Token { user, name, secret } => {
                check_token(user, name)?;
                let text = format!("PVEAPIToken={id}={}", secret.expose_secret());
                Kind::Token(Signature {
                    identity: (AUTHORIZATION, sensitive(&text)?),
                    csrf: None,
                    generation: 0,
                })
            }
            Credentials::Password { user, password } => {
                check_user(user)?;
                Kind::Login(Box::new(Account {
                    password: password.clone(),
                    login: Mutex::default(),
                }))
            }
            Credentials::Ticket { user, ticket, csrf } => {
                check_user(user)?;
                let life = Timeouts::default().ticket_renewal;
                let login = Login {
                    ticket: Some(Ticket::new(
                        (ticket.clone(), csrf),
                        1,
                        Instant::now(),
                        life,
                    )?),
                    failed: None,
                    generation: 1,
                };
                // A ticket renews itself where a password would.
                Kind::Login(Box::new(Account {
                    password: ticket.clone(),
                    login: Mutex::new(login),
                }))
            }
        };
        Ok(Self { id, kind })
    }

    /// The headers for a request, after a login if there was none or it is getting old.
    pub(super) async fn signature(&self, client: &Client) -> Result<Signature, Error> {
        match &self.kind {
            Kind::Token(signature) => Ok(signature.clone()),
            Kind::Login(account) => self.ticket(client, account, 0).await,
        }
    }

    /// New headers after PVE refused `refused`; `None` if there is nothing to renew.
    pub(super) async fn renewed(
        &self,
        client: &Client,
        refused: &Signature,
    ) -> Result<Option<Signature>, Error> {
        match &self.kind {
            Kind::Token(_) => Ok(None),
            Kind::Login(account) => self
                .ticket(client, account, refused.generation)
                .await
                .map(Some),
        }
    }

    /// What a 401 means for this identity.
    pub(super) fn refusal(&self, reply: &Reply) -> Error {
        let whom = match self.kind {
            Kind::Token(_) => "the API token",
            Kind::Login(_) => "the login of",
        };
        Error::Auth {
            what: format!("PVE refused {whom} {}: {}", self.id, reply.reason),
        }
    }

    /// A ticket of a later generation than `refused`. The lock is held while logging in, so that callers share one login.
    async fn ticket(
        &self,
        client: &Client,
        account: &Account,
        refused: u64,
    ) -> Result<Signature, Error> {
        let asked = Instant::now();
        let Account { password, login } = account;
        let mut login = login.lock().await;
        if let Some((_, error)) = login.failed.as_ref().filter(|(at, _)| *at > asked) {
            return Err(error.clone());
        }
        let generation = login.generation + 1;
        let held = login.ticket.take_if(|t| t.signature.generation > refused);
        let result = match held {
            Some(ticket) if Instant::now() < ticket.renew_at => Ok(ticket),
            Some(ticket) => self.renew(client, password, ticket, generation).await,
            None => self.log_in(client, password, generation).await,
        };
        match result {
            Ok(ticket) => {
                let signature = ticket.signature.clone();
                *login = Login {
                    generation: signature.generation,
                    ticket: Some(ticket),
                    failed: None,
                };
                Ok(signature)
            }
            Err(error) => {
                login.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Renews with the ticket itself, which also works for users with a second factor; else with the password.
    async fn renew(
        &self,
        client: &Client,
        password: &SecretString,
        mut old: Ticket,
        generation: u64,
    ) -> Result<Ticket, Error> {
        if let Ok(ticket) = self.log_in(client, &old.text, generation).await {
            return Ok(ticket);
        }
        match self.log_in(client, password, generation).await {
            Err(_) if Instant::now() < old.ends_at => {
                old.renew_at = Instant::now() + RENEWAL_PAUSE;
                Ok(old)
            }
            result => result,
        }
    }

    async fn log_in(
        &self,
        client: &Client,
        password: &SecretString,
        generation: u64,
    ) -> Result<Ticket, Error> {
        let request = Request::post("/access/ticket")
            .with("username", self.id.as_str())
            .with("password", password.expose_secret());
        let issued = Instant::now();
        let answer = self
            .ask_for_ticket(client, &request)
            .await
            .map_err(|error| self.login_error(error))?;
        if answer.needs_second_factor {
            return Err(self.auth_error(
                "needs a second factor, which cannot be given here: use an API token",
            ));
        }
        let (Some(text), Some(csrf)) = (answer.ticket, answer.csrf) else {
            return Err(self.auth_error("logged in, but PVE gave no ticket"));
        };
        let renewal = client.settings.timeouts.ticket_renewal;
        Ticket::new((text, &csrf), generation, issued, renewal)
    }

    /// One question for a ticket, and whatever PVE says to it.
    pub(super) async fn ask_for_ticket(
        &self,
        client: &Client,
        request: &Request,
    ) -> Result<LoginAnswer, Error> {
        let (_, reply) = client.exchange(&Wire::login(request)?, None).await?;
        if reply.status == 401 {
            return Err(self.refusal(&reply));
        }
        reply.into_answer(request)?.decode()
    }

    /// A login that got lost does not mean that the request it was for did: that one was never sent.
    fn login_error(&self, error: Error) -> Error {
        match error {
            Error::MaybeSent { host, what, source } => Error::NeverSent {
                host,
                what: format!("the login got no answer: {what}"),
                source,
            },
            Error::Status { .. } | Error::Decode { .. } => {
                self.auth_error(&format!("could not log in: {error}"))
            }
            other => other,
        }
    }

    fn auth_error(&self, what: &str) -> Error {
        Error::Auth {
            what: format!("{} {what}", self.id),
        }
    }
}

fn sensitive(text: &str) -> Result<HeaderValue, Error> {
    // The cause would quote the secret.
    let mut value = HeaderValue::from_str(text).map_err(|_| Error::Build {
        what: "the credentials hold characters that no HTTP header can carry".to_owned(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

// The checks never quote what was given: a whole token with its secret is easily pasted into the wrong place.

fn check_user(user: &str) -> Result<(), Error> {
    let is_realm = |text: &str| !text.is_empty() && !text.contains(['!', '=']);
    match user.rsplit_once('@') {
        Some((name, realm)) if !name.is_empty() && is_realm(realm) => Ok(()),
        _ => Err(misplaced(
            user,
            "the user needs its realm and nothing after it, as in \"root@pam\"",
        )),
    }
}

fn check_token(user: &str, name: &str) -> Result<(), Error> {
    check_user(user)?;
    if name.is_empty() || name.contains(['!', '@', '=', ' ']) {
        return Err(misplaced(
            name,
            "this is not the name of a token, which is the part between \"!\" and \"=\"",
        ));
    }
    Ok(())
}

fn misplaced(given: &str, what: &str) -> Error {
    let parts = if given.contains('=') {
        "; what was given looks like a whole token, USER!NAME=SECRET, whose three parts are set one by one"
    } else {
        ""
    };
    Error::Build {
        what: format!("{what}{parts}"),
    }
}
