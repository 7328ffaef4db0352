//! Words as numbers: each distinct stem once.

use std::collections::HashMap;

use super::stem::stem;

/// The number of a stem in one index.
pub(super) type Term = u32;

/// The stems that an index knows. Words are remembered beside their stems, since stemming each occurrence of a word
/// would be most of the work of building an index.
#[derive(Debug, Clone, Default)]
pub(super) struct Terms {
    stems: HashMap<String, Term>,
    seen: HashMap<String, Term>,
    list: Vec<String>,
}

impl Terms {
    /// The term of a word, new or known.
    pub(super) fn add(&mut self, word: &str) -> Term {
        if let Some(term) = self.seen.get(word) {
            return *term;
        }
        let stem = stem(word);
        let next = Term::try_from(self.list.len()).unwrap_or(Term::MAX);
        let term = *self.stems.entry(stem).or_insert_with_key(|stem| {
            self.list.push(stem.clone());
            next
        });
        self.seen.insert(word.to_owned(), term);
        term
    }

    /// Forgets what only building needs.
    pub(super) fn finish(&mut self) {
        self.seen = HashMap::new();
        self.list.shrink_to_fit();
    }

    /// The term of a stem, if any document has it.
    pub(super) fn get(&self, stem: &str) -> Option<Term> {
        self.stems.get(stem).copied()
    }

    /// All stems, in the order of their first use.
    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}
