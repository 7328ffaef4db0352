//! The secrets that setup keeps on this machine: which of them nobody needs any more, and which cannot be cleared from here.

use super::journal::Journal;
use super::prepare::reference;
use crate::config::{Config, Reference};
use crate::keep::Keep;

/// Whose a place may be besides this cluster's: one that was never filled, or was emptied, is free for whoever comes next.
pub(super) struct Others<'a> {
    /// This one.
    pub(super) cluster: &'a str,
    pub(super) config: &'a Config,
    /// What was written down for others.
    pub(super) journals: &'a [Journal],
}

impl Others<'_> {
    /// The other cluster whose secret is there.
    pub(super) fn holder(&self, keep: &Keep) -> Option<&str> {
        let clusters = self.config.clusters.iter();
        let is_named = |named: Reference| keep.is_named_by(&named);
        let named = clusters.filter(|it| reference(it).is_some_and(is_named));
        let (own, other): (Vec<_>, Vec<_>) = named.partition(|it| it.name == self.cluster);
        let configured = other.first();
        // What another has written down may be a place that it never filled.
        if configured.is_none() && !own.is_empty() {
            return None;
        }
        let mut journals = self.journals.iter();
        let has_it = |other: &&Journal| other.secrets.iter().any(|it| it.is_same_place(keep));
        let written_down = || journals.find(has_it).map(|other| &other.cluster);
        configured
            .map(|other| &other.name)
            .or_else(written_down)
            .map(String::as_str)
    }
}

/// Those of earlier tokens. `is_new`: whether the one that the configuration will name is yet to be stored. Where that is none
/// of setup's own, somebody has moved it, and may need the others.
pub(super) fn superseded(
    journal: Option<&Journal>,
    (in_use, is_new): (&Reference, bool),
    others: &Others<'_>,
) -> Vec<Keep> {
    let known = journal.map(|journal| journal.secrets.as_slice());
    let known = known.unwrap_or_default();
    let is_in_use = |keep: &Keep| keep.is_named_by(in_use);
    if !is_new && !known.iter().any(is_in_use) {
        return Vec::new();
    }
    let is_over = |keep: &&Keep| !is_in_use(keep) && !is_out_of_reach(keep);
    let mut superseded: Vec<Keep> = Vec::new();
    for keep in known.iter().filter(is_over) {
        let is_known = superseded.iter().any(|it| it.is_same_place(keep));
        if !is_known && others.holder(keep).is_none() {
            superseded.push(keep.clone());
        }
    }
    superseded
}

/// A keyring that is locked can be unlocked; one whose program was removed would be in the way of everything else for good.
pub(super) fn is_out_of_reach(keep: &Keep) -> bool {
    matches!(keep, Keep::Keyring(keyring) if !keyring.program.exists())
}

/// How a person clears what is out of reach from here.
pub(super) fn by_hand(keep: &Keep) -> String {
    let Keep::Keyring(keyring) = keep else {
        return format!("remove {keep}");
    };
    format!(
        "the keyring of your session may still have the token's secret: {} is not there any more, which reaches it; \
         `{}` removes it where that program is, or the keyring's own window, under oxmox and {}",
        keyring.program.display(),
        keyring.clearing(),
        keyring.entry
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, Overrides};
    use crate::keep::Keyring;

    fn file(name: &str) -> Keep {
        Keep::File { path: name.into() }
    }

    fn superseded_beside(
        journal: Option<&Journal>,
        in_use: &Keep,
        is_new: bool,
        journals: &[Journal],
    ) -> Vec<Keep> {
        let environment = Environment::from([("HOME", "/nobody")]);
        let config = Config::fresh(&Overrides::default(), &environment).unwrap();
        let others = Others {
            cluster: "home",
            config: &config,
            journals,
        };
        superseded(journal, (&in_use.reference(), is_new), &others)
    }

    #[test]
    fn what_an_earlier_token_had_goes_where_the_one_in_use_is_known() {
        let gone = Keep::Keyring(Keyring {
            program: "/no/such/program".into(),
            entry: "home".to_owned(),
        });
        let journal = Journal {
            secrets: vec![file("/old"), file("/old"), gone, file("/new")],
            ..Journal::default()
        };
        let of = |in_use: &Keep, is_new| superseded_beside(Some(&journal), in_use, is_new, &[]);
        assert_eq!(of(&file("/new"), false), [file("/old")]);
        assert_eq!(of(&file("/newer"), true), [file("/old"), file("/new")]);
        // Somebody has put it elsewhere.
        assert_eq!(of(&file("/theirs"), false), []);
        assert_eq!(superseded_beside(None, &file("/new"), true, &[]), []);
        // It was free, and is another's by now.
        let other = Journal {
            secrets: vec![file("/old")],
            ..Journal::default()
        };
        let gone = superseded_beside(Some(&journal), &file("/new"), false, &[other]);
        assert_eq!(gone, []);
    }
}
