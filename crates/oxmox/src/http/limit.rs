//! How much one caller may ask for: how fast, how much at a time, and how large. Who is not known counts by address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use http_body_util::LengthLimitError;
use hyper::body::{Bytes, Frame, SizeHint};
use serde::Deserialize;
use tokio::sync::watch;

use super::accept::Peer;
use super::say;
use super::settings::Live;
use crate::token::Holder;

/// How long the body of a request may take to come.
const BODY: Duration = Duration::from_secs(30);
/// Wrong tokens with the same beginning, from one address: so many at once, and then so many each second.
const GUESSES: (f64, f64) = (5.0, 0.1);
/// How many are remembered before those who ask for nothing are forgotten.
const REMEMBERED: usize = 4096;

/// `[limits]`: what a caller may ask for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The largest request, in bytes.
    pub request_bytes: usize,
    /// How many requests are answered each second, in the long run.
    pub requests_per_second: u32,
    /// How many may come at once after a pause.
    pub burst: u32,
    /// How many may be under way at a time; streams count as long as they are open.
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

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Who {
    Caller(String),
    Address(IpAddr),
    /// Somebody who tries out tokens that begin like this.
    Guesser(IpAddr, String),
}

struct Usage {
    /// What may still be asked for at once.
    left: f64,
    at: Instant,
    running: u32,
}

/// Counts for all.
#[derive(Default)]
pub(super) struct Gate {
    usages: Mutex<HashMap<Who, Usage>>,
}

/// Too much; the seconds after which it is worth trying again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooMuch(u64);

impl TooMuch {
    pub(super) fn answer(&self) -> Response<Body> {
        let mut answer = say(
            StatusCode::TOO_MANY_REQUESTS,
            "too many requests: wait as many seconds as Retry-After says\n",
        );
        answer
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(self.0));
        answer
    }
}

/// A request that is under way, until it is dropped.
struct Pass {
    gate: Arc<Gate>,
    who: Who,
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(usage) = self.gate.usages().get_mut(&self.who) {
            usage.running = usage.running.saturating_sub(1);
        }
    }
}

impl Gate {
    fn enter(self: &Arc<Self>, who: Who, limits: &Limits, now: Instant) -> Result<Pass, TooMuch> {
        let (most, pace) = (
            f64::from(limits.burst),
            f64::from(limits.requests_per_second),
        );
        let mut usages = self.usages();
        let usage = usage(&mut usages, &who, (most, pace), now);
        if usage.running >= limits.concurrent_requests {
            return Err(TooMuch(1));
        }
        take(usage, pace)?;
        usage.running += 1;
        drop(usages);
        Ok(Pass {
            gate: self.clone(),
            who,
        })
    }

    /// Whether a token may be tried: guesses at the secret of a token are slow. Their cost is ours.
    pub(super) fn may_try(&self, from: Option<IpAddr>, token: &str) -> Result<(), TooMuch> {
        let Some(from) = from else { return Ok(()) };
        let usages = &mut self.usages();
        let usage = usage(usages, &guesser(from, token), GUESSES, Instant::now());
        if usage.left < 1.0 {
            return Err(wait(usage, GUESSES.1));
        }
        Ok(())
    }

    /// The token was wrong.
    pub(super) fn failed(&self, from: Option<IpAddr>, token: &str) {
        if let Some(from) = from {
            let usages = &mut self.usages();
            let usage = usage(usages, &guesser(from, token), GUESSES, Instant::now());
            let _ = take(usage, GUESSES.1);
        }
    }

    fn usages(&self) -> MutexGuard<'_, HashMap<Who, Usage>> {
        self.usages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this one has used, with what has come back since.
fn usage<'a>(
    usages: &'a mut HashMap<Who, Usage>,
    who: &Who,
    (most, pace): (f64, f64),
    now: Instant,
) -> &'a mut Usage {
    if usages.len() >= REMEMBERED && !usages.contains_key(who) {
        usages.retain(|_, usage| {
            usage.running > 0 || now.saturating_duration_since(usage.at) < Duration::from_mins(1)
        });
        if usages.len() >= REMEMBERED {
            usages.retain(|_, usage| usage.running > 0);
        }
    }
    let usage = usages.entry(who.clone()).or_insert(Usage {
        left: most,
        at: now,
        running: 0,
    });
    let passed = now.saturating_duration_since(usage.at).as_secs_f64();
    usage.left = (usage.left + passed * pace).min(most);
    usage.at = now;
    usage
}

fn take(usage: &mut Usage, pace: f64) -> Result<(), TooMuch> {
    if usage.left < 1.0 {
        return Err(wait(usage, pace));
    }
    usage.left -= 1.0;
    Ok(())
}

fn wait(usage: &Usage, pace: f64) -> TooMuch {
    let seconds = Duration::try_from_secs_f64((1.0 - usage.left) / pace).unwrap_or_default();
    TooMuch(seconds.as_secs() + 1)
}

/// The open part of a token says which one is tried.
fn guesser(from: IpAddr, token: &str) -> Who {
    let open = token
        .split('_')
        .take(2)
        .map(|part| tools::words::clip(part, 16));
    Who::Guesser(network(from), open.collect())
}

