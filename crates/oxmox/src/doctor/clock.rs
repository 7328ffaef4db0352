//! Whether a node and this machine agree on what time it is: logins, certificates and the audit trail go by it.

use pve::Host;
use tools::words;

use super::finding::Finding;

const CHECK: &str = "clock";

/// Answers take time, and the header that tells it has whole seconds.
const USUAL: u64 = 5;

/// PVE refuses a ticket that is from so far in the future.
const TOO_MUCH: u64 = 300;

pub(super) fn check(host: &Host, ahead: i64) -> Finding {
    let apart = ahead.unsigned_abs();
    if apart <= USUAL {
        return Finding::ok(CHECK, format!("{host} and this machine agree on the time"));
    }
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    let what = format!("{host} is {} {way} this machine", words::duration(apart));
    let hint = "`timedatectl` on the node and here shows which one is wrong; `systemctl enable --now chrony` on that one";
    if apart > TOO_MUCH {
        return Finding::problem(CHECK, what, hint);
    }
    Finding::warning(CHECK, what).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_few_seconds_are_nothing() {
        let host: Host = "pve1".parse().unwrap();
        let at = |ahead| {
            let found = check(&host, ahead);
            (found.level, found.says)
        };
        assert_eq!(at(-2).0, Level::Ok);
        assert_eq!(
            at(90),
            (
                Level::Warning,
                "pve1:8006 is 1 min 30 s ahead of this machine".to_owned()
            )
        );
        assert_eq!(
            at(-7200),
            (
                Level::Problem,
                "pve1:8006 is 2 h behind this machine".to_owned()
            )
        );
    }
}
