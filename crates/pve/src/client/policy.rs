//! The retry rules, without any I/O.
//!
//! | what happened | a read | a write |
//! |---|---|---|
//! | never sent | every host once, then again with growing pauses | the same |
//! | 595 (the asked node cannot reach the other) | once more, by another host if there is one | the same |
//! | answer lost, or one that leaves doubt: 502 to 504, 596 to 599, any 5xx that is not PVE's own | once more, by another host if there is one | never |
//! | certificate not trusted, any other answer | never | never |

use std::time::{Duration, Instant};

use super::reply::Reply;
use crate::error::Error;

/// Pauses between the rounds over all hosts.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(200),
    Duration::from_millis(600),
    Duration::from_millis(1_800),
    Duration::from_secs(4),
];

/// What to do after an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Take the outcome as it is.
    Stop,
    /// Try the next host now.
    AtOnce,
    /// Try the next host after a pause.
    After(Duration),
}

/// The attempts of one request so far.
#[derive(Debug)]
pub(super) struct Retries {
    repeatable: bool,
    hosts: usize,
    begun: Instant,
    never_sent: usize,
    answers_lost: usize,
}

impl Retries {
    /// `repeatable` requests may be carried out twice without harm.
    pub(super) fn new(repeatable: bool, hosts: usize, begun: Instant) -> Self {
        Self {
            repeatable,
            hosts,
            begun,
            never_sent: 0,
            answers_lost: 0,
        }
    }

    /// Decides after an attempt; `patience` bounds the time in which repeats begin.
    pub(super) fn after(&mut self, outcome: &Result<Reply, Error>, patience: Duration) -> Next {
        match outcome {
            Err(Error::NeverSent { .. }) => self.after_never_sent(patience),
            Ok(reply) if reply.status == 595 => self.once_more(patience),
            Ok(reply) if reply.leaves_doubt() && self.repeatable => self.once_more(patience),
            // A hung host uses up the patience by itself, so only another host is worth a try then.
            Err(Error::MaybeSent { .. }) if self.repeatable && self.hosts > 1 => {
                self.once_more(Duration::MAX)
            }
            Err(Error::MaybeSent { .. }) if self.repeatable => self.once_more(patience),
            Ok(_) | Err(_) => Next::Stop,
        }
    }

    fn after_never_sent(&mut self, patience: Duration) -> Next {
        self.never_sent += 1;
        if !self.never_sent.is_multiple_of(self.hosts) {
            return Next::AtOnce;
        }
        let round = self.never_sent / self.hosts - 1;
        match PAUSES.get(round) {
            Some(pause) if self.begun.elapsed() + *pause < patience => Next::After(*pause),
            _ => Next::Stop,
        }
    }

    fn once_more(&mut self, patience: Duration) -> Next {
        self.answers_lost += 1;
        if self.answers_lost > 1 || self.begun.elapsed() >= patience {
            Next::Stop
        } else if self.hosts > 1 {
            Next::AtOnce
        } else {
            Next::After(PAUSES[0])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn never_sent() -> Result<Reply, Error> {
        Err(Error::NeverSent {
            host: "pve1:8006".to_owned(),
            what: "x".to_owned(),
            source: None,
        })
    }

    fn maybe_sent() -> Result<Reply, Error> {
        Err(Error::MaybeSent {
            host: "pve1:8006".to_owned(),
            what: "x".to_owned(),
            source: None,
        })
    }

    fn write(hosts: usize) -> Retries {
        Retries::new(false, hosts, Instant::now())
    }

    fn read(hosts: usize) -> Retries {
        Retries::new(true, hosts, Instant::now())
    }

    #[test]
    fn what_was_never_sent_goes_round_all_hosts_and_then_again_later() {
        let mut retries = write(2);
        let nexts: Vec<Next> = (0..10)
            .map(|_| retries.after(&never_sent(), PATIENCE))
            .collect();
        let mut expected = Vec::new();
        for pause in PAUSES {
            expected.extend([Next::AtOnce, Next::After(pause)]);
        }
        expected.extend([Next::AtOnce, Next::Stop]);
        assert_eq!(nexts, expected);
    }

    #[test]
    fn patience_ends_the_rounds() {
        assert_eq!(
            write(1).after(&never_sent(), Duration::from_millis(100)),
            Next::Stop
        );
    }

    #[test]
    fn a_write_whose_answer_was_lost_is_never_repeated() {
        for hosts in 1..4 {
            assert_eq!(write(hosts).after(&maybe_sent(), PATIENCE), Next::Stop);
            for code in [502, 503, 504, 596, 597, 598, 599] {
                assert_eq!(
                    write(hosts).after(&Ok(Reply::for_test(code)), PATIENCE),
                    Next::Stop
                );
            }
        }
    }

    #[test]
    fn a_read_whose_answer_was_lost_is_repeated_once() {
        let answers = [502, 503, 504, 596, 597, 598, 599].map(|code| Ok(Reply::for_test(code)));
        for outcome in answers.into_iter().chain([maybe_sent()]) {
            let mut retries = read(2);
            assert_eq!(retries.after(&outcome, PATIENCE), Next::AtOnce);
            assert_eq!(retries.after(&outcome, PATIENCE), Next::Stop);
            assert_eq!(read(1).after(&outcome, PATIENCE), Next::After(PAUSES[0]));
        }
    }

    #[test]
    fn a_595_is_repeated_once_also_for_a_write() {
        let mut retries = write(2);
        assert_eq!(
            retries.after(&Ok(Reply::for_test(595)), PATIENCE),
            Next::AtOnce
        );
        assert_eq!(
            retries.after(&Ok(Reply::for_test(595)), PATIENCE),
            Next::Stop
        );
    }

    #[test]
    fn answers_end_it() {
        for code in [200, 400, 401, 403, 500, 501] {
            assert_eq!(
                read(3).after(&Ok(Reply::for_test(code)), PATIENCE),
                Next::Stop
            );
        }
    }
}
