//! BM25F over the fields of documents, and what speaks for or against one besides its words.

use super::document::Document;
use super::intent::Intent;
use super::postings::{Postings, Texts, count, post};
use super::query::{Query, Slot};
use super::terms::{Term, Terms};
use super::vocabulary::Vocabulary;

/// Saturation: how soon more of the same word stops counting.
const K1: f32 = 1.4;
/// A word in a handful of documents tells as much as one in a single document: that is chance.
const RAREST: f32 = 6.0;
/// What the second-best term of a slot adds to the best.
const SECOND: f32 = 0.2;
/// The most that a verb suiting the intent adds.
const INTENT: f32 = 1.5;
/// What a place that the request does not name costs.
const UNNAMED: f32 = 0.9;
/// An area named as surely as this is meant.
const NAMED: f32 = 0.8;
/// What not belonging to an area that the request does name costs.
const ELSEWHERE: f32 = 1.0;
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
    vocabulary: &'static Vocabulary,
    terms: Terms,
    postings: Postings,
    traits: Vec<Traits>,
}

/// What is known of a document besides its words.
#[derive(Debug)]
struct Traits {
    verb: Option<pve::Method>,
    /// Words of which a request names one, place by place.
    scope: Vec<(f32, Vec<Term>)>,
    prior: f32,
    one: bool,
}

impl Index {
    /// Indexes the documents; they are referred to by their position.
    pub fn new<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        let mut texts = Texts::default();
        let mut fields = Vec::new();
        let mut traits = Vec::new();
        for document in documents {
            let scope = document.scope.iter();
            traits.push(Traits {
                verb: document.verb,
                scope: scope
                    .map(|(surely, words)| (*surely, texts.read(words)))
                    .collect(),
                prior: document.prior,
                one: document.one,
            });
            let read = document.fields.into_iter();
            fields.push(
                read.map(|(field, text)| (field, texts.read_again(text)))
                    .collect(),
            );
        }
        let mut terms = texts.terms;
        terms.finish();
        Self {
            vocabulary: Vocabulary::get(),
            postings: post(&fields, terms.len()),
            terms,
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
        let elsewhere = self.outside_areas(&query);
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .enumerate()
            .filter(|(_, score)| *score > 0.0)
            .map(|(document, score)| Hit {
                document,
                score: score + self.beside(document, &query)
                    - ELSEWHERE * count(elsewhere[document]),
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
        Query::parse(request, self.vocabulary, &self.terms, &frequency)
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

    /// For each document, how many of the areas that the request names it lacks.
    fn outside_areas(&self, query: &Query) -> Vec<usize> {
        let mut lacking = vec![0; self.traits.len()];
        let named = self
            .vocabulary
            .areas()
            .filter_map(|area| self.terms.get(area));
        for area in named.filter(|term| query.names(&[*term]) > NAMED) {
            let mut inside = self.postings[area as usize].iter().peekable();
            for (document, lacking) in (0..).zip(&mut lacking) {
                let is_inside = inside.next_if(|(having, _)| *having == document).is_some();
                *lacking += usize::from(!is_inside);
            }
        }
        lacking
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
        for (surely, place) in &traits.scope {
            score -= UNNAMED * surely * (1.0 - query.names(place));
        }
        score
    }
}

/// How much finding a word tells, given that `having` of `all` documents have it.
fn rarity(having: usize, all: usize) -> f32 {
    let (having, all) = (count(having), count(all));
    (1.0 + (all - having + 0.5) / (having + 0.5))
        .ln()
        .min(RAREST)
}
