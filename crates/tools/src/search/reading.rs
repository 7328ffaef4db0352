//! From the text of a clause to known words.

use super::near;
use super::stem::stem;
use super::terms::Terms;
use super::token::words;
use super::vocabulary::Vocabulary;

/// A word that had to be guessed counts this much of one that was there.
const GUESSED: f32 = 0.8;
/// So many words may stand between the parts of a verb.
const WIDEST_GAP: usize = 4;

/// A word of a request, known to a document or to the vocabulary.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) stem: String,
    /// It says something in a phrase only.
    pub(super) is_stop: bool,
    /// How much it counts, from 0 to 1.
    pub(super) weight: f32,
}

/// Reads the clauses of one request.
pub(super) struct Reader<'a> {
    pub(super) terms: &'a Terms,
    pub(super) vocabulary: &'a Vocabulary,
    /// How many documents have a stem.
    pub(super) frequency: &'a dyn Fn(&str) -> usize,
    /// How many words it goes on reading.
    pub(super) left: usize,
}

impl Reader<'_> {
    /// The words of a clause in the order in which sayings have them: those that say nothing left out, those unknown
    /// replaced by what they may be, verbs put together that were said apart.
    pub(super) fn read(&mut self, clause: &str) -> Vec<Word> {
        let mut read = Vec::new();
        let words = words(clause, self.left);
        self.left -= words.len();
        for word in words {
            if self.vocabulary.is_filler(&word) {
                continue;
            }
            let is_stop = self.vocabulary.is_stop(&word) || is_number(&word);
            for (stem, weight) in self.known(&word, is_stop) {
                read.push(Word {
                    stem,
                    is_stop,
                    weight,
                });
            }
        }
        self.reunite(&mut read);
        read
    }

    /// The stems that a word stands for, and how surely.
    fn known(&self, word: &str, is_stop: bool) -> Vec<(String, f32)> {
        let stemmed = stem(word);
        if is_number(word) {
            return vec![(stem("number"), 1.0)];
        }
        if is_stop || self.knows(&stemmed) {
            return vec![(stemmed, 1.0)];
        }
        let letters = word.trim_end_matches(|digit: char| digit.is_ascii_digit());
        if letters.len() < word.len() {
            // `pve1` is a node, `net0` is a `net`, `web01` is nobody's business.
            let letters = stem(letters);
            return if self.vocabulary.names_node(&letters) {
                vec![(stem("somenode"), 1.0)]
            } else if self.knows(&letters) {
                vec![(letters, GUESSED)]
            } else {
                Vec::new()
            };
        }
        if let Some((left, right)) = near::halves(word, |half| self.knows(&stem(half))) {
            return vec![(stem(left), GUESSED), (stem(right), GUESSED)];
        }
        let guess = near::nearest(&stemmed, self.terms, self.vocabulary, self.frequency);
        guess
            .map(|stem| (stem.to_owned(), GUESSED))
            .into_iter()
            .collect()
    }

    fn knows(&self, stem: &str) -> bool {
        self.terms.get(stem).is_some() || self.vocabulary.knows(stem)
    }

    /// Puts verbs together that were said apart: "turn the vm off" is "turn off the vm".
    fn reunite(&self, words: &mut [Word]) {
        for verb in 0..words.len() {
            let end = words.len().min(verb + WIDEST_GAP + 2);
            let part = (verb + 1..end).find(|at| {
                let part = &words[*at].stem;
                // "on" before a name tells where.
                let is_where = part == "on" && words.get(at + 1).is_some_and(|next| !next.is_stop);
                let is_verb = || {
                    let together = format!("{} {part}", words[verb].stem);
                    self.vocabulary.saying(&together).is_some()
                };
                self.vocabulary.is_part(part) && !is_where && is_verb()
            });
            if let Some(part) = part {
                words[verb + 1..=part].rotate_right(1);
            }
        }
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}
