//! What people say and what Proxmox calls it. The words are data in `vocabulary.txt`; its head tells the format.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::intent::Intent;
use super::stem::stem;
use super::token::{joined, words};

/// A meaning counts this much of the word itself, where the data says nothing else.
const MEANING: f32 = 0.85;

/// What a word or phrase says.
#[derive(Debug, Clone, Default)]
pub(super) struct Saying {
    /// Stems that it stands for, and how surely.
    pub(super) meanings: Vec<(String, f32)>,
    /// What it wants done.
    pub(super) intent: Option<Intent>,
    /// It speaks of all of them (false), or of one (true).
    pub(super) one: Option<bool>,
    /// It is a thing, though it begins like something to do.
    pub(super) thing: bool,
    /// It tells neither that something is asked nor what is wanted.
    pub(super) polite: bool,
}

/// The reviewed vocabulary.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// By the stems of its words, joined with a space.
    sayings: HashMap<String, Saying>,
    known: HashSet<String>,
    fillers: HashSet<String>,
    stops: HashSet<String>,
    asks: HashSet<String>,
    node_names: HashSet<String>,
    parts: HashSet<String>,
    areas: HashSet<String>,
    longest: usize,
}

static VOCABULARY: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::parse(include_str!("vocabulary.txt")));

impl Vocabulary {
    /// The one that is built in.
    pub(super) fn get() -> &'static Self {
        &VOCABULARY
    }

    fn parse(text: &str) -> Self {
        let mut vocabulary = Self::default();
        let mut section = "";
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                section = name;
                continue;
            }
            vocabulary.read(section, line);
        }
        vocabulary
    }

    fn read(&mut self, section: &str, line: &str) {
        match section {
            // The fillers come first in the file: keys are read without them.
            "fillers" => self.fillers.extend(words(line, usize::MAX)),
            "stops" => self.stops.extend(words(line, usize::MAX)),
            "asks" => self
                .asks
                .extend(words(line, usize::MAX).iter().map(|word| stem(word))),
            "nodes" => self.node_names.extend(words(line, usize::MAX)),
            "areas" => self
                .areas
                .extend(words(line, usize::MAX).iter().map(|word| stem(word))),
            "parts" => self.parts.extend(words(line, usize::MAX)),
            "things" => self.note(line, |saying| saying.thing = true),
            "polite" => self.note(line, |saying| saying.polite = true),
            "all" | "one" => self.note(line, |saying| saying.one = Some(section == "one")),
            "means" => {
                let (sayings, meanings) = line.split_once('=').unwrap_or((line, ""));
                let meanings: Vec<_> = meanings.split_whitespace().map(weighted).collect();
                self.note(sayings, |saying| {
                    saying.meanings.extend(meanings.iter().cloned());
                });
            }
            other => self.note(line, |saying| saying.intent = Intent::named(other)),
        }
    }

    /// Puts something down for each of a list of sayings.
    fn note(&mut self, sayings: &str, mut put: impl FnMut(&mut Saying)) {
        for saying in sayings.split(',') {
            let mut stems = words(saying, usize::MAX);
            stems.retain(|word| !self.fillers.contains(word));
            for word in &mut stems {
                *word = stem(word);
            }
            self.longest = self.longest.max(stems.len());
            put(self.sayings.entry(stems.join(" ")).or_default());
            self.known.extend(stems);
        }
    }

    /// What these stems say together.
    pub(super) fn saying(&self, key: &str) -> Option<&Saying> {
        self.sayings.get(key)
    }

    /// A word that says nothing anywhere: it is taken out before phrases are looked for.
    pub(super) fn is_filler(&self, word: &str) -> bool {
        self.fillers.contains(word)
    }

    /// A word that says something in a phrase only.
    pub(super) fn is_stop(&self, word: &str) -> bool {
        self.stops.contains(word)
    }

    /// A stem that makes a question of what it begins.
    pub(super) fn asks(&self, stem: &str) -> bool {
        self.asks.contains(stem)
    }

    /// The stems that, when said, a document must have too.
    pub(super) fn areas(&self) -> impl Iterator<Item = &str> {
        self.areas.iter().map(String::as_str)
    }

    /// A stem that ends a verb which may be taken apart.
    pub(super) fn is_part(&self, stem: &str) -> bool {
        self.parts.contains(stem)
    }

    /// Letters that, with a number behind them, are the name of a node.
    pub(super) fn names_node(&self, letters: &str) -> bool {
        self.node_names.contains(letters)
    }

    /// A stem that occurs in some saying.
    pub(super) fn knows(&self, stem: &str) -> bool {
        self.known.contains(stem)
    }

    pub(super) fn known(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(String::as_str)
    }

    /// Every stem that something stands for.
    #[cfg(test)]
    pub(super) fn meanings(&self) -> impl Iterator<Item = &str> {
        let meanings = self.sayings.values().flat_map(|saying| &saying.meanings);
        meanings.map(|(stem, _)| stem.as_str())
    }

    /// How many words the longest saying has.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }
}

/// `start` or `start:0.5`
fn weighted(meaning: &str) -> (String, f32) {
    let (word, weight) = meaning.split_once(':').unwrap_or((meaning, ""));
    (stem(&joined(word)), weight.parse().unwrap_or(MEANING))
}
