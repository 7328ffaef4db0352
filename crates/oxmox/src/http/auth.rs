//! Who calls over HTTP. Where tokens were given out, nobody gets in without one.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use secrecy::{ExposeSecret as _, SecretString};
use tools::engine::Engine;

use super::accept::Peer;
use super::limit::{Limiter, TooMuch};
use super::say;
use crate::session::now;
use crate::token::{Checker, Holder};

/// Lets in those who are known.
pub(super) struct Door {
    engine: Arc<Engine>,
    checker: Checker,
    /// Whether whoever reaches the address may call: on a machine of one person.
    open: bool,
    limiter: Limiter,
}

impl Door {
    /// `open`: nobody is asked who they are.
    pub(super) fn new(engine: Arc<Engine>, open: bool, limiter: Limiter) -> Self {
        Self {
            engine,
            checker: Checker::default(),
            open,
            limiter,
        }
    }

    /// Who brings this along; `Ok(None)` where nobody is asked. Else the answer that they get.
    pub(super) async fn caller(
        &self,
        headers: &HeaderMap,
        from: Option<IpAddr>,
    ) -> Result<Option<Holder>, Response<Body>> {
        let found = self.find(headers, from).await;
        found.map_err(|refusal| refusal.answer())
    }

    async fn find(
        &self,
        headers: &HeaderMap,
        from: Option<IpAddr>,
    ) -> Result<Option<Holder>, Refusal> {
        let Some(token) = bearer(headers) else {
            return if self.open {
                Ok(None)
            } else {
                Err(Refusal::Missing)
            };
        };
        let gate = &self.limiter.gate;
        gate.may_try(from, token.expose_secret())
            .map_err(Refusal::TooMuch)?;
        let store = self.engine.store().await.map_err(|_| Refusal::Trouble)?;
        let holder = self.checker.holder(&token, store, now()).await;
        let holder = holder.map_err(|_| Refusal::Trouble)?;
        if holder.is_none() {
            gate.failed(from, token.expose_secret());
            return Err(Refusal::Wrong);
        }
        Ok(holder)
    }
}

/// Sees who calls before anything else is looked at. The handlers find the [`Holder`] among the request's extensions.
pub(super) async fn authenticate(
    State(door): State<Arc<Door>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let from = request.extensions().get::<Peer>().map(|peer| peer.address);
    let headers = request.headers().clone();
    let refusal = match door.caller(&headers, from).await {
        Ok(holder) => {
            if let Some(holder) = holder {
                request.extensions_mut().insert(holder);
            }
            return next.run(request).await;
        }
        Err(refusal) => refusal,
    };
    match door.limiter.refused(&request) {
        Ok(()) => refusal,
        Err(too_much) => too_much.answer(),
    }
}

/// Why somebody is not let in.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Missing,
    Wrong,
    Trouble,
    TooMuch(TooMuch),
}

impl Refusal {
    fn answer(&self) -> Response<Body> {
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
            Self::TooMuch(too_much) => return too_much.answer(),
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
