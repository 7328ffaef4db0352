//! What is on the storages, asked storage by storage: a shared one once, one of a node's own on every node.

use std::collections::{BTreeMap, BTreeSet};

use pve::{ResourceKind, Volume};

use super::MOST_REQUESTS;
use super::estate::{Estate, Part};
use super::item::Place;
use super::notes::Notes;
use super::turns::{NO_ANSWER, in_turns};
use crate::filter::{Field, Filter, Word};

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
    let mut requests = Vec::new();
    for (part, place) in &places {
        requests.push(
            part.cluster
                .pve
                .volumes(place.asked, place.storage, content),
        );
    }
    let answers = in_turns(requests).await;
    let mut held = Vec::new();
    for ((part, place), answer) in places.into_iter().zip(answers) {
        match answer {
            Some(Ok(volumes)) => held.push(Held {
                part,
                place,
                volumes,
            }),
            Some(Err(error)) => notes.failed(name(&place), &error),
            None => notes.leave_out(name(&place), NO_ANSWER),
        }
    }
    held
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
        let mut missing = BTreeSet::new();
        for row in rows {
            let (Some(storage), Some(node)) = (row.storage.as_deref(), row.node.as_ref()) else {
                continue;
            };
            let key = (storage, if row.shared { "" } else { node.as_str() });
            if !online.contains(node) {
                continue;
            }
            if row.status.as_deref() != Some("available") {
                missing.insert(key);
                continue;
            }
            let place = places.entry(key).or_insert_with(|| Place {
                storage,
                asked: node,
                nodes: Vec::new(),
                shared: row.shared,
            });
            place.nodes.push(node);
        }
        for (storage, node) in missing.into_iter().filter(|key| !places.contains_key(key)) {
            let what = match node {
                "" => format!("storage {storage}"),
                node => format!("storage {storage} on {node}"),
            };
            notes.leave_out(what, "PVE says that it is not available");
        }
        places.into_values().collect()
    }
}

fn holds(row: &pve::Resource, content: &str) -> bool {
    let kinds = row.content.as_deref().unwrap_or_default();
    kinds.split(',').any(|kind| kind.trim() == content)
}
