//! From a request to weighted terms and an intent.

use std::fmt::Write as _;

use super::clause::clauses;
use super::intent::Intent;
use super::reading::{Reader, Word};
use super::stem::stem;
use super::terms::{Term, Terms};
use super::vocabulary::{Saying, Vocabulary};
use super::wish::{Said, Wish, sayings};

/// What comes after this many words changes no answer, and a request may be as long as its sender likes.
const MOST_WORDS: usize = 64;
/// The same, for the cost of taking it apart.
const MOST_BYTES: usize = 2_000;

/// A word inside a phrase counts this much of one that stands alone.
const INSIDE_PHRASE: f32 = 0.5;
/// A word that tells what to do counts this much of one that tells with what.
const DOING: f32 = 0.55;
/// Two words that are one to some document count this much besides.
const JOINED: f32 = 0.8;

/// One thing that was said, and the terms that may stand for it in a document.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) weight: f32,
    pub(super) terms: Vec<(Term, f32)>,
}

/// A request, understood as far as it goes.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) slots: Vec<Slot>,
    pub(super) intent: Option<Intent>,
    /// It speaks of one thing (true), or of all (false).
    pub(super) one: Option<bool>,
}

impl Query {
    /// Understands a request; `frequency` tells how many documents have a stem.
    pub(super) fn parse(
        text: &str,
        vocabulary: &Vocabulary,
        terms: &Terms,
        frequency: &dyn Fn(&str) -> usize,
    ) -> Self {
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let mut reader = Reader {
            terms,
            vocabulary,
            frequency,
            left: MOST_WORDS,
        };
        let mut taking = Taking {
            query: Self::default(),
            vocabulary,
            terms,
        };
        // An order goes before a remark, and what somebody did is not what is to be done.
        let (mut ordered, mut said, mut told) = (None, None, None);
        for (at, clause) in clauses(text).into_iter().enumerate() {
            let words = reader.read(clause.text);
            let sayings = sayings(&words, vocabulary);
            taking.sayings(&sayings);
            taking.joined(&words);
            if let Some(wish) = Wish::of(&sayings, vocabulary, at == 0) {
                let place = match (clause.is_story, wish.is_order) {
                    (true, _) => &mut told,
                    (false, true) => &mut ordered,
                    (false, false) => &mut said,
                };
                *place = place.or(Some(wish.intent));
            }
        }
        let asked = text.contains('?').then_some(Intent::Read);
        let mut query = taking.query;
        query.intent = ordered.or(said).or(told).or(asked);
        query.slots.retain(|slot| !slot.terms.is_empty());
        query
    }

    /// How surely the request names one of these terms, from 0 to 1.
    pub(super) fn names(&self, terms: &[Term]) -> f32 {
        let mut surely = 0.0_f32;
        for slot in &self.slots {
            for (term, weight) in &slot.terms {
                if terms.contains(term) {
                    surely = surely.max(slot.weight * weight);
                }
            }
        }
        surely.min(1.0)
    }

    /// The request as it was understood, in words.
    pub(super) fn explain(&self, terms: &Terms) -> String {
        let stems: Vec<&str> = terms.stems().collect();
        let mut text = format!("{:?}", self.intent);
        for slot in &self.slots {
            let _ = write!(text, " [{:.2}:", slot.weight);
            for (term, weight) in &slot.terms {
                let _ = write!(text, " {} {weight:.2}", stems[*term as usize]);
            }
            text.push(']');
        }
        text
    }
}

/// A query on its way.
struct Taking<'a> {
    query: Query,
    vocabulary: &'a Vocabulary,
    terms: &'a Terms,
}

impl Taking<'_> {
    fn sayings(&mut self, clause: &[Said<'_>]) {
        for said in clause.iter().filter(|said| !said.is_polite()) {
            if let Some(saying) = said.saying {
                self.query.one = self.query.one.or(saying.one);
                if said.words.len() > 1 {
                    self.phrase(said.words, saying);
                    continue;
                }
            }
            self.word(&said.words[0], 1.0);
        }
    }

    /// A phrase says what it says as a whole, and a little of what its words say.
    fn phrase(&mut self, words: &[Word], saying: &Saying) {
        self.query.slots.push(Slot {
            weight: words.iter().map(|word| word.weight).fold(0.0, f32::max),
            terms: self.meanings(saying),
        });
        for word in words.iter().filter(|word| !word.is_stop) {
            self.word(word, INSIDE_PHRASE);
        }
    }

    fn word(&mut self, word: &Word, counts: f32) {
        let saying = self.vocabulary.saying(&word.stem);
        let meanings = saying.map_or_else(Vec::new, |saying| self.meanings(saying));
        if word.is_stop && meanings.is_empty() {
            return;
        }
        let itself = self.terms.get(&word.stem).map(|term| (term, 1.0));
        let mut slot = Slot {
            weight: word.weight * counts,
            terms: itself.into_iter().collect(),
        };
        if meanings.is_empty() && saying.is_some_and(|saying| saying.intent.is_some()) {
            slot.weight *= DOING;
        }
        for (term, weight) in meanings {
            if slot.terms.iter().all(|(known, _)| *known != term) {
                slot.terms.push((term, weight));
            }
        }
        self.query.slots.push(slot);
    }

    /// Words that are one word to a document: "cloud init", "back up".
    fn joined(&mut self, words: &[Word]) {
        for pair in words.windows(2) {
            let joined = stem(&format!("{}{}", pair[0].stem, pair[1].stem));
            if let Some(term) = self.terms.get(&joined) {
                self.query.slots.push(Slot {
                    weight: JOINED * pair[0].weight.min(pair[1].weight),
                    terms: vec![(term, 1.0)],
                });
            }
        }
    }

    /// The terms that a saying stands for.
    fn meanings(&self, saying: &Saying) -> Vec<(Term, f32)> {
        let meanings = saying.meanings.iter();
        meanings
            .filter_map(|(stem, weight)| Some((self.terms.get(stem)?, *weight)))
            .collect()
    }
}
