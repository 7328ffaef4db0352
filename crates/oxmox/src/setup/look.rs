//! The certificate of a host: looked at, shown, and believed only after a person, or a flag, said so.

use std::error::Error;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use pve::{Certificate, Fingerprint, Host, Presented, Trust, look};
use tools::clean;
use tools::fault::{Fault, Kind, explain};
use tools::words;

use super::talk::Talk;
use super::wishes::Wishes;
use crate::cli::out;
use crate::config::Config;

/// How long a host may take to show its certificate.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// What the configuration says of a host's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// It has this fingerprint.
    Pin(Fingerprint),
    /// This authority vouches for it.
    Authority(PathBuf),
}

impl Known {
    /// What is configured for this address.
    pub fn of(host: &Host, config: &Config) -> Option<Self> {
        let all = config.clusters.iter();
        let mut all =
            all.flat_map(|cluster| cluster.hosts.iter().map(move |at| (at, &cluster.trust)));
        let found = all.find(|(at, _)| (&at.name, at.port) == (&host.name, host.port));
        match found? {
            (at, _) if at.pin.is_some() => at.pin.map(Self::Pin),
            (_, Trust::CaFile(file)) if file.is_file() => Some(Self::Authority(file.clone())),
            _ => None,
        }
    }

    fn trust(known: Option<&Self>) -> Trust {
        match known {
            Some(Self::Authority(file)) => Trust::CaFile(file.clone()),
            Some(Self::Pin(_)) | None => Trust::System,
        }
    }

    fn is(&self, seen: &Presented) -> bool {
        match self {
            Self::Pin(pin) => *pin == seen.fingerprint,
            Self::Authority(_) => seen.trusted,
        }
    }
}

/// The host with its pin, or without one if the system trusts its certificate.
pub async fn decide(
    host: Host,
    known: Option<Known>,
    wishes: &Wishes,
    talk: Talk,
) -> Result<Host, Fault> {
    let seen = look(&host, &Known::trust(known.as_ref()), LIMIT)
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
    match known {
        Some(known) if known.is(&seen) => {
            out::say(format_args!(
                "{host} has the certificate that it should have"
            ));
            // Also where the system trusts it: a pin is more than that.
            return Ok(host.with_pin(seen.fingerprint));
        }
        // No question, and no --accept-pin: whoever takes what comes has not looked at what came before.
        Some(known) => {
            out::say(described(&host, &seen, Some(&known)));
            return Err(changed(&host, &known, &seen));
        }
        None => {}
    }
    if seen.trusted {
        out::say(format_args!(
            "{host} has a certificate that this system trusts"
        ));
        return Ok(host);
    }
    out::say(described(&host, &seen, None));
    if wishes.accept_pin {
        return Ok(host.with_pin(seen.fingerprint));
    }
    if !talk.is_there() {
        let what = format!("nobody has said that the certificate of {host} is the right one");
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

/// Another certificate than the configured one, which must never look like a first meeting.
fn changed(host: &Host, known: &Known, seen: &Presented) -> Fault {
    let before = match known {
        Known::Pin(pin) => format!("the configuration has {pin} for it"),
        Known::Authority(file) => format!("{} does not vouch for that", file.display()),
    };
    let what = format!(
        "{host} presents another certificate than it should: {}, and {before}; nothing was sent",
        seen.fingerprint
    );
    Fault::new(Kind::Refused, what).hint(format!(
        "it was renewed, several machines answer under this address, or somebody is in between: find out which; {}; if the \
         new one is right, add --pin {}",
        compare(host),
        seen.fingerprint
    ))
}

fn compare(host: &Host) -> String {
    format!(
        "compare the fingerprint with the one that the node itself shows: `pvenode cert info` there, or Node > System > \
         Certificates in the web interface of {}",
        host.name
    )
}

/// What a person needs to recognise it.
fn described(host: &Host, seen: &Presented, known: Option<&Known>) -> String {
    let mut lines = match known {
        None => vec![format!(
            "{host} presents a certificate that this system does not know:"
        )],
        Some(known) => vec![
            format!("{host} presents ANOTHER certificate than it should:"),
            match known {
                Known::Pin(pin) => format!("  before     {pin}"),
                Known::Authority(file) => format!("  before     one of {}", file.display()),
            },
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
    let hint = match io_kind(error) {
        Some(ErrorKind::ConnectionRefused) => format!(
            "nothing listens there: PVE's port is 8006 unless a proxy stands before it, and {} must be a node",
            host.name
        ),
        Some(ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
            "something else answers there: name a node of the cluster and its port, usually 8006"
                .to_owned()
        }
        None
        | Some(ErrorKind::TimedOut | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable) => {
            "check the address, and that this machine reaches it".to_owned()
        }
        // Names that mean nothing have no kind of their own.
        Some(_) if host.name.parse::<IpAddr>().is_err() => {
            "check the name, or give the node's address".to_owned()
        }
        Some(_) => "check the address, and that this machine reaches it".to_owned(),
    };
    Fault::new(Kind::Unreachable, explain(error)).hint(hint)
}

/// What the system said, somewhere among the causes.
fn io_kind(error: &pve::Error) -> Option<ErrorKind> {
    let (pve::Error::NeverSent { source, .. } | pve::Error::MaybeSent { source, .. }) = error
    else {
        return None;
    };
    let mut cause: Option<&(dyn Error + 'static)> = match source {
        Some(source) => Some(&**source),
        None => None,
    };
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}
