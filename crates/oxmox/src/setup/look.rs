//! The certificate of a host: looked at, shown, and believed only after a person, or a flag, said so.

use std::time::Duration;

use pve::{Certificate, Fingerprint, Host, Presented, look};
use tools::clean;
use tools::fault::{Fault, Kind, explain};
use tools::words;

use super::talk::Talk;
use super::wishes::Wishes;
use crate::cli::out;

/// How long a host may take to show its certificate.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// The host with its pin, or without one if the system trusts its certificate. `pinned`: what the configuration says of it.
pub async fn decide(
    host: Host,
    pinned: Option<Fingerprint>,
    wishes: &Wishes,
    talk: Talk,
) -> Result<Host, Fault> {
    let seen = look(&host, LIMIT)
        .await
        .map_err(|error| unreached(&host, &error))?;
    if let Some(pin) = wishes.pin {
        if pin == seen.fingerprint {
            return Ok(host.with_pin(pin));
        }
        let what = format!(
            "{host} does not present the certificate of --pin: it presents {}",
            seen.fingerprint
        );
        return Err(Fault::new(Kind::Refused, what).hint(compare(&host)));
    }
    if pinned == Some(seen.fingerprint) {
        out::say(format_args!("{host} has the certificate that is pinned"));
        return Ok(host.with_pin(seen.fingerprint));
    }
    if seen.trusted {
        out::say(format_args!(
            "{host} has a certificate that this system trusts"
        ));
        return Ok(host);
    }
    out::say(described(&host, &seen, pinned));
    // Whoever takes what comes has not looked at what came before.
    if wishes.accept_pin && pinned.is_none() {
        return Ok(host.with_pin(seen.fingerprint));
    }
    if !talk.is_there() {
        let what = match pinned {
            Some(_) => format!("{host} presents another certificate than the pinned one"),
            None => {
                format!("nobody has said that the certificate of {host} is the right one")
            }
        };
        return Err(Fault::new(Kind::Refused, what).hint(format!(
            "{}, then add --pin {}",
            compare(&host),
            seen.fingerprint
        )));
    }
    out::hint(compare(&host));
    if talk.agree("Is this its certificate?").await? {
        Ok(host.with_pin(seen.fingerprint))
    } else {
        Err(Fault::new(
            Kind::Refused,
            "the certificate was not accepted; nothing was sent",
        )
        .hint("find out who answers under this address before you type a password"))
    }
}

fn compare(host: &Host) -> String {
    format!(
        "compare the fingerprint with the one that the node itself shows: `pvenode cert info` there, or Node > System > \
         Certificates in the web interface of {}",
        host.name
    )
}

/// What a person needs to recognise it.
fn described(host: &Host, seen: &Presented, pinned: Option<Fingerprint>) -> String {
    let mut lines = match pinned {
        None => vec![format!(
            "{host} presents a certificate that this system does not know:"
        )],
        Some(pinned) => vec![
            format!(
                "{host} presents ANOTHER certificate than the one that was accepted before. It was renewed, several machines \
                 answer under this address, or somebody is in between:"
            ),
            format!("  before     {pinned}"),
        ],
    };
    lines.push(format!("  SHA-256    {}", seen.fingerprint));
    if let Some(says) = Certificate::of_der(&seen.der) {
        lines.push(format!("  subject    {}", clean::text(&says.subject)));
        lines.push(format!("  issuer     {}", clean::text(&says.issuer)));
        lines.push(format!(
            "  valid      {} to {}",
            words::time(says.not_before),
            words::time(says.not_after)
        ));
    }
    lines.join("\n")
}

/// No connection, with what is most likely wrong.
pub(super) fn unreached(host: &Host, error: &pve::Error) -> Fault {
    let text = explain(error);
    let hint = if text.contains("refused") {
        format!(
            "nothing listens there: PVE's port is 8006 unless a proxy stands before it, and {} must be a node",
            host.name
        )
    } else if text.contains("TLS") {
        "something else answers there: name a node of the cluster and its port, usually 8006"
            .to_owned()
    } else if text.contains("lookup") || text.contains("resolve") || text.contains("not known") {
        "check the name, or give the node's address".to_owned()
    } else {
        "check the address, and that this machine reaches it".to_owned()
    };
    Fault::new(Kind::Unreachable, text).hint(hint)
}
