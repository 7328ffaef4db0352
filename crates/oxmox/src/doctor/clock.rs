//! Whether a node and this machine agree on what time it is.
//!
//! No API token minds: PVE looks at its own clock alone, also for tickets. This machine's decides whether a certificate has
//! begun or ended; a node's decides whether a code of an authenticator fits, and whether a ticket of another node is believed.
//! So a difference stops nothing by itself. It says that one of the two is wrong.

use pve::Host;
use tools::words;

use super::finding::Finding;

const CHECK: &str = "clock";

/// Answers take time, and the header that tells it has whole seconds.
const USUAL: u64 = 5;

/// A code of an authenticator lasts so long, and PVE takes the one before and the one after.
const CODE: u64 = 30;

pub(super) fn check(host: &Host, ahead: i64) -> Finding {
    let apart = ahead.unsigned_abs();
    if apart <= USUAL {
        return Finding::ok(CHECK, format!("{host} and this machine agree on the time"));
    }
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    let what = format!("{host} is {} {way} this machine", words::duration(apart));
    let hint = "`timedatectl` on the node and here shows which one is wrong; `systemctl enable --now chrony` on that one";
    if apart <= CODE {
        return Finding::note(CHECK, what).hint(hint);
    }
    let what = format!(
        "{what}; tokens do not mind, but logins with TOTP and the dates of certificates go by clocks"
    );
    Finding::warning(CHECK, what).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_few_seconds_are_nothing_and_hours_stop_nothing() {
        let host: Host = "pve1".parse().unwrap();
        let at = |ahead| check(&host, ahead);
        assert_eq!(at(-2).level, Level::Ok);
        assert_eq!(at(20).level, Level::Note);
        let found = at(90);
        assert_eq!(found.level, Level::Warning);
        assert!(
            found
                .says
                .starts_with("pve1:8006 is 1 min 30 s ahead of this machine; tokens do not mind"),
            "{found:?}"
        );
        let found = at(-7200);
        assert_eq!(found.level, Level::Warning);
        assert!(found.says.contains("2 h behind"), "{found:?}");
    }
}
