//! Who calls over HTTP. Where tokens were given out, nobody gets in without one.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use secrecy::SecretString;
use tools::engine::Engine;

use super::say;
use crate::session::now;
use crate::token::{Checker, Holder};

/// Lets in those who are known.
pub(super) struct Door {
    engine: Arc<Engine>,
    checker: Checker,
    /// Whether whoever reaches the address may call: on a machine of one person.
    open: bool,
}

impl Door {
    /// `open`: nobody is asked who they are.
    pub(super) fn new(engine: Arc<Engine>, open: bool) -> Self {
        Self {
            engine,
            checker: Checker::default(),
            open,
        }
    }

    /// Who brings this along; `Ok(None)` where nobody is asked.
    async fn caller(&self, headers: &HeaderMap) -> Result<Option<Holder>, Refusal> {
        let Some(token) = bearer(headers) else {
            return if self.open {
                Ok(None)
            } else {
                Err(Refusal::Missing)
            };
        };
        let store = self.engine.store().await.map_err(|_| Refusal::Trouble)?;
        let holder = self.checker.holder(&token, store, now()).await;
        match holder.map_err(|_| Refusal::Trouble)? {
            Some(holder) => Ok(Some(holder)),
            None => Err(Refusal::Wrong),
        }
    }
}

/// Sees who calls before anything else is looked at. The handlers find the [`Holder`] among the request's extensions.
pub(super) async fn authenticate(
    State(door): State<Arc<Door>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    match door.caller(request.headers()).await {
        Ok(holder) => {
            if let Some(holder) = holder {
                request.extensions_mut().insert(holder);
            }
            next.run(request).await
        }
        Err(refusal) => refusal.answer(),
    }
}

/// Why somebody is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Missing,
    Wrong,
    Trouble,
}

impl Refusal {
    fn answer(self) -> Response<Body> {
        let (status, text) = match self {
            Self::Missing => (
                StatusCode::UNAUTHORIZED,
                "a token is needed: send Authorization: Bearer TOKEN; a person gives one out with `oxmox token add NAME`\n",
            ),
            Self::Wrong => (
                StatusCode::UNAUTHORIZED,
                "the token is none that counts: it was taken back, has expired, or is another server's\n",
            ),
            Self::Trouble => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the tokens cannot be looked at just now\n",
            ),
        };
        let mut answer = say(status, text);
        if status == StatusCode::UNAUTHORIZED {
            let challenge = match self {
                Self::Wrong => "Bearer error=\"invalid_token\"",
                _ => "Bearer",
            };
            let challenge = HeaderValue::from_static(challenge);
            answer
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        answer
    }
}

/// The token of a request. Only ever in its header: addresses are logged.
fn bearer(headers: &HeaderMap) -> Option<SecretString> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| token.to_owned().into())
}
