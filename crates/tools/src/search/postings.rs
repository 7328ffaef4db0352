//! From the texts of documents to postings: by term, the documents that have it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::document::Field;
use super::terms::{Term, Terms};
use super::token::each_word;

/// By term: the documents that have it, in their order, with its weighted frequency there.
pub(super) type Postings = Vec<Vec<(u32, f32)>>;

/// Texts on their way to terms. PVE says the same of the same parameter in many methods; it is read once.
#[derive(Default)]
pub(super) struct Texts<'a> {
    pub(super) terms: Terms,
    known: HashMap<Cow<'a, str>, Words>,
}

/// The terms of a text, in its order.
pub(super) type Words = Rc<[Term]>;

impl<'a> Texts<'a> {
    pub(super) fn read(&mut self, text: &str) -> Vec<Term> {
        let mut found = Vec::new();
        each_word(text, |word| found.push(self.terms.add(word)));
        found
    }

    pub(super) fn read_again(&mut self, text: Cow<'a, str>) -> Words {
        if let Some(words) = self.known.get(&text) {
            return Rc::clone(words);
        }
        let words: Words = self.read(&text).into();
        self.known.insert(text, Rc::clone(&words));
        words
    }
}

/// By term, the documents that have it. A word in a long field counts less than in a short one.
pub(super) fn post(texts: &[Vec<(Field, Words)>], terms: usize) -> Postings {
    let mut mean = lengths(texts.iter().flatten());
    for length in &mut mean {
        *length = (*length / count(texts.len()).max(1.0)).max(1.0);
    }
    let mut postings: Postings = vec![Vec::new(); terms];
    for (document, fields) in (0..).zip(texts) {
        let lengths = lengths(fields);
        for (field, words) in fields {
            let at = *field as usize;
            let thinning = field.thinning();
            let each = field.weight() / (1.0 - thinning + thinning * lengths[at] / mean[at]);
            for term in words.iter() {
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
fn lengths<'a>(fields: impl IntoIterator<Item = &'a (Field, Words)>) -> [f32; Field::COUNT] {
    let mut lengths = [0.0; Field::COUNT];
    for (field, words) in fields {
        lengths[*field as usize] += count(words.len());
    }
    lengths
}

/// A count as a number to reckon with; more than 65,535 is as good as that.
pub(super) fn count(number: usize) -> f32 {
    f32::from(u16::try_from(number).unwrap_or(u16::MAX))
}
