//! Who calls over HTTP. Where tokens were given out, nobody gets in without one.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use secrecy::{ExposeSecret as _, SecretString};
use tools::caller::{Bounds, Scope};
use tools::engine::Engine;
use tools::fault::{Fault, Kind};
use tools::store::Store;

use super::admission::{Admission, Recent};
use super::limit::{Limiter, TooMuch, Try};
use super::oauth::{self, Doubt, Vouched};
use super::sessions::Owner;
use super::settings::Live;
use super::{closing, say, unread};
use crate::lasting;
use crate::session::now;
use crate::token::{self, Checker, Holder, Look};

/// How much less often it is looked whether a token of an OAuth server has expired: nobody can revoke it here.
const VOUCHED: u32 = 8;

/// Lets in those who are known.
pub(super) struct Door {
    engine: Arc<Engine>,
    checker: Checker,
    /// Whether whoever reaches the address may call as long as nobody has a token: on a machine of one person.
    open: bool,
    limiter: Limiter,
    recent: Recent,
}

/// Who was let in.
pub(super) enum Known {
    /// Nobody was asked.
    Anybody,
    /// By a token of oxmox's own.
    Own(Holder),
    /// By a token of an OAuth server.
    Vouched(Holder),
}

impl Known {
    /// How far they reach.
    pub(super) fn bounds(self) -> Bounds {
        match self {
            Self::Anybody => Bounds::default(),
            Self::Own(holder) | Self::Vouched(holder) => holder.caller.bounds,
        }
    }
}

/// Who would be let in now, as far as the store tells.
pub(super) struct Admitted {
    unasked: bool,
    /// The public parts of the tokens.
    tokens: BTreeSet<String>,
}

impl Admitted {
    /// Whether a caller with this token, or without one, would be admitted.
    pub(super) fn has_token(&self, token: Option<&str>) -> bool {
        token.map_or(self.unasked, |token| self.tokens.contains(token))
    }

    /// Whether the one who began a session would be again. What an OAuth server would say of somebody is known when they
    /// come.
    pub(super) fn has(&self, owner: &Owner) -> bool {
        let name = owner.name.as_deref();
        name.is_some_and(|name| name.starts_with(oauth::NAMED))
            || self.has_token(owner.token.as_deref())
    }
}

impl Door {
    /// `open`: nobody is asked who they are, until somebody has a token.
    pub(super) fn new(engine: Arc<Engine>, open: bool, limiter: Limiter) -> Self {
        Self {
            engine,
            checker: Checker::default(),
            open,
            limiter,
            recent: Recent::default(),
        }
    }

    /// The address that a request counts for.
    pub(super) fn asker(&self, request: &Request) -> Option<IpAddr> {
        self.limiter.asker(request)
    }

    /// Who brings this along. Else the answer that they get, which counts for where they come from.
    pub(super) async fn admit(
        &self,
        headers: &HeaderMap,
        from: Option<IpAddr>,
    ) -> Result<Known, Response<Body>> {
        let live = self.limiter.live.borrow().clone();
        let found = self.find(headers, from, &live).await;
        found.map_err(|refusal| match self.limiter.refused(from) {
            Ok(()) => refusal.answer(&live),
            Err(too_much) => too_much.answer(),
        })
    }

    /// An answer that goes on ends when the OAuth server's token that it is for does not count any more.
    fn as_long_as_vouched(self: &Arc<Self>, body: Body, brought: HeaderMap) -> Body {
        let door = self.clone();
        lasting::while_true(body, self.look_again() * VOUCHED, move || {
            let (door, brought) = (door.clone(), brought.clone());
            async move {
                let live = door.limiter.live.borrow().clone();
                match door.find(&brought, None, &live).await {
                    Ok(_) | Err(Refusal::Trouble | Refusal::TooMuch(_)) => true,
                    Err(Refusal::Missing | Refusal::Wrong | Refusal::NoScope) => false,
                }
            }
        })
    }

    /// How often it is looked who is still admitted.
    pub(super) fn look_again(&self) -> Duration {
        self.limiter.live.borrow().pace.look_again
    }

    /// Where the tokens are.
    pub(super) async fn store(&self) -> Result<&Store, Fault> {
        self.engine.store().await
    }

    /// Whether callers without a token are admitted.
    pub(super) async fn is_open(&self) -> Result<bool, Fault> {
        let live = self.limiter.live.borrow().clone();
        self.is_open_by(&live).await
    }

