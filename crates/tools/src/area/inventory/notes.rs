//! What a list has to say about itself: what is offline, what was left out, and why.

use std::collections::BTreeMap;

use crate::area::backups::why;
use crate::words;

/// So many notes are given; a list of notes must not outgrow the list.
const MOST: usize = 6;
/// So many things are named in one note.
const NAMED: usize = 5;
/// The longest reason.
const REASON: usize = 200;

/// Notes, with what was left out gathered by its reason.
#[derive(Debug, Default)]
pub(super) struct Notes {
    lines: Vec<String>,
    left_out: BTreeMap<String, Vec<String>>,
}

impl Notes {
    pub(super) fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Something is not in the list for this reason.
    pub(super) fn leave_out(&mut self, what: impl Into<String>, why: &str) {
        let why = words::clip(why, REASON);
        self.left_out.entry(why).or_default().push(what.into());
    }

    /// As [`leave_out`](Self::leave_out), for a request that failed.
    pub(super) fn failed(&mut self, what: impl Into<String>, error: &pve::Error) {
        self.leave_out(what, &why(error));
    }

    /// All of them, the shortest way to say it.
    pub(super) fn finish(self) -> Vec<String> {
        let left_out = self
            .left_out
            .into_iter()
            .map(|(why, what)| format!("left out: {} ({why})", some_of(&what)));
        let mut lines: Vec<_> = self.lines.into_iter().chain(left_out).collect();
        if lines.len() > MOST {
            let more = lines.len() - (MOST - 1);
            lines.truncate(MOST - 1);
            lines.push(format!("and {more} more notes like these"));
        }
        lines
    }
}

/// "a, b, c, d, e and 35 more"
pub(super) fn some_of<S: AsRef<str>>(items: &[S]) -> String {
    let names: Vec<_> = items.iter().map(AsRef::as_ref).collect();
    match names.split_at_checked(NAMED) {
        Some((first, rest)) if !rest.is_empty() => {
            format!("{} and {} more", first.join(", "), rest.len())
        }
        _ => words::list(&names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_one_reason_is_one_note() {
        let mut notes = Notes::default();
        for id in 1..=7 {
            notes.leave_out(format!("local on pve{id}"), "no answer");
        }
        assert_eq!(
            notes.finish(),
            [
                "left out: local on pve1, local on pve2, local on pve3, local on pve4, local on pve5 and 2 more (no answer)"
            ]
        );
    }

    #[test]
    fn there_are_never_many() {
        let mut notes = Notes::default();
        for id in 0..40 {
            notes.leave_out("x", &format!("reason {id}"));
        }
        let notes = notes.finish();
        assert_eq!(notes.len(), MOST);
        assert_eq!(notes[MOST - 1], "and 35 more notes like these");
    }
}
