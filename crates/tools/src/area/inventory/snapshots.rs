//! Snapshots, which PVE tells only guest by guest: so many guests are asked for a page, and the next page asks the next.

use std::collections::HashSet;

use pve::{Error, Guest, NodeName, Resource, SnapshotEntry};

use super::estate::{Estate, Part};
use super::item::Key;
use super::notes::Notes;
use super::page::Position;
use super::{MOST_REQUESTS, in_turns};
use crate::filter::{Field, Filter, Measure, Word};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Snapshots<'a> {
    pub(super) found: Vec<(&'a Part, &'a Resource, Vec<SnapshotEntry>)>,
    /// Behind the last guest that was asked, if there are more.
    pub(super) beyond: Option<Key<'static>>,
    /// How many guests were not asked.
    pub(super) unasked: usize,
}

/// Asks the guests that the filter does not rule out, in the order of their numbers, from a position on.
pub(super) async fn look<'a>(
    estate: &'a Estate,
    filter: &Filter,
    behind: Option<&Position<'_>>,
    notes: &mut Notes,
) -> Snapshots<'a> {
    let mut guests: Vec<_> = estate
        .parts
        .iter()
        .flat_map(|part| part.askable(filter))
        .map(|(part, row)| (Key::behind_snapshots(&part.cluster.name, row), part, row))
        .filter(|(key, ..)| behind.is_none_or(|behind| key > behind.key()))
        .collect();
    guests.sort_unstable_by(|one, two| one.0.cmp(&two.0));
    let unasked = guests.len().saturating_sub(MOST_REQUESTS);
    guests.truncate(MOST_REQUESTS);
    let beyond = guests
        .last()
        .filter(|_| unasked > 0)
        .map(|(key, ..)| key.clone());
    let mut asked = Vec::new();
    for (_, part, row) in guests {
        asked.push(ask(part, row));
    }
    let answers = in_turns(asked).await;
    let mut found = Vec::new();
    for (part, row, answer) in answers {
        match answer {
            Ok(entries) => found.push((part, row, entries)),
            Err(error) => notes.failed(row.id.clone().unwrap_or_default(), &error),
        }
    }
    Snapshots {
        found,
        beyond,
        unasked,
    }
}

/// One guest's answer.
async fn ask<'a>(
    part: &'a Part,
    row: &'a Resource,
) -> (&'a Part, &'a Resource, Result<Vec<SnapshotEntry>, Error>) {
    let answer = match Guest::from_resource(row) {
        Some(guest) => part.cluster.pve.snapshots(&guest.at).await,
        None => Ok(Vec::new()),
    };
    (part, row, answer)
}

impl Part {
    /// The guests that may have snapshots that match, on nodes that answer. PVE makes none of a template.
    fn askable(&self, filter: &Filter) -> impl Iterator<Item = (&Self, &Resource)> {
        let online: HashSet<&NodeName> = self.online();
        self.resources
            .iter()
            .filter(move |row| {
                row.kind.guest_kind().is_some()
                    && !row.template
                    && row.node.as_ref().is_some_and(|node| online.contains(node))
                    && filter.could_match(*row, is_of_the_guest)
            })
            .map(move |row| (self, row))
    }
}

/// Fields that a snapshot has from its guest.
fn is_of_the_guest(field: Field) -> bool {
    !matches!(
        field,
        Field::Word(Word::Id | Word::Type | Word::Storage | Word::Content)
            | Field::Measure(Measure::Created | Measure::Size)
    )
}