    /// Who would be admitted, as of a moment ago. `None`: the store did not tell.
    pub(super) async fn recently_admitted(&self) -> Option<Arc<Admitted>> {
        self.recent.get(self, async || self.admitted().await).await
    }

    async fn find(
        &self,
        headers: &HeaderMap,
        from: Option<IpAddr>,
        live: &Live,
    ) -> Result<Known, Refusal> {
        let Some(token) = bearer(headers) else {
            self.limiter.has_room(from).map_err(Refusal::TooMuch)?;
            let is_open = self.is_open_by(live).await;
            return if is_open.map_err(|_| Refusal::Trouble)? && !is_passed_on(headers) {
                Ok(Known::Anybody)
            } else {
                Err(Refusal::Missing)
            };
        };
        match &live.oauth {
            Some(verifier) if !token::is_own(&token) => match verifier.holder(&token).await {
                Ok(holder) => Ok(Known::Vouched(holder)),
                Err(Doubt::Wrong) => Err(Refusal::Wrong),
                Err(Doubt::NoScope) => Err(Refusal::NoScope),
                Err(Doubt::NoKeys) => Err(Refusal::Trouble),
            },
            _ => self.own(&token, from).await.map(Known::Own),
        }
    }

    /// Whether others come to this machine through something that is on it.
    pub(super) fn is_behind_others(&self) -> bool {
        self.limiter.live.borrow().is_behind_others()
    }

    /// The first token that is given out closes the door at once.
    async fn is_open_by(&self, live: &Live) -> Result<bool, Fault> {
        if !self.open || live.oauth.is_some() || live.is_behind_others() {
            return Ok(false);
        }
        Ok(!self.store().await?.has_tokens().await?)
    }

    /// Who would be let in now. `None`: that cannot be looked up just now.
    pub(super) async fn admitted(&self) -> Option<Admitted> {
        let live = self.limiter.live.borrow().clone();
        let unasked = self.is_open_by(&live).await.ok()?;
        let tokens = self.engine.store().await.ok()?.tokens().await.ok()?;
        let now = now();
        let count = tokens
            .into_iter()
            .filter(|it| it.expires.is_none_or(|end| end > now));
        Some(Admitted {
            unasked,
            tokens: count.map(|it| it.id).collect(),
        })
    }

    async fn own(&self, token: &SecretString, from: Option<IpAddr>) -> Result<Holder, Refusal> {
        let store = self.engine.store().await.map_err(|_| Refusal::Trouble)?;
        let look = async || {
            let look = self.checker.look(token, store, now()).await;
            look.map_err(|_| Refusal::Trouble)
        };
        match look().await? {
            // Whoever guesses at a token locks out nobody who has it.
            Look::Known(holder) => return Ok(holder),
            // What names no token at all is no guess at one: the address pays for it, and nothing more is looked at.
            Look::Nobody => {
                self.limiter.has_room(from).map_err(Refusal::TooMuch)?;
                return Err(Refusal::Wrong);
            }
            Look::Unproven(_) => {}
        }
        let _turn = self.checker.turn(token, store).await;
        let stored = match look().await? {
            Look::Known(holder) => return Ok(holder),
            Look::Nobody => return Err(Refusal::Wrong),
            Look::Unproven(stored) => stored,
        };
        // Only now: whoever comes while the last guess that is left is worked out may bring the same token.
        let gate = &self.limiter.gate;
        let guess = gate.guess(from, Try::Token(token.expose_secret()));
        let guess = guess.map_err(Refusal::TooMuch)?;
        let holder = self.checker.prove(token, stored, store).await;
        let holder = holder.ok_or(Refusal::Wrong)?;
        gate.was_right(guess);
        Ok(holder)
    }
}

/// Whether somebody passes it on for somebody else, as proxies say.
pub(super) fn is_passed_on(headers: &HeaderMap) -> bool {
    const SAID_IN: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];
    SAID_IN.iter().any(|name| headers.contains_key(*name))
}