/// Who has one address of IPv6 has a whole network of them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

/// What the layer needs.
#[derive(Clone)]
pub(super) struct Limiter {
    pub(super) gate: Arc<Gate>,
    pub(super) live: watch::Receiver<Arc<Live>>,
}

impl Limiter {
    fn enter(&self, request: &Request) -> Result<Option<Pass>, TooMuch> {
        let live = self.live.borrow().clone();
        let extensions = request.extensions();
        let caller = extensions.get::<Holder>();
        let caller = caller.map(|holder| Who::Caller(holder.caller.name.clone()));
        let peer = extensions.get::<Peer>();
        let who = caller.or_else(|| peer.map(|peer| Who::Address(network(peer.address))));
        who.map(|who| self.gate.enter(who, &live.limits, Instant::now()))
            .transpose()
    }

    /// One more of somebody who is not let in.
    pub(super) fn refused(&self, request: &Request) -> Result<(), TooMuch> {
        self.enter(request).map(drop)
    }
}

/// Lets through as much as a caller may ask for.
pub(super) async fn limit(
    State(limiter): State<Limiter>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let pass = match limiter.enter(&request) {
        Ok(pass) => pass,
        Err(too_much) => return too_much.answer(),
    };
    let most = limiter.live.borrow().limits.request_bytes;
    let answer = match whole(request, most).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal,
    };
    answer.map(|body| Body::new(Held { body, _pass: pass }))
}

/// An answer: it is under way until its last byte was taken.
struct Held {
    body: Body,
    _pass: Option<Pass>,
}

impl hyper::body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The request with all of its body, if that is small enough and comes in time.
async fn whole(request: Request, most: usize) -> Result<Request, Response<Body>> {
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(BODY, axum::body::to_bytes(body, most)).await;
    match read {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(error)) if is_too_long(&error) => Err(say(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a request may have {most} bytes\n"),
        )),
        Ok(Err(_)) => Err(say(StatusCode::BAD_REQUEST, "the request broke off\n")),
        Err(_) => Err(say(
            StatusCode::REQUEST_TIMEOUT,
            "the request did not come in time\n",
        )),
    }
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

    fn limits() -> Limits {
        Limits {
            requests_per_second: 2,
            burst: 3,
            concurrent_requests: 2,
            ..Limits::default()
        }
    }

    #[test]
    fn what_was_used_comes_back_with_time() {
        let gate = Arc::new(Gate::default());
        let who = Who::Caller("ci".to_owned());
        let begin = Instant::now();
        for _ in 0..3 {
            assert!(gate.enter(who.clone(), &limits(), begin).is_ok());
        }
        let refused = gate.enter(who.clone(), &limits(), begin).err();
        assert_eq!(refused, Some(TooMuch(1)));
        let another = Who::Caller("another".to_owned());
        assert!(gate.enter(another, &limits(), begin).is_ok());
        let later = begin + Duration::from_millis(600);
        assert!(gate.enter(who.clone(), &limits(), later).is_ok());
        assert!(gate.enter(who, &limits(), later).is_err());
    }

    #[test]
    fn so_many_are_under_way_at_a_time() {
        let gate = Arc::new(Gate::default());
        let who = Who::Address("10.0.0.7".parse().unwrap());
        let now = Instant::now();
        let one = gate.enter(who.clone(), &limits(), now).ok().unwrap();
        let _other = gate.enter(who.clone(), &limits(), now).ok().unwrap();
        assert!(gate.enter(who.clone(), &limits(), now).is_err());
        drop(one);
        assert!(gate.enter(who, &limits(), now).is_ok());
    }

    #[test]
    fn guesses_at_one_token_hold_up_no_other() {
        let gate = Gate::default();
        let from = Some("10.0.0.7".parse().unwrap());
        for guess in 0..5 {
            assert!(gate.may_try(from, "oxmox_abcd_x").is_ok(), "{guess}");
            gate.failed(from, &format!("oxmox_abcd_{guess}"));
        }
        assert!(gate.may_try(from, "oxmox_abcd_y").is_err());
        assert!(gate.may_try(from, "oxmox_efgh_y").is_ok());
        let elsewhere = Some("10.0.0.8".parse().unwrap());
        assert!(gate.may_try(elsewhere, "oxmox_abcd_y").is_ok());
    }

    #[test]
    fn those_who_ask_for_nothing_are_forgotten() {
        let gate = Arc::new(Gate::default());
        let now = Instant::now();
        let waiting = Who::Caller("waiting".to_owned());
        let _pass = gate.enter(waiting.clone(), &limits(), now).ok().unwrap();
        for caller in 0..2 * REMEMBERED {
            let who = Who::Caller(caller.to_string());
            drop(gate.enter(who, &limits(), now));
        }
        assert!(gate.usages().len() <= REMEMBERED);
        assert!(gate.usages().contains_key(&waiting));
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one() {
        let one: IpAddr = "2001:db8:1:2:3::4".parse().unwrap();
        let other: IpAddr = "2001:db8:1:2:ffff::".parse().unwrap();
        assert_eq!(network(one), network(other));
    }
}
