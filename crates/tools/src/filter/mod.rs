//! The filter language of lists and of changes to many guests: `tag:prod status:running -node:pve1 mem>90 web*`.
//!
//! All words must hold. A word is `field:value`, a bound on a number (`cpu>80`, `vmid:100-199`), or a bare word for
//! part of a name or id; `-` or `!` before it turns it round. Values may be several (`node:pve1,pve2`) and have the
//! wildcards `*` and `?`. `field` has the fields, `value` what may stand behind them, `facts` what they are
//! compared with, `in_vain` why nothing is found.

mod facts;
mod field;
mod in_vain;
mod value;

use std::fmt;

use crate::fault::Fault;
use crate::words;

pub use facts::Facts;
pub use field::{Field, Measure, Word};
use value::{Bound, Pattern};

/// Words that all must hold. The empty filter holds for everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter(Vec<Term>);

/// One word of a filter.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    negated: bool,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// A bare word: part of the name or the id.
    Bare(Vec<Pattern>),
    /// One of the field's values is one of these.
    Is(Word, Vec<Pattern>),
    /// The number is within one of these.
    Within(Measure, Vec<Bound>),
}

impl Filter {
    /// Reads a filter. What is wrong with it is told with what is right.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        text.split_whitespace()
            .map(Term::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether all words hold. What is not known of a subject (the load of a stopped guest) is within no bound.
    pub fn matches(&self, subject: &impl Facts) -> bool {
        self.0.iter().all(|term| term.matches(subject))
    }

    /// Whether the words on fields that are decided all hold: the others may still turn out either way. For leaving out
    /// what needs not even be looked at, such as the snapshots of a guest with another tag.
    pub fn could_match(&self, subject: &impl Facts, decided: impl Fn(Field) -> bool) -> bool {
        self.0.iter().all(|term| {
            let known = match term.test {
                Test::Bare(_) => false,
                Test::Is(word, _) => decided(Field::Word(word)),
                Test::Within(measure, _) => decided(Field::Measure(measure)),
            };
            !known || term.matches(subject)
        })
    }

    /// Whether it holds for everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Term {
    fn parse(word: &str) -> Result<Self, Fault> {
        let (mut negated, body) = match word.strip_prefix(['-', '!']) {
            Some(rest) => (true, rest),
            None => (false, word),
        };
        let Some(at) = body.find([':', '=', '<', '>']) else {
            let test = Test::Bare(patterns(word, body, Pattern::part)?);
            return Ok(Self { negated, test });
        };
        let (name, rest) = body.split_at(at);
        // `status!=running` says the same as `-status:running`.
        let name = match name.strip_suffix('!').filter(|_| rest.starts_with('=')) {
            Some(name) => {
                negated = !negated;
                name
            }
            None => name,
        };
        let test = match Field::find(name, &rest[1..])? {
            Field::Word(field) => Test::Is(field, words_of(word, field, rest)?),
            Field::Measure(field) => Test::Within(field, Bound::parse(field, rest)?),
        };
        Ok(Self { negated, test })
    }

    fn matches(&self, subject: &impl Facts) -> bool {
        let any = |word: Word, patterns: &[Pattern]| {
            subject.any(word, &|text| {
                patterns.iter().any(|pattern| pattern.matches(text))
            })
        };
        let holds = match &self.test {
            Test::Bare(patterns) => any(Word::Name, patterns) || any(Word::Id, patterns),
            Test::Is(word, patterns) => any(*word, patterns),
            Test::Within(measure, bounds) => subject
                .number(*measure)
                .is_some_and(|number| bounds.iter().any(|bound| bound.holds(number))),
        };
        holds != self.negated
    }
}

/// The values behind a field of text.
fn words_of(word: &str, field: Word, rest: &str) -> Result<Vec<Pattern>, Fault> {
    if rest.starts_with(['<', '>']) {
        return Err(Fault::bad_input(format!(
            "filter: {} is a text, which has no bound",
            field.name()
        ))
        .hint(format!("send {}:value", field.name())));
    }
    patterns(word, &rest[1..], |value| field.pattern(value))
}

/// The values of a word, which are separated by commas.
fn patterns(
    word: &str,
    values: &str,
    pattern: impl Fn(&str) -> Pattern,
) -> Result<Vec<Pattern>, Fault> {
    let found: Vec<_> = values
        .split(',')
        .filter(|value| !value.is_empty())
        .map(pattern)
        .collect();
    if found.is_empty() {
        return Err(Fault::bad_input(format!(
            "filter: \"{}\" has no value",
            words::clip(word, 40)
        ))
        .hint("send field:value without a blank between them; -tag:* finds what has no tag"));
    }
    Ok(found)
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.0.iter().enumerate() {
            let blank = if index == 0 { "" } else { " " };
            write!(f, "{blank}{term}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn joined<T: ToString>(values: &[T]) -> String {
            values
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(",")
        }
        if self.negated {
            f.write_str("-")?;
        }
        match &self.test {
            Test::Bare(patterns) => {
                let text = joined(patterns);
                // A sign at the beginning would say "not"; behind an empty value it is a letter.
                if text.starts_with(['-', '!']) {
                    f.write_str(",")?;
                }
                f.write_str(&text)
            }
            Test::Is(word, patterns) => write!(f, "{}:{}", word.name(), joined(patterns)),
            Test::Within(measure, bounds) => match bounds.as_slice() {
                [only] if only.is_open() => write!(f, "{}{only}", measure.name()),
                _ => write!(f, "{}:{}", measure.name(), joined(bounds)),
            },
        }
    }
}

#[cfg(test)]
mod tests;
