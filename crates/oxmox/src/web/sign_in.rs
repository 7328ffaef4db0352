//! From a person's token, or the code that the server printed, to a session; and its end.

use std::sync::{Arc, PoisonError};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse as _;
use axum::{Extension, body};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use tools::store::{Store, StoredSession};

use super::Page;
use super::answer::{Answer, Failure, Json, sent};
use super::door::{self, Person};
use crate::cli::person;
use crate::http::{Asker, Try};
use crate::session::now;

/// How long a session lasts, in seconds: a working day.
const LASTS: i64 = 12 * 3600;

/// One of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Brought {
    Token(SecretString),
    Code(SecretString),
}

/// Makes a session for whoever brings along a person's token or the code.
pub(super) async fn sign_in(
    State(page): State<Arc<Page>>,
    asker: Option<Extension<Asker>>,
    body: Bytes,
) -> Result<Response<Body>, Failure> {
    let brought = sent(&body)?;
    let from = asker.map(|Extension(Asker(from))| from);
    let guess = page.gate.guess(from, Try::SignIn);
    let guess = guess.map_err(Failure::too_much)?;
    let store = page.engine.store().await?;
    let session = match brought {
        Brought::Token(token) => page.by_token(&token, store).await,
        Brought::Code(code) => page.by_code(&code, store).await,
    };
    // What is known but does not let in here was no guess, either.
    if !matches!(&session, Err(failure) if failure.status == StatusCode::UNAUTHORIZED) {
        page.gate.was_right(guess);
    }
    let session = session?;
    let secret = URL_SAFE_NO_PAD.encode(tools::keys::random::<32>());
    store.keep_session(&secret, &session, now()).await?;
    // In this answer and no other: whoever has the cookie alone must not come by it.
    let proof = door::proof(&store.keys, &secret);
    let body = json!({"name": session.name, "proof": proof});
    Ok(page.with_cookie(body, store, &secret, LASTS))
}

/// Ends the session.
pub(super) async fn out(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
) -> Result<Response<body::Body>, Failure> {
    let store = page.engine.store().await?;
    store.end_session(&person.secret).await?;
    Ok(page.with_cookie(json!({}), store, "", 0))
}

/// Who is signed in, and what there is to look at.
pub(super) async fn me(
    State(page): State<Arc<Page>>,
    Extension(Person { caller, .. }): Extension<Person>,
) -> Answer {
    let clusters = page.engine.clusters_for(&caller);
    let clusters: Vec<_> = clusters.map(|cluster| cluster.name.clone()).collect();
    Ok(Json(json!({
        "name": caller.name,
        "may": caller.bounds.to_string(),
        "scope": caller.bounds.scope,
        "clusters": clusters,
        // Where there is one, the tools take no word for it.
        "names_clusters": page.engine.registry().has_several_clusters(),
        "four_eyes": page.engine.policy().four_eyes,
        "frozen": page.engine.policy().frozen().is_some(),
        "version": env!("CARGO_PKG_VERSION"),
    })))
}

impl Page {
    async fn by_token(
        &self,
        token: &SecretString,
        store: &Store,
    ) -> Result<StoredSession, Failure> {
        let Some(holder) = self.checker.holder(token, store, now()).await? else {
            return Err(Failure::new(
                StatusCode::UNAUTHORIZED,
                "the token is none that counts: it was taken back, has expired, or is another server's",
            ));
        };
        if !holder.person {
            return Err(Failure {
                hint: Some("a person's is made with `oxmox token add NAME --person`".to_owned()),
                ..Failure::new(
                    StatusCode::FORBIDDEN,
                    "this is a program's token: a program cannot approve what it asks for",
                )
            });
        }
        Ok(StoredSession {
            token: crate::token::open_part(token).map(ToOwned::to_owned),
            name: holder.caller.name,
            expires: now() + LASTS,
        })
    }

    /// The code works once, and as long as nobody has a token; whoever comes with another does not use it up.
    async fn by_code(&self, given: &SecretString, store: &Store) -> Result<StoredSession, Failure> {
        let sum = |code: &SecretString| {
            let code = code.expose_secret().as_bytes();
            // Keyed sums, so that how long it takes tells nothing of the code.
            store.keys.seal(&[b"sign-in code", code])
        };
        if store.has_tokens().await? {
            return Err(Failure::new(
                StatusCode::UNAUTHORIZED,
                "the link does not count any more: since it was printed, tokens were given out",
            ));
        }
        let mut code = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        if code.as_ref().is_none_or(|code| sum(code) != sum(given)) {
            return Err(Failure {
                hint: Some(
                    "restart the server for a new link, or make a token with `oxmox token add NAME --person`"
                        .to_owned(),
                ),
                ..Failure::new(StatusCode::UNAUTHORIZED, "the link was used already, or is another server's")
            });
        }
        *code = None;
        Ok(StoredSession {
            token: None,
            name: person::name(),
            expires: now() + LASTS,
        })
    }

    fn with_cookie(&self, body: Value, store: &Store, secret: &str, lasts: i64) -> Response<Body> {
        let mut answer = Json(body).into_response();
        let secure = if self.secure { "; Secure" } else { "" };
        let cookie = format!(
            "{}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={lasts}{secure}",
            self.cookie(&store.keys)
        );
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        answer
    }
}
