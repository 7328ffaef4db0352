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
    /// Somebody who is signed in at the page. Apart from callers: what an agent uses up by the token of the same name is not
    /// theirs.
    Person(String),
    Address(IpAddr),
    /// Somebody at the page who is not signed in. Apart from those who come to MCP: an agent that uses up what its address has
    /// keeps nobody from signing in to stop it.
    Visitor(IpAddr),
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
    /// What may be asked for at once, and how much of it comes back each second.
    rate: (f64, f64),
    /// What may still be asked for at once.
    left: f64,
    at: Instant,
    running: u32,
}

impl Usage {
    /// What may be asked for at once now.
    fn left_at(&self, now: Instant) -> f64 {
        let (most, pace) = self.rate;
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.left + passed * pace).min(most)
    }

    /// Whether it is as if they had never asked.
    fn is_over(&self, now: Instant) -> bool {
        self.running == 0 && self.left_at(now) >= self.rate.0
    }
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

/// Something that somebody tries to be known by, until it is known whether it was right.
#[must_use]
pub(crate) struct Guess(Option<Who>);

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
        let mut usages = self.usages();
        let usage = usage(&mut usages, &who, rate(limits), now);
        if usage.running >= limits.concurrent_requests {
            return Err(TooMuch(1));
        }
        take(usage)?;
        usage.running += 1;
        drop(usages);
        Ok(Pass {
            gate: self.clone(),
            who,
        })
    }

    /// Whether they may ask for one thing more now. Counts nothing.
    pub(super) fn has_room(&self, who: &Who, limits: &Limits, now: Instant) -> Result<(), TooMuch> {
        enough(usage(&mut self.usages(), who, rate(limits), now))
    }

    /// Somebody tries once more. Guesses are slow, since their cost is ours, and each counts before it is looked at: many at a
    /// time are no way around that.
    pub(crate) fn guess(&self, from: Option<IpAddr>, what: Try<'_>) -> Result<Guess, TooMuch> {
        let who = from.map(|from| guesser(from, what));
        if let Some(who) = &who {
            let usages = &mut self.usages();
            take(usage(usages, who, GUESSES, Instant::now()))?;
        }
        Ok(Guess(who))
    }

    /// It was no guess.
    pub(crate) fn was_right(&self, guess: Guess) {
        if let Guess(Some(who)) = guess
            && let Some(usage) = self.usages().get_mut(&who)
        {
            usage.left = (usage.left + 1.0).min(usage.rate.0);
        }
    }

    fn usages(&self) -> MutexGuard<'_, HashMap<Who, Usage>> {
        self.usages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What may be asked for at once, and how much of it comes back each second.
fn rate(limits: &Limits) -> (f64, f64) {
    let most = f64::from(limits.burst);
    (most, f64::from(limits.requests_per_second))
}

/// What this one has used, with what has come back since.
fn usage<'a>(
    usages: &'a mut HashMap<Who, Usage>,
    who: &Who,
    (most, pace): (f64, f64),
    now: Instant,
) -> &'a mut Usage {
    if usages.len() >= REMEMBERED && !usages.contains_key(who) {
        forget(usages, now);
    }
    let usage = usages.entry(who.clone()).or_insert(Usage {
        rate: (most, pace),
        left: most,
        at: now,
        running: 0,
    });
    // The limits may have changed since.
    usage.rate = (most, pace);
    usage.left = usage.left_at(now);
    usage.at = now;
    usage
}

/// Makes room. Who asked long ago goes first; if that is not enough, a quarter of the others who have nothing under way, so that
/// nobody who comes under many names makes all the others new.
fn forget(usages: &mut HashMap<Who, Usage>, now: Instant) {
    usages.retain(|_, usage| !usage.is_over(now));
    if usages.len() < REMEMBERED {
        return;
    }
    let idle = usages.values().filter(|usage| usage.running == 0);
    let mut idle: Vec<_> = idle.map(|usage| usage.at).collect();
    idle.sort_unstable();
    if let Some(&oldest) = idle.get(idle.len() / 4) {
        usages.retain(|_, usage| usage.running > 0 || usage.at > oldest);
    }
}

fn take(usage: &mut Usage) -> Result<(), TooMuch> {
    enough(usage)?;
    usage.left -= 1.0;
    Ok(())
}

fn enough(usage: &Usage) -> Result<(), TooMuch> {
    if usage.left < 1.0 {
        let seconds = Duration::try_from_secs_f64((1.0 - usage.left) / usage.rate.1);
        return Err(TooMuch(seconds.unwrap_or_default().as_secs() + 1));
    }
    Ok(())
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
pub(in crate::http) fn network(address: IpAddr) -> IpAddr {
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
            let guess = format!("oxmox_abcd_{guess}");
            // All at once: nobody knows yet whether they are right.
            assert!(gate.guess(from, Try::Token(&guess)).is_ok(), "{guess}");
        }
        assert!(gate.guess(from, Try::Token("oxmox_abcd_y")).is_err());
        assert!(gate.guess(from, Try::Token("oxmox_efgh_y")).is_ok());
        assert!(gate.guess(from, Try::SignIn).is_ok());
        let elsewhere = Some("10.0.0.8".parse().unwrap());
        assert!(gate.guess(elsewhere, Try::Token("oxmox_abcd_y")).is_ok());
    }

    #[test]
    fn who_is_right_may_come_as_often_as_they_like() {
        let gate = Gate::default();
        let from = Some("10.0.0.7".parse().unwrap());
        for _ in 0..100 {
            let guess = gate.guess(from, Try::Token("oxmox_abcd_x")).ok();
            gate.was_right(guess.unwrap());
        }
    }

    #[test]
    fn who_comes_under_many_names_makes_nobody_new() {
        let gate = Arc::new(Gate::default());
        let begin = Instant::now();
        let enter = |who: &str, at| drop(gate.enter(Who::Caller(who.to_owned()), &limits(), at));
        for name in 0..REMEMBERED {
            enter(&name.to_string(), begin);
        }
        let late = begin + Duration::from_millis(1);
        for _ in 0..3 {
            enter("greedy", late);
        }
        for name in 0..REMEMBERED / 2 {
            enter(&format!("more {name}"), late);
        }
        let refused = gate.enter(Who::Caller("greedy".to_owned()), &limits(), late);
        assert!(refused.is_err());
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
