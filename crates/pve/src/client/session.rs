//! Who we are to PVE: a token's header, or a ticket that is fetched once, shared, and renewed before it ends.

use std::time::{Duration, Instant};

use hyper::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::Client;
use super::reply::Reply;
use super::veil::Veil;
use super::wire::Wire;
use crate::encode;
use crate::error::Error;
use crate::lenient;
use crate::request::Request;
use crate::secret::{Given, Secret};
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
    /// Which login, or which secret of its keeper, it came from; 0 for a token that is here.
    generation: u64,
    /// Hides what is secret in it.
    veil: Veil,
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

    /// What hides, in an answer, the secrets that went out with it.
    pub(super) fn veil(&self) -> &Veil {
        &self.veil
    }

    fn of_token(id: &str, given: &Given) -> Result<Self, Error> {
        let text = format!("PVEAPIToken={id}={}", given.secret.expose_secret());
        Ok(Self {
            identity: (AUTHORIZATION, sensitive(&text)?),
            csrf: None,
            generation: given.number,
            veil: Veil::over([&given.secret]),
        })
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
    /// One that never changes.
    Token(Signature),
    /// One whose secret is kept elsewhere.
    KeptToken(Secret),
    Login(Box<Account>),
}

#[derive(Debug)]
struct Account {
    password: Secret,
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
        sent: &[&SecretString],
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
                veil: Veil::over([&text, csrf].iter().chain(sent).copied()),
            },
            text,
            renew_at: issued + renewal,
            ends_at: issued + TICKET_LIFE,
        })
    }
}

