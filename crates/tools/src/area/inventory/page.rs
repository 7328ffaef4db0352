//! Order, and where a page begins and ends.
//!
//! A cursor holds the place of the last row shown, not how many were: guests that come or go in between neither repeat a
//! row nor hide one.

use std::borrow::Cow;
use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::column::{Cell, Column};
use super::item::{Item, Key};
use crate::fault::Fault;
use crate::words;

/// By which field, in which direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) column: Column,
    pub(super) descending: bool,
}

impl Sort {
    /// `field`, or `-field` for the largest first.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let (descending, name) = match text.trim().strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, text),
        };
        let column = Column::find(name, "sort")?;
        Ok(Self { column, descending })
    }
}

/// Where a row stands: by its field first, and by its key among equals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position<'a> {
    #[serde(rename = "b")]
    by: By<'a>,
    #[serde(rename = "k")]
    key: Key<'a>,
}

/// What a field is sorted by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum By<'a> {
    #[serde(rename = "-")]
    Nothing,
    /// The bits of a float that is not negative, which order as it does.
    #[serde(rename = "n")]
    Number(u64),
    #[serde(rename = "t")]
    Text(Cow<'a, str>),
}

impl<'a> Position<'a> {
    pub(super) fn of(item: &Item<'a>, sort: Option<Sort>) -> Self {
        let by = match sort.map(|sort| sort.column.of(item)) {
            None | Some(Cell::Nothing) => By::Nothing,
            // Ids of guests are numbers, and 99 comes before 100.
            Some(Cell::Text(text)) => match text.parse::<u32>() {
                Ok(number) => By::Number(f64::from(number).to_bits()),
                Err(_) => By::Text(text),
            },
            Some(Cell::Percent(share)) => By::Number(share.max(0.0).to_bits()),
            Some(Cell::Number(number)) => By::Number(f64::from(number).to_bits()),
            #[expect(
                clippy::cast_precision_loss,
                reason = "equal sizes are told apart by their keys"
            )]
            Some(Cell::Bytes(number) | Cell::Seconds(number) | Cell::Time(number)) => {
                By::Number((number as f64).to_bits())
            }
            Some(Cell::Yes) => By::Number(1),
        };
        Self {
            by,
            key: item.key(),
        }
    }

    /// Right behind this key, in an order without a field.
    pub(super) fn at(key: Key<'a>) -> Self {
        Self {
            by: By::Nothing,
            key,
        }
    }

    pub(super) fn key(&self) -> &Key<'a> {
        &self.key
    }

    /// What is not known comes last, in either direction.
    fn compare(&self, other: &Position<'_>, descending: bool) -> Ordering {
        let by = match (&self.by, &other.by) {
            (By::Nothing, By::Nothing) => Ordering::Equal,
            (By::Nothing, _) => return Ordering::Greater,
            (_, By::Nothing) => return Ordering::Less,
            (By::Number(one), By::Number(two)) => one.cmp(two),
            (By::Number(_), By::Text(_)) => Ordering::Less,
            (By::Text(_), By::Number(_)) => Ordering::Greater,
            (By::Text(one), By::Text(two)) => caseless(one, two),
        };
        let by = if descending { by.reverse() } else { by };
        by.then_with(|| self.key.cmp(&other.key))
    }
}

fn caseless(one: &str, two: &str) -> Ordering {
    let lower = |byte: u8| byte.to_ascii_lowercase();
    one.bytes().map(lower).cmp(two.bytes().map(lower))
}

/// A part of the list, in order.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) rows: Vec<(Position<'a>, Item<'a>)>,
    /// How many match in all.
    pub(super) total: usize,
    /// How many come after these.
    pub(super) after: usize,
}

impl<'a> Page<'a> {
    /// At most so many rows behind a position. Only these are sorted.
    pub(super) fn cut(
        items: Vec<Item<'a>>,
        sort: Option<Sort>,
        behind: Option<&Position<'_>>,
        most: usize,
    ) -> Self {
        let descending = sort.is_some_and(|sort| sort.descending);
        let total = items.len();
        let mut rows: Vec<_> = items
            .into_iter()
            .map(|item| (Position::of(&item, sort), item))
            .filter(|(at, _)| {
                behind.is_none_or(|behind| at.compare(behind, descending) == Ordering::Greater)
            })
            .collect();
        let after = rows.len().saturating_sub(most);
        let order = |one: &(Position<'_>, Item<'_>), two: &(Position<'_>, Item<'_>)| {
            one.0.compare(&two.0, descending)
        };
        if after > 0 {
            rows.select_nth_unstable_by(most, order);
            rows.truncate(most);
        }
        rows.sort_unstable_by(order);
        Self { rows, total, after }
    }
}

/// A position that a caller can hand back, bound to the list that it is in.
#[derive(Debug, Serialize, Deserialize)]
struct Cursor<'a>(u32, Position<'a>);

/// A position as text, for a list with these marks.
pub(super) fn cursor(list: &[&str], at: &Position<'_>) -> String {
    let json = serde_json::to_vec(&Cursor(mark(list), at.clone())).unwrap_or_default();
    URL_SAFE_NO_PAD.encode(json)
}

/// The position in a cursor that this list gave.
pub(super) fn read_cursor(list: &[&str], cursor: &str) -> Result<Position<'static>, Fault> {
    let wrong = |what: &str, hint: &str| {
        Err(Fault::bad_input(format!("cursor \"{}\" {what}", words::clip(cursor, 40))).hint(hint))
    };
    let bytes = URL_SAFE_NO_PAD.decode(cursor.trim()).unwrap_or_default();
    match serde_json::from_slice::<Cursor<'static>>(&bytes) {
        Ok(Cursor(marked, at)) if marked == mark(list) => Ok(at),
        Ok(_) => wrong(
            "belongs to another list",
            "send the resource_type, filter and sort of the call that gave it, or leave the cursor out",
        ),
        Err(_) => wrong(
            "is none that this tool gave",
            "send the next_cursor of the answer before, or leave it out",
        ),
    }
}

/// Tells lists apart; no secret, and no need to be one.
fn mark(list: &[&str]) -> u32 {
    let digest = Sha256::digest(list.join("\n"));
    digest
        .iter()
        .take(4)
        .fold(0, |mark, byte| mark << 8 | u32::from(*byte))
}
