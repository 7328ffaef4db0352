//! Who has asked for how much, and who tries out what they should know.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};

use super::super::say;
use super::Limits;

/// Wrong tokens with the same beginning, from one address: so many at once, and then so many each second.
const GUESSES: (f64, f64) = (5.0, 0.1);
/// How many are remembered before those who ask for nothing are forgotten.
const REMEMBERED: usize = 4096;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Who {
    Caller(String),
    Address(IpAddr),
    /// Somebody who tries out tokens that begin like this.
    Guesser(IpAddr, String),
    /// Somebody who tries to sign in at the page.
    AtTheDoor(IpAddr),
}

/// What somebody tries to be known by.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Try<'a> {
    /// This token, which a program brings along with every request.
    Token(&'a str),
    /// A token or a code at the page, where people type what they have.
    SignIn,
}

struct Usage {
    /// What may still be asked for at once.
    left: f64,
    at: Instant,
    running: u32,
}

/// Counts for all.
#[derive(Default)]
pub struct Gate {
    usages: Mutex<HashMap<Who, Usage>>,
}

/// Too much; the seconds after which it is worth trying again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMuch(pub(crate) u64);

impl TooMuch {
    pub(in crate::http) fn answer(&self) -> Response<Body> {
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
pub(super) struct Pass {
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
    pub(super) fn enter(
        self: &Arc<Self>,
        who: Who,
        limits: &Limits,
        now: Instant,
    ) -> Result<Pass, TooMuch> {
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

    /// Whether somebody may try once more: guesses are slow. Their cost is ours.
    pub(crate) fn may_try(&self, from: Option<IpAddr>, what: Try<'_>) -> Result<(), TooMuch> {
        let Some(from) = from else { return Ok(()) };
        let usages = &mut self.usages();
        let usage = usage(usages, &guesser(from, what), GUESSES, Instant::now());
        if usage.left < 1.0 {
            return Err(wait(usage, GUESSES.1));
        }
        Ok(())
    }

    /// It was wrong.
    pub(crate) fn failed(&self, from: Option<IpAddr>, what: Try<'_>) {
        if let Some(from) = from {
            let usages = &mut self.usages();
            let usage = usage(usages, &guesser(from, what), GUESSES, Instant::now());
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

/// The open part of a token says which one is tried, so that guesses at one hold up no other. At the page everything that
/// is tried counts: nobody has reason to try there often.
fn guesser(from: IpAddr, what: Try<'_>) -> Who {
    let from = network(from);
    match what {
        Try::SignIn => Who::AtTheDoor(from),
        Try::Token(token) => {
            let open = token
                .split('_')
                .take(2)
                .map(|part| tools::words::clip(part, 16));
            Who::Guesser(from, open.collect())
        }
    }
}

/// Who has one address of IPv6 has a whole network of them.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
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
            assert!(
                gate.may_try(from, Try::Token("oxmox_abcd_x")).is_ok(),
                "{guess}"
            );
            gate.failed(from, Try::Token(&format!("oxmox_abcd_{guess}")));
        }
        assert!(gate.may_try(from, Try::Token("oxmox_abcd_y")).is_err());
        assert!(gate.may_try(from, Try::Token("oxmox_efgh_y")).is_ok());
        assert!(gate.may_try(from, Try::SignIn).is_ok());
        let elsewhere = Some("10.0.0.8".parse().unwrap());
        assert!(gate.may_try(elsewhere, Try::Token("oxmox_abcd_y")).is_ok());
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