/// Why there is no ticket. Only what PVE refused may have been replaced by something else: a server that is in trouble says
/// nothing about a password.
enum Denied {
    Refused(Error),
    Otherwise(Error),
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Refused(error) | Denied::Otherwise(error) => error,
        }
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
                match secret.fixed().cloned() {
                    Some(secret) => {
                        Kind::Token(Signature::of_token(&id, &Given { secret, number: 0 })?)
                    }
                    None => Kind::KeptToken(secret.clone()),
                }
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
                        &[],
                        1,
                        Instant::now(),
                        life,
                    )?),
                    failed: None,
                    generation: 1,
                };
                // A ticket renews itself where a password would.
                Kind::Login(Box::new(Account {
                    password: ticket.clone().into(),
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
            Kind::KeptToken(secret) => Signature::of_token(&self.id, &secret.given().await?),
            Kind::Login(account) => self.ticket(client, account, 0).await,
        }
    }

    /// New headers after PVE refused `refused`, to repeat the request with; `None` if there are none, or it must not be
    /// repeated.
    ///
    /// A ticket ends by itself, and PVE says so before it does anything: writes are repeated, too. A token was given another
    /// secret, which nobody expected: its keeper is asked again for what can be read twice. A write goes out once; the reads
    /// that come before every other one bring the new secret.
    pub(super) async fn renewed(
        &self,
        client: &Client,
        refused: &Signature,
        repeatable: bool,
    ) -> Result<Option<Signature>, Error> {
        match &self.kind {
            Kind::Token(_) => Ok(None),
            Kind::KeptToken(_) if !repeatable => Ok(None),
            Kind::KeptToken(secret) => {
                let other = secret.instead_of(refused.generation).await?;
                other
                    .map(|given| Signature::of_token(&self.id, &given))
                    .transpose()
            }
            Kind::Login(account) => self
                .ticket(client, account, refused.generation)
                .await
                .map(Some),
        }
    }

    /// PVE took what it was shown.
    pub(super) fn note_taken(&self) {
        if let Kind::KeptToken(secret) = &self.kind {
            secret.note_taken();
        }
    }

    /// What a 401 means for this identity.
    pub(super) fn refusal(&self, reply: &Reply) -> Error {
        let whom = match self.kind {
            Kind::Token(_) | Kind::KeptToken(_) => "the API token",
            Kind::Login(_) => "the login of",
        };
        Error::Auth {
            what: format!("PVE refused {whom} {}: {}", self.id, reply.reason),
            is_refusal: true,
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
            None => self.log_in_by(client, password, generation).await,
        };
        match result {
            Ok(ticket) => {
                password.note_taken();
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
        password: &Secret,
        mut old: Ticket,
        generation: u64,
    ) -> Result<Ticket, Error> {
        // The password may have been sent before, and whoever heard it then may repeat it.
        let known = password.known();
        let sent: Vec<_> = [&old.text].into_iter().chain(&known).collect();
        if let Ok(ticket) = self.log_in(client, &sent, generation).await {
            return Ok(ticket);
        }
        match self.log_in_by(client, password, generation).await {
            Err(_) if Instant::now() < old.ends_at => {
                old.renew_at = Instant::now() + RENEWAL_PAUSE;
                Ok(old)
            }
            result => result,
        }
    }

    /// Logs in with the password as it is kept; with another one, if there is one by now and PVE does not take the first.
    async fn log_in_by(
        &self,
        client: &Client,
        password: &Secret,
        generation: u64,
    ) -> Result<Ticket, Error> {
        let given = password.given().await?;
        match self.log_in(client, &[&given.secret], generation).await {
            Err(Denied::Refused(refused)) => match password.instead_of(given.number).await? {
                Some(other) => {
                    (self.log_in(client, &[&other.secret], generation).await).map_err(Error::from)
                }
                None => Err(refused),
            },
            result => result.map_err(Error::from),
        }
    }

    /// Logs in with the first of these; what is said against it is shown without any of them.
    async fn log_in(
        &self,
        client: &Client,
        secrets: &[&SecretString],
        generation: u64,
    ) -> Result<Ticket, Denied> {
        let password = secrets.first().map_or("", |it| it.expose_secret());
        let request = Request::post("/access/ticket")
            .with("username", self.id.as_str())
            .with("password", password);
        let issued = Instant::now();
        let answer = match self.ask_for_ticket(client, &request).await {
            Err(refused @ Error::Auth { .. }) => return Err(Denied::Refused(refused)),
            Err(error) => return Err(Denied::Otherwise(self.login_error(error))),
            Ok(answer) => answer,
        };
        let otherwise = |what: &str| Denied::Otherwise(self.auth_error(what));
        if answer.needs_second_factor {
            return Err(otherwise(
                "needs a second factor, which cannot be given here: use an API token",
            ));
        }
        let (Some(text), Some(csrf)) = (answer.ticket, answer.csrf) else {
            return Err(otherwise("logged in, but PVE gave no ticket"));
        };
        let renewal = client.settings.timeouts.ticket_renewal;
        Ticket::new((text, &csrf), secrets, generation, issued, renewal).map_err(Denied::Otherwise)
    }

    /// One question for a ticket, and whatever PVE says to it.
    pub(super) async fn ask_for_ticket(
        &self,
        client: &Client,
        request: &Request,
    ) -> Result<LoginAnswer, Error> {
        let (_, reply) = client.exchange(&Wire::login(request)?, None).await?;
        let veil = hiding(request);
        let shown = |error| client.hidden.error(veil.error(error));
        if reply.status == 401 {
            return Err(shown(self.refusal(&reply)));
        }
        let answer = reply.into_answer(request);
        answer.map_err(shown)?.decode()
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
            is_refusal: false,
        }
    }
}

/// Over what a login sends: the password or a ticket in its place, the code, the challenge that it answers.
fn hiding(request: &Request) -> Veil {
    let mut secrets = Vec::new();
    for (key, value) in &request.params {
        if key == "password" || key == "tfa-challenge" {
            let value = value.to_string();
            secrets.extend(["totp:", "recovery:"].iter().filter_map(|kind| {
                let code = value.strip_prefix(kind)?;
                Some(SecretString::from(code))
            }));
            secrets.push(SecretString::from(value));
        }
    }
    Veil::over(&secrets)
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
