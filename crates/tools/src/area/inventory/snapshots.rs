//! Snapshots, which PVE tells only guest by guest: so many guests are asked for a page, and the next page asks the next.

use std::collections::HashSet;

use pve::{GuestRef, NodeName, Resource, SnapshotEntry};

use super::MOST_REQUESTS;
use super::estate::{Estate, Part};
use super::item::Key;
use super::notes::Notes;
use super::page::Position;
use super::turns::{NO_ANSWER, in_turns};
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
        .map(|(part, guest)| {
            let last = Key::behind_snapshots(&part.cluster.name, guest.at.vmid);
            (last, part, guest)
        })
        .filter(|(key, ..)| behind.is_none_or(|behind| key > behind.key()))
        .collect();
    guests.sort_unstable_by(|one, two| one.0.cmp(&two.0));
    let unasked = guests.len().saturating_sub(MOST_REQUESTS);
    guests.truncate(MOST_REQUESTS);
    let beyond = guests
        .last()
        .filter(|_| unasked > 0)
        .map(|(key, ..)| key.clone());
    let mut requests = Vec::new();
    for (_, part, guest) in &guests {
        requests.push(part.cluster.pve.snapshots(&guest.at));
    }
    let answers = in_turns(requests).await;
    let mut found = Vec::new();
    for ((_, part, guest), answer) in guests.into_iter().zip(answers) {
        let name = || format!("{} {}", guest.at.kind.noun(), guest.at.vmid);
        match answer {
            Some(Ok(entries)) => found.push((part, guest.row, entries)),
            Some(Err(error)) => notes.failed(name(), &error),
            None => notes.leave_out(name(), NO_ANSWER),
        }
    }
    Snapshots {
        found,
        beyond,
        unasked,
    }
}

/// A guest that can be asked.
struct Askable<'a> {
    at: GuestRef,
    row: &'a Resource,
}

impl Part {
    /// The guests that may have snapshots that match, on nodes that answer. PVE makes none of a template.
    fn askable(&self, filter: &Filter) -> impl Iterator<Item = (&Self, Askable<'_>)> {
        let online: HashSet<&NodeName> = self.online();
        let rows = self.resources.iter().filter(move |row| {
            !row.template
                && row.node.as_ref().is_some_and(|node| online.contains(node))
                && filter.could_match(*row, is_of_the_guest)
        });
        rows.filter_map(move |row| {
            let at = GuestRef {
                vmid: row.vmid?,
                node: row.node.clone()?,
                kind: row.kind.guest_kind()?,
            };
            Some((self, Askable { at, row }))
        })
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
