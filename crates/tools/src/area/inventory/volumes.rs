//! What is on the storages, asked storage by storage: a shared one once, one of a node's own on every node.

use std::collections::BTreeMap;
use std::time::Duration;

use pve::{Error, ResourceKind, Volume};

use super::estate::{Estate, Part};
use super::item::Place;
use super::notes::Notes;
use super::{MOST_REQUESTS, in_turns};
use crate::filter::{Field, Filter, Word};

/// How long a storage may take. One whose server hangs must not hold up the others until the caller gives up.
const PATIENCE: Duration = Duration::from_secs(15);

/// What one storage of a cluster holds.
#[derive(Debug)]
pub(super) struct Held<'a> {
    pub(super) part: &'a Part,
    pub(super) place: Place<'a>,
    pub(super) volumes: Vec<Volume>,
}

/// Asks every storage that can have the content and that the filter does not rule out. What cannot be asked becomes a
/// note.
pub(super) async fn look<'a>(
    estate: &'a Estate,
    content: Option<&str>,
    filter: &Filter,
    notes: &mut Notes,
) -> Vec<Held<'a>> {
    let mut places = Vec::new();
    for part in &estate.parts {
        places.extend(
            part.places(content, filter, notes)
                .into_iter()
                .map(|place| (part, place)),
        );
    }
    for (_, place) in places.iter().skip(MOST_REQUESTS) {
        let why = "too many storages to ask at once; narrow it with filter node:… or storage:…";
        notes.leave_out(name(place), why);
    }
    places.truncate(MOST_REQUESTS);
    let mut asked = Vec::new();
    for (part, place) in places {
        asked.push(ask(part, place, content));
    }
    let answers = in_turns(asked).await;
    let mut held = Vec::new();
    for (part, place, answer) in answers {
        match answer {
            Some(Ok(volumes)) => held.push(Held {
                part,
                place,
                volumes,
            }),
            Some(Err(error)) => notes.failed(name(&place), &error),
            None => notes.leave_out(
                name(&place),
                &format!("no answer within {} s", PATIENCE.as_secs()),
            ),
        }
    }
    held
}

/// One storage's answer, or nothing if it takes too long.
async fn ask<'a>(
    part: &'a Part,
    place: Place<'a>,
    content: Option<&str>,
) -> (&'a Part, Place<'a>, Option<Result<Vec<Volume>, Error>>) {
    let answer = match place.nodes.first() {
        Some(node) => {
            let request = part.cluster.pve.volumes(node, place.storage, content);
            tokio::time::timeout(PATIENCE, request).await.ok()
        }
        None => Some(Ok(Vec::new())),
    };
    (part, place, answer)
}

fn name(place: &Place<'_>) -> String {
    match place.node() {
        Some(node) => format!("storage {} on {node}", place.storage),
        None => format!("storage {}", place.storage),
    }
}

impl Part {
    /// The storages to ask, each with the nodes that it can be asked on.
    fn places(&self, content: Option<&str>, filter: &Filter, notes: &mut Notes) -> Vec<Place<'_>> {
        let online = self.online();
        let rows = self.resources.iter().filter(|row| {
            row.kind == ResourceKind::Storage
                && content.is_none_or(|content| holds(row, content))
                && filter.could_match(*row, |field| {
                    matches!(field, Field::Word(Word::Node | Word::Storage))
                })
        });
        let mut places: BTreeMap<(&str, &str), Place<'_>> = BTreeMap::new();
        for row in rows {
            let (Some(storage), Some(node)) = (row.storage.as_deref(), row.node.as_ref()) else {
                continue;
            };
            let own = if row.shared { "" } else { node.as_str() };
            let place = places.entry((storage, own)).or_insert_with(|| Place {
                storage,
                nodes: Vec::new(),
                shared: row.shared,
            });
            if online.contains(node) && row.status.as_deref() == Some("available") {
                place.nodes.push(node);
            } else if online.contains(node) && !row.shared {
                let why = "PVE says that it is not available";
                notes.leave_out(format!("storage {storage} on {node}"), why);
            }
        }
        for place in places
            .values()
            .filter(|place| place.shared && place.nodes.is_empty())
        {
            let why = "PVE says that it is not available";
            notes.leave_out(format!("storage {}", place.storage), why);
        }
        places
            .into_values()
            .filter(|place| !place.nodes.is_empty())
            .collect()
    }
}

fn holds(row: &pve::Resource, content: &str) -> bool {
    let kinds = row.content.as_deref().unwrap_or_default();
    kinds.split(',').any(|kind| kind.trim() == content)
}
