//! BM25F over the fields of documents, and what speaks for or against one besides its words.

use super::document::{Document, Field};
use super::intent::Intent;
use super::query::{Query, Slot};
use super::terms::{Term, Terms};
use super::token::each_word;

/// Saturation: how soon more of the same word stops counting.
const K1: f32 = 1.4;
/// A word in a handful of documents tells as much as one in a single document: that is chance.
const RAREST: f32 = 5.0;
/// What the second-best term of a slot adds to the best.
const SECOND: f32 = 0.15;
/// The most that a verb suiting the intent adds.
const INTENT: f32 = 1.5;
/// What a place that the request does not name costs.
const UNNAMED: f32 = 0.9;
/// What being about one, or about all, adds where the request speaks of one, or of all.
const NUMBER: f32 = 0.5;

/// A document that was found, by its position among those indexed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which one.
    pub document: usize,
    /// How well it fits; compares within one answer only.
    pub score: f32,
}

/// Documents, ready to be found.
#[derive(Debug)]
pub struct Index {
    terms: Terms,
    /// By term: the documents that have it, with its weighted frequency there.
    postings: Vec<Vec<(u32, f32)>>,
    traits: Vec<Traits>,
}

/// What is known of a document besides its words.
#[derive(Debug)]
struct Traits {
    verb: Option<pve::Method>,
    /// Words of which a request names one, place by place.
    scope: Vec<Vec<Term>>,
    prior: f32,
    one: bool,
}

impl Index {
    /// Indexes the documents; they are referred to by their position.
    pub fn new(documents: impl IntoIterator<Item = Document>) -> Self {
        let mut terms = Terms::default();
        let mut traits = Vec::new();
        let mut texts = Vec::new();
        for document in documents {
            let mut read = |text: &str| read(text, &mut terms);
            let fields = document.fields.iter();
            texts.push(
                fields
                    .map(|(field, text)| (*field, read(text)))
                    .collect::<Vec<_>>(),
            );
            traits.push(Traits {
                verb: document.verb,
                scope: document.scope.iter().map(|words| read(words)).collect(),
                prior: document.prior,
                one: document.one,
            });
        }
        terms.finish();
        let postings = post(&texts, terms.len());
        Self {
            terms,
            postings,
            traits,
        }
    }

    /// The documents that fit a request best, best first, at most `limit`. Equal ones come in the order in which they
    /// were indexed.
    pub fn find(&self, request: &str, limit: usize) -> Vec<Hit> {
        let query = self.understand(request);
        let mut scores = vec![0.0_f32; self.traits.len()];
        for slot in &query.slots {
            self.add(slot, &mut scores);
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .enumerate()
            .filter(|(_, score)| *score > 0.0)
            .map(|(document, score)| Hit {
                document,
                score: score + self.beside(document, &query),
            })
            .collect();
        hits.sort_unstable_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.document.cmp(&b.document))
        });
        hits.truncate(limit);
        hits
    }

    /// How a request is understood, for people who look after the vocabulary.
    pub fn explain(&self, request: &str) -> String {
        self.understand(request).explain(&self.terms)
    }

    #[cfg(test)]
    pub(super) fn knows(&self, stem: &str) -> bool {
        self.terms.get(stem).is_some()
    }

    fn understand(&self, request: &str) -> Query {
        let frequency = |stem: &str| {
            let term = self.terms.get(stem);
            term.map_or(0, |term| self.postings[term as usize].len())
        };
        Query::parse(request, &self.terms, &frequency)
    }

    /// Adds what each document has of a slot: its best term, and a little of the second-best, since terms of one slot
    /// are different names of one thing.
    fn add(&self, slot: &Slot, scores: &mut [f32]) {
        let mut best = vec![(0.0_f32, 0.0_f32); scores.len()];
        for (term, weight) in &slot.terms {
            let postings = &self.postings[*term as usize];
            let rarity = rarity(postings.len(), self.traits.len());
            for (document, frequency) in postings {
                let score = weight * rarity * frequency / (frequency + K1);
                let (first, second) = &mut best[*document as usize];
                if score > *first {
                    *second = *first;
                    *first = score;
                } else if score > *second {
                    *second = score;
                }
            }
        }
        for (score, (first, second)) in scores.iter_mut().zip(&best) {
            *score += slot.weight * (first + SECOND * second);
        }
    }

    /// What speaks for or against a document besides its words.
    fn beside(&self, document: usize, query: &Query) -> f32 {
        let traits = &self.traits[document];
        let mut score = traits.prior;
        if let Some(verb) = traits.verb {
            let suits = query
                .intent
                .map_or_else(|| Intent::unsaid(verb), |intent| intent.suits(verb));
            score += INTENT * suits;
        }
        if let Some(one) = query.one {
            score += if one == traits.one { NUMBER } else { -NUMBER };
        }
        for place in &traits.scope {
            score -= UNNAMED * (1.0 - query.names(place));
        }
        score
    }
}

fn read(text: &str, terms: &mut Terms) -> Vec<Term> {
    let mut found = Vec::new();
    each_word(text, |word| found.push(terms.add(word)));
    found
}

/// By term, the documents that have it. A word in a long field counts less than in a short one.
fn post(texts: &[Vec<(Field, Vec<Term>)>], terms: usize) -> Vec<Vec<(u32, f32)>> {
    let mut mean = lengths(texts.iter().flatten());
    for length in &mut mean {
        *length = (*length / count(texts.len()).max(1.0)).max(1.0);
    }
    let mut postings: Vec<Vec<(u32, f32)>> = vec![Vec::new(); terms];
    for (document, fields) in (0..).zip(texts) {
        let lengths = lengths(fields);
        for (field, words) in fields {
            let at = *field as usize;
            let thinning = field.thinning();
            let each = field.weight() / (1.0 - thinning + thinning * lengths[at] / mean[at]);
            for term in words {
                let list = &mut postings[*term as usize];
                match list.last_mut() {
                    Some((same, weight)) if *same == document => *weight += each,
                    _ => list.push((document, each)),
                }
            }
        }
    }
    postings
}

/// How many words there are in each field.
fn lengths<'a>(fields: impl IntoIterator<Item = &'a (Field, Vec<Term>)>) -> [f32; Field::COUNT] {
    let mut lengths = [0.0; Field::COUNT];
    for (field, words) in fields {
        lengths[*field as usize] += count(words.len());
    }
    lengths
}

/// How much finding a word tells, given that `having` of `all` documents have it.
fn rarity(having: usize, all: usize) -> f32 {
    let (having, all) = (count(having), count(all));
    (1.0 + (all - having + 0.5) / (having + 0.5))
        .ln()
        .min(RAREST)
}

/// A count as a number to reckon with; more than 65,535 is as good as that.
fn count(number: usize) -> f32 {
    f32::from(u16::try_from(number).unwrap_or(u16::MAX))
}
