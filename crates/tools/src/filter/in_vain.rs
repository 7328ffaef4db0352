//! Why a filter finds nothing: words that hold for nothing there is are mistakes more often than answers.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::field::Word;
use super::{Facts, Filter, Term, Test};
use crate::words;

/// How many values are named in the place of one that there is not.
const NAMED: usize = 10;

/// What people write between words elsewhere.
const OPERATORS: [&str; 3] = ["and", "or", "not"];

impl Filter {
    /// The words that hold for none of these, each with what there is instead. A name is looked for, and may well not be there.
    pub fn in_vain<'a, F: Facts + 'a>(
        &self,
        subjects: &(impl Iterator<Item = &'a F> + Clone),
    ) -> Vec<String> {
        let told = self.0.iter().filter(|term| !term.negated);
        told.filter_map(|term| term.in_vain(subjects.clone()))
            .collect()
    }
}

impl Term {
    fn in_vain<'a, F: Facts + 'a>(
        &self,
        mut subjects: impl Iterator<Item = &'a F> + Clone,
    ) -> Option<String> {
        match &self.test {
            Test::Is(Word::Name | Word::Id, _) => None,
            Test::Bare(_) => {
                let word = self.to_string();
                let is_operator = OPERATORS.iter().any(|it| it.eq_ignore_ascii_case(&word));
                is_operator.then(|| {
                    format!(
                        "{word} is looked for in names: all words of a filter must hold, - before one turns it round, and \
                         values with commas between them are choices"
                    )
                })
            }
            Test::Is(word, _) => {
                if subjects.clone().any(|subject| self.matches(subject)) {
                    return None;
                }
                let values = values(*word, subjects);
                let name = word.name();
                Some(match values.as_slice() {
                    [] => format!("{self}: none of them has a {name}"),
                    some => format!(
                        "{self}: there is no such {name} among them, but {}",
                        words::list(some)
                    ),
                })
            }
            Test::Within(measure, _) => {
                let is_known = subjects.any(|subject| subject.number(*measure).is_some());
                let name = measure.name();
                (!is_known).then(|| format!("{self}: {name} is not known of any of them"))
            }
        }
    }
}

/// What is in this field, for the first few values.
fn values<'a, F: Facts + 'a>(word: Word, subjects: impl Iterator<Item = &'a F>) -> Vec<String> {
    let found = RefCell::new(BTreeSet::new());
    for subject in subjects {
        subject.any(word, &|text| {
            found.borrow_mut().insert(words::clip(text, 40));
            false
        });
    }
    let mut found: Vec<_> = found.into_inner().into_iter().collect();
    if found.len() > NAMED {
        let more = found.len() - NAMED;
        found.truncate(NAMED);
        found.push(format!("{more} others"));
    }
    found
}
