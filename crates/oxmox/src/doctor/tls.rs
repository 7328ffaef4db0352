//! The certificate of a host: why it is believed, and for how long.

use pve::{Certificate, Host, Trust, Untrusted};
use tools::words;

use super::finding::Finding;

const CHECK: &str = "tls";

/// PVE renews its own two weeks before the end: one that is nearer has not been.
const SOON: i64 = 14;

const DAY: i64 = 86_400;

/// One that was believed.
pub(super) fn check(host: &Host, trust: &Trust, certificate: &Certificate, now: i64) -> Finding {
    let by = match (host.pin, trust) {
        (Some(_), _) => "by its pin",
        (None, Trust::CaFile(_) | Trust::CaText(_)) => "by ca_file",
        (None, Trust::System) => "by the system's roots",
    };
    let days = (certificate.not_after - now).div_euclid(DAY);
    let until = words::time(certificate.not_after);
    let whose = format!(
        "{host}: {}, believed {by}",
        words::clip(&certificate.subject, 80)
    );
    let renew = if host.pin.is_some() {
        format!(
            "on the node `pvecm updatecerts --force && systemctl restart pveproxy` makes a new one; then pin that: `oxmox cluster test` shows its fingerprint, now {}",
            certificate.fingerprint
        )
    } else {
        "on the node `pvenode cert info` shows it, `pvenode acme cert renew` or `pvecm updatecerts --force` makes a new one"
            .to_owned()
    };
    if days < 0 {
        // A pin is about this very certificate, whatever its dates.
        return Finding::warning(CHECK, format!("{whose}; it ended on {until}")).hint(renew);
    }
    if certificate.not_before > now {
        let from = words::time(certificate.not_before);
        return Finding::warning(CHECK, format!("{whose}; it begins only on {from}"))
            .hint("look at both clocks: `timedatectl` on the node and here");
    }
    let left = usize::try_from(days).unwrap_or_default();
    let text = format!(
        "{whose}, until {until} ({} left)",
        words::count(left, "day")
    );
    if days < SOON {
        return Finding::warning(CHECK, text).hint(renew);
    }
    Finding::ok(CHECK, text)
}

/// One that was not. Where another host is believed, only the way around is lost.
pub(super) fn refused(
    untrusted: &Untrusted,
    certificate: Option<&Certificate>,
    another_answers: bool,
) -> Finding {
    let whose = certificate.map_or_else(String::new, |certificate| {
        format!(
            " ({}, until {})",
            words::clip(&certificate.subject, 80),
            words::time(certificate.not_after)
        )
    });
    let what = match &untrusted.pinned {
        Some(pinned) => format!(
            "THE CERTIFICATE OF {} IS NOT THE PINNED ONE: expected {pinned}, presented {}{whose}. It was renewed, or somebody is in between",
            untrusted.host, untrusted.presented
        ),
        None => format!(
            "{}: {}; it presented {}{whose}",
            untrusted.host, untrusted.problem, untrusted.presented
        ),
    };
    if another_answers && untrusted.pinned.is_none() {
        return Finding::warning(CHECK, what).hint(untrusted.hint());
    }
    Finding::problem(CHECK, what, untrusted.hint())
}

#[cfg(test)]
mod tests {
    use pve::Fingerprint;

    use super::super::finding::Level;
    use super::*;

    fn certificate(not_before: i64, not_after: i64) -> Certificate {
        Certificate {
            fingerprint: Fingerprint::of_der(b"x"),
            subject: "CN=pve1".to_owned(),
            issuer: "CN=ca".to_owned(),
            not_before,
            not_after,
        }
    }

    #[test]
    fn the_days_that_are_left_decide() {
        let host: Host = "pve1".parse().unwrap();
        let pinned = host.clone().with_pin(Fingerprint::of_der(b"x"));
        for (host, ends, level, says) in [
            (&host, 100 * DAY, Level::Ok, "(100 days left)"),
            (&host, DAY, Level::Warning, "(1 day left)"),
            (&pinned, 13 * DAY, Level::Warning, "believed by its pin"),
            (&pinned, -DAY, Level::Warning, "it ended on"),
        ] {
            let found = check(host, &Trust::System, &certificate(-9 * DAY, ends), 0);
            assert_eq!(found.level, level, "{found:?}");
            assert!(found.says.contains(says), "{found:?}");
            assert_eq!(found.hint.is_some(), level != Level::Ok);
        }
        let early = check(&host, &Trust::System, &certificate(DAY, 9 * DAY), 0);
        assert_eq!(early.level, Level::Warning);
    }
}
