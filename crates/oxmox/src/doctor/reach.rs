//! Each configured host by itself: whether it answers, with which certificate, at what time, and whether it lets us in.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use pve::{Credentials, Error, Host, Reader, Settings, Version};
use tools::fault::{Fault, explain};

use super::cluster::{Notes, Patient};
use super::finding::Finding;
use super::{clock, tls};

const CHECK: &str = "connection";

/// For each host, which is tried once: this is about the host, and not about getting an answer from any.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(10);

/// Whether a host lets us in.
pub(super) enum Door {
    /// At least one does, and runs this.
    Open(Version),
    /// None does.
    Closed,
}

struct Visit {
    host: Host,
    took: Duration,
    answer: Result<Version, Error>,
    reader: Option<Reader>,
}

pub(super) async fn check(settings: &Settings, patient: &Patient, notes: &Notes) -> Door {
    let visits = join_all(settings.hosts.iter().map(|host| visit(host, settings))).await;
    let is_open = visits.iter().any(|visit| visit.answer.is_ok());
    let mut refused = false;
    for visit in &visits {
        notes.add(connection(visit, is_open));
        let Some(reader) = &visit.reader else {
            continue;
        };
        if let Err(Error::Fingerprint(untrusted)) = &visit.answer {
            let certificate = reader.certificates().pop().map(|(_, it)| it);
            notes.add(tls::refused(untrusted, certificate.as_ref(), is_open));
        } else {
            for (host, certificate) in reader.certificates() {
                notes.add(tls::check(
                    host,
                    &settings.trust,
                    &certificate,
                    crate::session::now(),
                ));
            }
        }
        notes.extend(
            reader
                .clock_ahead()
                .map(|ahead| clock::check(&visit.host, ahead)),
        );
        // Every host says the same about a token; once is enough.
        if let Err(error @ Error::Auth { .. }) = &visit.answer
            && !refused
        {
            refused = true;
            let hint = refused_hint(&settings.credentials, error, patient);
            notes.add(Finding::problem("token", explain(error), hint));
        }
    }
    let mut open = visits.into_iter().filter_map(|visit| visit.answer.ok());
    open.next().map_or(Door::Closed, Door::Open)
}

/// What to do about a login that no host takes.
fn refused_hint(credentials: &Credentials, error: &Error, patient: &Patient) -> String {
    match credentials {
        Credentials::Token { .. } => {
            "`pveum user token list USER` on a node shows the tokens; `oxmox setup` makes a new one"
                .to_owned()
        }
        Credentials::Password { .. } => {
            // Where PVE did not say no to it, the password may be right. One that is yet to be added is nowhere to be set.
            let first = if error.is_refused_login() && !patient.is_new {
                let name = &patient.name;
                format!("`oxmox secret set {name}` puts another password in its place; ")
            } else {
                String::new()
            };
            format!(
                "{first}`pveum user list` on a node shows whether the user is there and enabled, `pveum user tfa list` whether it \
                 has a second factor, which oxmox cannot answer: a token needs none"
            )
        }
        Credentials::Ticket { .. } => "a ticket lasts two hours: log in again".to_owned(),
    }
}

async fn visit(host: &Host, settings: &Settings) -> Visit {
    let mut alone = settings.clone();
    alone.hosts = vec![host.clone()];
    alone.timeouts.connect = CONNECT;
    alone.timeouts.answer = ANSWER;
    alone.timeouts.retry = Duration::ZERO;
    let begun = Instant::now();
    let (answer, reader) = match pve::connect(alone) {
        Ok((reader, _)) => (reader.version().await, Some(reader)),
        Err(error) => (Err(error), None),
    };
    Visit {
        host: host.clone(),
        took: begun.elapsed(),
        answer,
        reader,
    }
}

/// A host that is out of reach is a problem only where no other one stands in for it.
fn connection(visit: &Visit, another_answers: bool) -> Finding {
    let host = &visit.host;
    let took = visit.took.as_millis();
    match &visit.answer {
        Ok(_) => Finding::ok(CHECK, format!("{host} answers, in {took} ms")),
        Err(Error::Auth { .. }) => Finding::ok(CHECK, format!("{host} answers")),
        Err(Error::Fingerprint(_)) => Finding::ok(
            CHECK,
            format!("{host} answers; its certificate is not accepted"),
        ),
        Err(error @ (Error::NeverSent { .. } | Error::MaybeSent { .. })) => {
            let what = explain(error);
            let hint = format!(
                "is it on, is the name right, does a firewall let TCP port {} through? `curl -kv https://{host}/` from here tells",
                host.port
            );
            if another_answers {
                return Finding::warning(CHECK, format!("{what}; another host stands in for it"))
                    .hint(hint);
            }
            Finding::problem(CHECK, what, hint)
        }
        Err(error) => {
            let fault = Fault::from(error.clone());
            Finding::failed(CHECK, fault, "`oxmox -vv doctor` says more on stderr")
        }
    }
}
