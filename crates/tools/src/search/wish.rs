//! What a clause wants, as far as its sayings tell.

use super::intent::Intent;
use super::reading::Word;
use super::vocabulary::{Saying, Vocabulary};

/// One saying of a clause, or one word that is none.
pub(super) struct Said<'a> {
    /// Never empty.
    pub(super) words: &'a [Word],
    pub(super) saying: Option<&'a Saying>,
}

impl Said<'_> {
    /// It tells neither what is wanted nor of what.
    pub(super) fn is_polite(&self) -> bool {
        self.saying.is_some_and(|saying| saying.polite)
    }
}

/// A clause as sayings: at each word the longest that begins there.
pub(super) fn sayings<'a>(words: &'a [Word], vocabulary: &'a Vocabulary) -> Vec<Said<'a>> {
    let mut said = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let longest = vocabulary.longest().min(rest.len());
        let found = (1..=longest).rev().find_map(|length| {
            let stems: Vec<_> = rest[..length]
                .iter()
                .map(|word| word.stem.as_str())
                .collect();
            Some((vocabulary.saying(&stems.join(" "))?, length))
        });
        let (saying, length) = found.unzip();
        let (words, after) = rest.split_at(length.unwrap_or(1));
        said.push(Said { words, saying });
        rest = after;
    }
    said
}

/// What a clause wants.
pub(super) struct Wish {
    pub(super) intent: Intent,
    /// The clause begins with that, as an order or a question does.
    pub(super) is_order: bool,
}

impl Wish {
    /// Of a clause; only the first of a request can be a question by its first word.
    pub(super) fn of(clause: &[Said<'_>], vocabulary: &Vocabulary, is_first: bool) -> Option<Self> {
        let mut politely = clause.iter().take_while(|said| said.is_polite());
        let begins = politely.clone().count();
        let asks = |at: usize, said: &Said<'_>| {
            is_first && at == begins && vocabulary.asks(&said.words[0].stem)
        };
        let wishes = clause
            .iter()
            .enumerate()
            .filter(|(_, said)| !said.is_polite());
        // The first thing to do is the thing to do: "list what was removed".
        let mut wishes = wishes.filter_map(|(at, said)| {
            let intent = if asks(at, said) {
                Some(Intent::Read)
            } else {
                wanted(said, vocabulary)
            };
            Some(Self {
                intent: intent?,
                is_order: at == begins,
            })
        });
        // Courtesy wants something if nothing else does: "i need a user".
        wishes.next().or_else(|| {
            let intent = politely.find_map(|said| said.saying?.intent)?;
            Some(Self {
                intent,
                is_order: false,
            })
        })
    }
}

/// What a saying wants: what it tells itself, else what the verb in front of it does ("close port").
fn wanted(said: &Said<'_>, vocabulary: &Vocabulary) -> Option<Intent> {
    if let Some(intent) = said.saying.and_then(|saying| saying.intent) {
        return Some(intent);
    }
    if said.saying.is_some_and(|saying| saying.thing) {
        return None;
    }
    vocabulary.saying(&said.words[0].stem)?.intent
}
