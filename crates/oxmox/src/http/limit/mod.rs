//! How much one caller may ask for: how fast, how much at a time, and how large. Who is not known counts by address.

mod gate;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::Next;
use http_body_util::LengthLimitError;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;

use super::accept::Peer;
use super::settings::Live;
use super::{closing, held, say, unread};
use crate::token::Holder;
pub use gate::Gate;
pub(super) use gate::network;
use gate::{Pass, Who};
pub(crate) use gate::{TooMuch, Try};

/// Whom a proxy asks for, it says here; the last one is its own word.
const FORWARDED: &str = "x-forwarded-for";

/// `[limits]`: what a caller may ask for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The largest request, in bytes.
    #[schemars(extend("toml" = "1048576"))]
    pub request_bytes: usize,
    /// How many requests are answered each second, in the long run.
    #[schemars(extend("toml" = "10"))]
    pub requests_per_second: u32,
    /// How many may come at once after a pause.
    #[schemars(extend("toml" = "100"))]
    pub burst: u32,
    /// How many may be under way at a time; streams count as long as they are open.
    #[schemars(extend("toml" = "32"))]
    pub concurrent_requests: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request_bytes: 4 * 1024 * 1024,
            requests_per_second: 50,
            burst: 250,
            concurrent_requests: 256,
        }
    }
}

impl Limits {
    /// What cannot be meant: a service that answers nobody.
    pub fn fault(&self) -> Option<&'static str> {
        let all = [
            (self.request_bytes == 0, "request_bytes"),
            (self.requests_per_second == 0, "requests_per_second"),
            (self.burst == 0, "burst"),
            (self.concurrent_requests == 0, "concurrent_requests"),
        ];
        all.into_iter()
            .find_map(|(is_zero, key)| is_zero.then_some(key))
    }
}

/// What the layer needs.
#[derive(Clone)]
pub(super) struct Limiter {
    pub(super) gate: Arc<Gate>,
    pub(super) live: watch::Receiver<Arc<Live>>,
    /// The longest body, where there is less to send than the settings allow.
    longest: usize,
    /// Who somebody is that is not known.
    stranger: fn(IpAddr) -> Who,
}

/// The address that a request counts for, among its extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker(pub(crate) IpAddr);

/// The name of the person whose page sends a request, among its extensions.
#[derive(Debug, Clone)]
pub(crate) struct SignedIn(pub(crate) String);

impl Limiter {
    /// By these settings.
    pub(super) fn new(live: watch::Receiver<Arc<Live>>) -> Self {
        Self {
            gate: Arc::default(),
            live,
            longest: usize::MAX,
            stranger: Who::Address,
        }
    }

    /// The same for the page, where no longer bodies are taken than this.
    pub(super) fn for_page(self, longest: usize) -> Self {
        Self {
            longest,
            stranger: Who::Visitor,
            ..self
        }
    }

    fn enter(&self, request: &Request) -> Result<Option<Pass>, TooMuch> {
        let live = self.live.borrow().clone();
        let known = request.extensions();
        let caller = known.get::<Holder>();
        let caller = caller.map(|holder| Who::Caller(holder.caller.name.clone()));
        let person = || Some(Who::Person(known.get::<SignedIn>()?.0.clone()));
        let asker = || Some((self.stranger)(network(self.asker(request)?)));
        let who = caller.or_else(person).or_else(asker);
        who.map(|who| self.gate.enter(who, &live.limits, Instant::now()))
            .transpose()
    }

    /// The other end of the connection or, where that is a proxy that the configuration knows of, whom it asks for.
    pub(super) fn asker(&self, request: &Request) -> Option<IpAddr> {
        let peer = request.extensions().get::<Peer>()?.address;
        if !self.live.borrow().behind_proxy {
            return Some(peer);
        }
        let mut named = request.headers().get_all(FORWARDED).iter();
        let last = named.next_back().and_then(|value| value.to_str().ok());
        let last = last.and_then(|value| address(value.rsplit(',').next()?.trim()));
        Some(last.map_or(peer, |last| last.to_canonical()))
    }

    /// One more of somebody who is not let in.
    pub(super) fn refused(&self, from: Option<IpAddr>) -> Result<(), TooMuch> {
        let Some(from) = from else { return Ok(()) };
        let live = self.live.borrow().clone();
        let who = Who::Address(network(from));
        let pass = self.gate.enter(who, &live.limits, Instant::now());
        pass.map(drop)
    }

    /// Whether somebody who is not known has anything left to ask for.
    pub(super) fn has_room(&self, from: Option<IpAddr>) -> Result<(), TooMuch> {
        let Some(from) = from else { return Ok(()) };
        let live = self.live.borrow().clone();
        let who = Who::Address(network(from));
        self.gate.has_room(&who, &live.limits, Instant::now())
    }
}

/// Some proxies tell the port, too.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse().map(|at: SocketAddr| at.ip());
    text.parse().or_else(|_| with_port()).ok()
}

/// Lets through as much as a caller may ask for.
pub(super) async fn limit(
    State(limiter): State<Limiter>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let pass = match limiter.enter(&request) {
        Ok(pass) => pass,
        Err(too_much) => return unread(&request, too_much.answer()),
    };
    if let Some(from) = limiter.asker(&request) {
        request.extensions_mut().insert(Asker(from));
    }
    let live = limiter.live.borrow().clone();
    let most = live.limits.request_bytes.min(limiter.longest);
    let answer = match whole(request, most, live.pace.body).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => closing(refusal),
    };
    answer.map(|body| held::until_its_end(body, pass))
}

/// The request with all of its body, if that is small enough and comes in time.
async fn whole(
    request: Request,
    most: usize,
    patience: Duration,
) -> Result<Request, Response<Body>> {
    let told = hyper::body::Body::size_hint(request.body()).lower();
    if usize::try_from(told).is_ok_and(|told| told > most) {
        return Err(too_long(most));
    }
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(patience, axum::body::to_bytes(body, most)).await;
    match read {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(error)) if is_too_long(&error) => Err(too_long(most)),
        Ok(Err(_)) => Err(say(StatusCode::BAD_REQUEST, "the request broke off\n")),
        Err(_) => Err(say(
            StatusCode::REQUEST_TIMEOUT,
            "the request did not come in time\n",
        )),
    }
}

fn too_long(most: usize) -> Response<Body> {
    say(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("a request may have {most} bytes\n"),
    )
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_port() {
        for (text, meant) in [
            ("203.0.113.7", "203.0.113.7"),
            ("203.0.113.7:5100", "203.0.113.7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]:5100", "2001:db8::7"),
        ] {
            assert_eq!(address(text), meant.parse().ok(), "{text}");
        }
        assert_eq!(address("unknown"), None);
    }
}