/// Sees who calls before anything else is looked at. The handlers find the [`Holder`] among the request's extensions.
pub(super) async fn authenticate(
    State(door): State<Arc<Door>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let from = door.asker(&request);
    let known = match door.admit(request.headers(), from).await {
        Ok(known) => known,
        Err(refusal) => return unread(&request, refusal),
    };
    let token = bearer(request.headers());
    let public = token.as_ref().and_then(token::open_part);
    let admission = match known {
        Known::Anybody => Admission::new(door.clone(), None),
        Known::Own(holder) => {
            request.extensions_mut().insert(holder);
            Admission::new(door.clone(), public.map(ToOwned::to_owned))
        }
        Known::Vouched(holder) => {
            // Nothing else of the headers is kept: there may be a secret of PVE among them.
            let mut brought = HeaderMap::new();
            if let Some(token) = request.headers().get(header::AUTHORIZATION) {
                brought.insert(header::AUTHORIZATION, token.clone());
            }
            request.extensions_mut().insert(holder);
            request.extensions_mut().insert(Vouched);
            let answer = next.run(request).await;
            return answer.map(|body| door.as_long_as_vouched(body, brought));
        }
    };
    request.extensions_mut().insert(admission.clone());
    let ended = admission.clone();
    tokio::select! {
        biased;
        answer = next.run(request) => {
            answer.map(|body| lasting::until(body, async move { ended.ended().await }))
        }
        // Also while the request is still arriving, or its call waits.
        () = admission.ended() => {
            let live = door.limiter.live.borrow().clone();
            closing(Refusal::Wrong.answer(&live))
        }
    }
}

/// Refuses a request whose caller was shut out while it was arriving.
pub(super) async fn recheck(request: Request, next: Next) -> Response<Body> {
    if let Some(admission) = request.extensions().get::<Admission>()
        && let Err(fault) = admission.check().await
    {
        let status = match fault.kind {
            Kind::Refused => StatusCode::UNAUTHORIZED,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        return say(status, format!("{}\n", fault.message));
    }
    next.run(request).await
}

/// Why somebody is not let in.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Missing,
    Wrong,
    NoScope,
    Trouble,
    TooMuch(TooMuch),
}

impl Refusal {
    fn answer(&self, live: &Live) -> Response<Body> {
        let (status, error, text) = match self {
            Self::Missing => (
                StatusCode::UNAUTHORIZED,
                None,
                "a token is needed: send Authorization: Bearer TOKEN; a person gives one out with `oxmox token add NAME`\n",
            ),
            Self::Wrong => (
                StatusCode::UNAUTHORIZED,
                Some("invalid_token"),
                "the token is none that counts: it was taken back, has expired, or is another server's\n",
            ),
            Self::NoScope => (
                StatusCode::FORBIDDEN,
                Some("insufficient_scope"),
                "none of the token's scopes means anything here\n",
            ),
            Self::Trouble => {
                let text = "who this is cannot be looked up just now\n";
                return say(StatusCode::SERVICE_UNAVAILABLE, text);
            }
            Self::TooMuch(too_much) => return too_much.answer(),
        };
        let challenge = match (&live.oauth, error) {
            (Some(verifier), error) => verifier.challenge(error, Scope::Read),
            (None, Some(error)) => format!("Bearer error=\"{error}\""),
            (None, None) => "Bearer".to_owned(),
        };
        challenged(status, text, &challenge)
    }
}

/// A refusal that says what would do.
pub(super) fn challenged(
    status: StatusCode,
    text: &'static str,
    challenge: &str,
) -> Response<Body> {
    let mut answer = say(status, text);
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        answer
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    answer
}

/// The token of a request. Only ever in its header: addresses are logged.
fn bearer(headers: &HeaderMap) -> Option<SecretString> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| token.to_owned().into())
}

#[cfg(test)]
mod tests {
    use super::super::{engine_of_nothing, unchanging};
    use super::*;

    #[tokio::test]
    async fn who_comes_while_the_last_guess_is_worked_out_shares_what_comes_of_it() {
        let engine = engine_of_nothing();
        let store = engine.store().await.unwrap();
        let (right, stored) = token::issue("ci", Bounds::default(), false, (0, None)).unwrap();
        assert!(store.keep_token(&stored).await.unwrap());
        let limiter = Limiter::new(unchanging(Live::default()));
        let door = Door::new(engine.clone(), false, limiter);
        let from = Some("203.0.113.7".parse().unwrap());
        let tried = Try::Token(right.expose_secret());
        while door.limiter.gate.guess(from, tried).is_ok() {}
        let turn = door.checker.turn(&right, store).await;
        let mut second = Box::pin(door.own(&right, from));
        let first = door.checker.prove(&right, stored, store);
        tokio::select! {
            biased;
            refused = &mut second => panic!("{:?}", refused.is_err()),
            holder = first => assert!(holder.is_some()),
        }
        drop(turn);
        let second = tokio::time::timeout(Duration::from_secs(20), second).await;
        assert!(second.expect("it waits").is_ok());
    }
}
