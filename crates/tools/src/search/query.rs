//! From a request to weighted terms and an intent.

use std::fmt::Write as _;

use super::clause::clauses;
use super::intent::Intent;
use super::reading::{Reader, Word};
use super::stem::stem;
use super::terms::{Term, Terms};
use super::vocabulary::{Saying, Vocabulary};

/// What comes after this many words changes no answer, and a request may be as long as its sender likes.
const MOST_WORDS: usize = 64;
/// The same, for the cost of taking it apart.
const MOST_BYTES: usize = 2_000;

/// A word inside a phrase counts this much of one that stands alone.
const INSIDE_PHRASE: f32 = 0.45;
/// A word that tells what to do counts this much of one that tells with what.
const DOING: f32 = 0.45;
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

/// What a clause wants.
struct Wish {
    intent: Intent,
    /// It begins with that, as an order or a question does.
    is_order: bool,
}

impl Query {
    /// Understands a request; `frequency` tells how many documents have a stem.
    pub(super) fn parse(text: &str, terms: &Terms, frequency: &dyn Fn(&str) -> usize) -> Self {
        let vocabulary = Vocabulary::get();
        let text = &text[..text.floor_char_boundary(MOST_BYTES)];
        let mut reader = Reader {
            terms,
            vocabulary,
            frequency,
            left: MOST_WORDS,
        };
        let mut query = Self::default();
        // An order goes before a remark, and what somebody did is not what is to be done.
        let (mut ordered, mut said, mut told) = (None, None, None);
        for (at, clause) in clauses(text).into_iter().enumerate() {
            let words = reader.read(clause.text);
            let Some(wish) = query.clause(&words, vocabulary, terms, at == 0) else {
                continue;
            };
            let place = match (clause.is_story, wish.is_order) {
                (true, _) => &mut told,
                (false, true) => &mut ordered,
                (false, false) => &mut said,
            };
            *place = place.or(Some(wish.intent));
        }
        let asked = text.contains('?').then_some(Intent::Read);
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

    /// Takes a clause in, and tells what it wants.
    fn clause(
        &mut self,
        words: &[Word],
        vocabulary: &Vocabulary,
        terms: &Terms,
        is_first: bool,
    ) -> Option<Wish> {
        let mut wish = None;
        let mut is_beginning = true;
        let mut rest = words;
        while let [first, ..] = rest {
            let (saying, length) = longest_saying(rest, vocabulary).unzip();
            let (said, after) = rest.split_at(length.unwrap_or(1));
            rest = after;
            let is_polite = saying.is_some_and(|saying| saying.polite);
            let asks = is_first && is_beginning && !is_polite && vocabulary.asks(&first.stem);
            // The verb in front tells what a saying wants that does not tell it itself: "close port".
            let verb = vocabulary.saying(&first.stem).filter(|_| !is_polite);
            let wants = saying.and_then(|saying| saying.intent);
            let wants = wants.or(verb.and_then(|verb| verb.intent));
            let intent = if asks { Some(Intent::Read) } else { wants };
            // The first thing to do is the thing to do: "list what was removed".
            wish = wish.or(intent.map(|intent| Wish {
                intent,
                is_order: is_beginning,
            }));
            is_beginning &= is_polite;
            match said {
                [word] => self.take_word(word, saying, terms),
                _ => self.take_phrase(said, saying, terms),
            }
            self.one = self.one.or(saying.and_then(|saying| saying.one));
        }
        self.take_joined(words, terms);
        wish
    }

    fn take_word(&mut self, word: &Word, saying: Option<&Saying>, terms: &Terms) {
        let means = saying.map_or_else(Vec::new, |saying| meanings(saying, terms));
        if word.is_stop && means.is_empty() {
            return;
        }
        let mut slot = slot(word, 1.0, terms);
        if means.is_empty() && saying.is_some_and(|saying| saying.intent.is_some()) {
            slot.weight *= DOING;
        }
        for (term, weight) in means {
            if slot.terms.iter().all(|(known, _)| *known != term) {
                slot.terms.push((term, weight));
            }
        }
        self.slots.push(slot);
    }

    fn take_phrase(&mut self, said: &[Word], saying: Option<&Saying>, terms: &Terms) {
        let Some(saying) = saying.filter(|saying| !saying.polite) else {
            return;
        };
        self.slots.push(Slot {
            weight: said.iter().map(|word| word.weight).fold(0.0, f32::max),
            terms: meanings(saying, terms),
        });
        let telling = said.iter().filter(|word| !word.is_stop);
        self.slots
            .extend(telling.map(|word| slot(word, INSIDE_PHRASE, terms)));
    }

    /// Words that are one word to a document: "cloud init", "back up".
    fn take_joined(&mut self, words: &[Word], terms: &Terms) {
        for pair in words.windows(2) {
            let joined = stem(&format!("{}{}", pair[0].stem, pair[1].stem));
            if let Some(term) = terms.get(&joined) {
                self.slots.push(Slot {
                    weight: JOINED * pair[0].weight.min(pair[1].weight),
                    terms: vec![(term, 1.0)],
                });
            }
        }
    }
}

/// What a word says by itself.
fn slot(word: &Word, counts: f32, terms: &Terms) -> Slot {
    Slot {
        weight: word.weight * counts,
        terms: terms
            .get(&word.stem)
            .map(|term| (term, 1.0))
            .into_iter()
            .collect(),
    }
}

/// The terms that a saying stands for.
fn meanings(saying: &Saying, terms: &Terms) -> Vec<(Term, f32)> {
    let meanings = saying.meanings.iter();
    meanings
        .filter_map(|(stem, weight)| Some((terms.get(stem)?, *weight)))
        .collect()
}

/// The longest saying that the words begin with, and its length in words.
fn longest_saying<'a>(words: &[Word], vocabulary: &'a Vocabulary) -> Option<(&'a Saying, usize)> {
    let longest = vocabulary.longest().min(words.len());
    (1..=longest).rev().find_map(|length| {
        let stems: Vec<_> = words[..length]
            .iter()
            .map(|word| word.stem.as_str())
            .collect();
        Some((vocabulary.saying(&stems.join(" "))?, length))
    })
}
