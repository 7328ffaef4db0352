//! The tokens that setup wrote down, held against those that are there. A name tells nothing: once a token is gone, whoever
//! comes next has one of that name. A mark in its comment tells which it is.

use std::collections::BTreeSet;

use super::facts::Accounts;
use super::journal::Journal;
use super::made::Made;
use super::role::USER;

/// What became of them.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Those that are there, and certainly the ones that were made here.
    pub(super) sure: BTreeSet<String>,
    /// Those of whose names there is one, and nobody can tell which.
    pub(super) unsure: BTreeSet<String>,
    /// Those that are gone.
    pub(super) gone: Vec<Made>,
}

/// How one that was made stands to what is there by its name.
#[derive(Debug, PartialEq, Eq)]
enum Now {
    /// There is none.
    Gone,
    /// It is another one.
    Anothers,
    /// It may be another one: it has no mark, or somebody has written another comment.
    Unsure,
    /// It is that one.
    There,
}

impl Remembered {
    /// `others`: what was written down for other clusters. What one of them lists for the same cluster is left to it.
    pub(super) fn of(journal: Option<&Journal>, others: &[Journal], accounts: &Accounts) -> Self {
        let mut all = Self::default();
        let Some(journal) = journal else {
            return all;
        };
        for made in &journal.made {
            let name = match made {
                Made::Token { user, name, .. } if user == USER => name,
                _ => continue,
            };
            let mut others = others.iter().filter(|other| other.is_of_the_same(journal));
            let is_with_another =
                others.any(|other| other.made.iter().any(|it| it.is_about_same(made)));
            match now(made, accounts) {
                Now::Gone | Now::Anothers => all.gone.push(made.clone()),
                _ if is_with_another => {}
                Now::Unsure => _ = all.unsure.insert(name.clone()),
                Now::There => _ = all.sure.insert(name.clone()),
            }
        }
        all
    }

    /// What is left to a person, besides the token that is in use. Where that is none of these, somebody has put another in
    /// its place, and may need them.
    pub(super) fn unsure_beside(&self, in_use: Option<&str>) -> Vec<String> {
        let is_known = |name: &str| self.sure.contains(name) || self.unsure.contains(name);
        if !in_use.is_none_or(is_known) {
            return Vec::new();
        }
        let others = self
            .unsure
            .iter()
            .filter(|name| Some(name.as_str()) != in_use);
        let note = |name: &String| {
            format!(
                "the token {USER}!{name} stays: setup has made one of this name here, and cannot tell whether it is that one; \
                 if nobody uses it, `pveum user token remove {USER} {name}` on a node removes it"
            )
        };
        others.map(note).collect()
    }
}

/// Those of whose names another oxmox has made one since.
pub(super) fn taken_by_others(journal: &Journal, accounts: &Accounts) -> Vec<Made> {
    let made = journal.made.iter();
    let made = made.filter(|made| now(made, accounts) == Now::Anothers);
    made.cloned().collect()
}

fn now(made: &Made, accounts: &Accounts) -> Now {
    let Made::Token { user, name, mark } = made else {
        return Now::Unsure;
    };
    if !made.is_in(accounts) {
        return Now::Gone;
    }
    let comment = accounts.comments.get(&format!("{user}!{name}"));
    let comment = comment.map(String::as_str).unwrap_or_default();
    match mark {
        // Somebody may have written more.
        Some(mark) if comment.contains(mark.as_str()) => Now::There,
        _ if has_mark(comment) => Now::Anothers,
        _ => Now::Unsure,
    }
}

const BEGIN: &str = "oxmox on ";
/// A person may write anything in parentheses, and their token would be taken for another's.
const MARK: &str = " (mark ";

/// What stands in the comment of a new token.
pub(super) fn comment(name: &str, mark: &str) -> String {
    format!("{BEGIN}{name}{MARK}{mark})")
}

/// Whether it is such a comment, and not one of an earlier oxmox or a person.
fn has_mark(comment: &str) -> bool {
    let rest = comment.strip_prefix(BEGIN);
    let mark = rest.and_then(|rest| rest.rsplit_once(MARK));
    mark.is_some_and(|(_, mark)| mark.ends_with(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str, mark: Option<&str>) -> Made {
        Made::Token {
            user: USER.to_owned(),
            name: name.to_owned(),
            mark: mark.map(str::to_owned),
        }
    }

    #[test]
    fn a_token_is_known_by_its_mark() {
        let comments = [
            ("a", comment("a", "m1")),
            ("b", format!("{}, mine", comment("b", "m1"))),
            ("c", comment("c", "m2")),
            ("d", "oxmox on d".to_owned()),
            ("f", "oxmox on f (Jana)".to_owned()),
        ];
        let names = comments.iter().map(|(name, _)| (*name).to_owned());
        let accounts = Accounts {
            users: [(USER.to_owned(), names.collect())].into(),
            comments: comments
                .iter()
                .map(|(name, comment)| (format!("{USER}!{name}"), comment.clone()))
                .collect(),
            ..Accounts::default()
        };
        for (name, mark, is) in [
            ("a", Some("m1"), Now::There),
            ("b", Some("m1"), Now::There),
            ("c", Some("m1"), Now::Anothers),
            // Made by an oxmox that gave none: that is gone.
            ("c", None, Now::Anothers),
            ("d", Some("m1"), Now::Unsure),
            ("d", None, Now::Unsure),
            ("e", Some("m1"), Now::Gone),
            // Somebody has written whose it is.
            ("f", Some("m1"), Now::Unsure),
            ("f", None, Now::Unsure),
        ] {
            assert_eq!(now(&token(name, mark), &accounts), is, "{name} {mark:?}");
        }
    }

    #[test]
    fn what_is_not_certain_is_left_to_a_person() {
        let name = |name: &str| BTreeSet::from([name.to_owned()]);
        let known = Remembered {
            sure: name("new"),
            unsure: name("old"),
            gone: Vec::new(),
        };
        let notes = known.unsure_beside(Some("new"));
        assert!(
            notes[0].contains("pveum user token remove oxmox@pve old"),
            "{notes:?}"
        );
        assert!(known.unsure_beside(Some("theirs")).is_empty());
        assert!(known.unsure_beside(Some("old")).is_empty());
        assert_eq!(known.unsure_beside(None).len(), 1);
    }

    #[test]
    fn one_that_was_gone_takes_nothing_from_another_of_its_name() {
        let rule = Made::rule("/", "oxmox-read", Vec::new(), vec![format!("{USER}!a")]);
        let mut journal = Journal {
            made: vec![token("a", Some("m1")), token("a", Some("m2")), rule.clone()],
            ..Journal::default()
        };
        journal.forget_token(&token("a", Some("m1")));
        assert_eq!(journal.made, [token("a", Some("m2")), rule]);
        journal.forget_token(&token("a", Some("m2")));
        assert_eq!(journal.made, []);
    }
}
