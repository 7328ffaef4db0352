//! What stands behind a field: patterns for texts, bounds for numbers.

use std::fmt;

use super::field::Measure;
use crate::fault::Fault;
use crate::words;

/// A text to compare with, whatever the case of its letters. PVE's own names are ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    text: String,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Whole,
    Part,
    /// `*` for any text, `?` for any one character.
    Wild,
}

impl Pattern {
    /// Matches the same text.
    pub(super) fn whole(text: &str) -> Self {
        Self::new(text, How::Whole)
    }

    /// Matches a text that contains it.
    pub(super) fn part(text: &str) -> Self {
        Self::new(text, How::Part)
    }

    fn new(text: &str, otherwise: How) -> Self {
        let how = if text.contains(['*', '?']) {
            How::Wild
        } else {
            otherwise
        };
        Self {
            text: text.to_owned(),
            how,
        }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        match self.how {
            How::Whole => text.eq_ignore_ascii_case(&self.text),
            How::Part => contains(text.as_bytes(), self.text.as_bytes()),
            How::Wild => wild(&self.text, text),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty()
        || text
            .windows(part.len())
            .any(|window| window.eq_ignore_ascii_case(part))
}

/// Compares with wildcards in time of at most the product of the lengths: on a difference the last `*` takes one
/// character more.
fn wild(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    let mut star = None;
    loop {
        let (mut next_pattern, mut next_text) = (pattern.clone(), text.clone());
        match (next_pattern.next(), next_text.next()) {
            (Some('*'), _) => {
                star = Some((next_pattern.clone(), text.clone()));
                pattern = next_pattern;
            }
            (None, None) => return true,
            (Some(wanted), Some(got)) if wanted == '?' || wanted.eq_ignore_ascii_case(&got) => {
                (pattern, text) = (next_pattern, next_text);
            }
            _ => {
                let Some((after_star, taken)) = &mut star else {
                    return false;
                };
                if taken.next().is_none() {
                    return false;
                }
                (pattern, text) = (after_star.clone(), taken.clone());
            }
        }
    }
}

/// Where a number has to lie, written as `>80`, `>=80`, `<80`, `<=80`, or as a span of two numbers, both counted in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    Above(Number),
    AtLeast(Number),
    Below(Number),
    AtMost(Number),
    Span(Number, Number),
}

/// A number, and the text that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    value: f64,
    text: String,
}

impl Bound {
    /// What follows the name of a measure, such as `>80` or `:100-199,205`.
    pub(super) fn parse(measure: Measure, rest: &str) -> Result<Vec<Self>, Fault> {
        let number = |text: &str| Number::parse(measure, text);
        let one = |bound: Self| Ok(vec![bound]);
        match rest.as_bytes() {
            [b'>', b'=', ..] => one(Self::AtLeast(number(&rest[2..])?)),
            [b'<', b'=', ..] => one(Self::AtMost(number(&rest[2..])?)),
            [b'>', ..] => one(Self::Above(number(&rest[1..])?)),
            [b'<', ..] => one(Self::Below(number(&rest[1..])?)),
            _ => rest[1..]
                .split(',')
                .map(|text| Self::span(measure, text))
                .collect(),
        }
    }

    fn span(measure: Measure, text: &str) -> Result<Self, Fault> {
        if measure == Measure::Created {
            // A date has hyphens of its own.
            return Err(wrong(measure, text));
        }
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        let (least, most) = (
            Number::parse(measure, least)?,
            Number::parse(measure, most)?,
        );
        if least.value > most.value {
            return Err(wrong(measure, text));
        }
        Ok(Self::Span(least, most))
    }

    pub(super) fn holds(&self, number: f64) -> bool {
        match self {
            Self::Above(bound) => number > bound.value,
            Self::AtLeast(bound) => number >= bound.value,
            Self::Below(bound) => number < bound.value,
            Self::AtMost(bound) => number <= bound.value,
            Self::Span(least, most) => (least.value..=most.value).contains(&number),
        }
    }

    /// Whether it has but one end.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Span(..))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Above(bound) => write!(f, ">{}", bound.text),
            Self::AtLeast(bound) => write!(f, ">={}", bound.text),
            Self::Below(bound) => write!(f, "<{}", bound.text),
            Self::AtMost(bound) => write!(f, "<={}", bound.text),
            Self::Span(least, most) if least == most => f.write_str(&least.text),
            Self::Span(least, most) => write!(f, "{}-{}", least.text, most.text),
        }
    }
}

impl Number {
    fn parse(measure: Measure, text: &str) -> Result<Self, Fault> {
        let value = match measure {
            Measure::Vmid => text.parse::<u32>().ok().map(f64::from),
            Measure::Cpu | Measure::Mem | Measure::Disk => {
                plain(text.strip_suffix('%').unwrap_or(text))
            }
            Measure::Uptime => with_unit(text, &UNITS_OF_TIME),
            Measure::Size => with_unit(text.trim_end_matches(['i', 'B', 'b']), &UNITS_OF_SIZE),
            Measure::Created => date(text),
        };
        match value {
            Some(value) => Ok(Self {
                value,
                text: text.to_owned(),
            }),
            None => Err(wrong(measure, text)),
        }
    }
}

const UNITS_OF_TIME: [(char, f64); 5] = [
    ('s', 1.0),
    ('m', 60.0),
    ('h', 3_600.0),
    ('d', 86_400.0),
    ('w', 604_800.0),
];

const UNITS_OF_SIZE: [(char, f64); 5] = [
    ('k', 1024.0),
    ('m', 1_048_576.0),
    ('g', 1_073_741_824.0),
    ('t', 1_099_511_627_776.0),
    ('p', 1_125_899_906_842_624.0),
];

fn plain(text: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    text.parse().ok().filter(|_| text.chars().all(digits))
}

fn with_unit(text: &str, units: &[(char, f64)]) -> Option<f64> {
    let last = text.chars().last()?.to_ascii_lowercase();
    match units.iter().find(|(unit, _)| *unit == last) {
        Some((_, factor)) => Some(plain(&text[..text.len() - 1])? * factor),
        None => plain(text),
    }
}

/// A day in UTC (its first second), or a point in time.
fn date(text: &str) -> Option<f64> {
    let midnight = format!("{text}T00:00:00Z");
    let at: jiff::Timestamp = text.parse().or_else(|_| midnight.parse()).ok()?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds fit for 285 million years"
    )]
    Some(at.as_second() as f64)
}

fn wrong(measure: Measure, text: &str) -> Fault {
    Fault::bad_input(format!(
        "filter: \"{}\" is nothing that {} can be compared with",
        words::clip(text, 40),
        measure.name()
    ))
    .hint(format!("send for example {}", measure.example()))
}
