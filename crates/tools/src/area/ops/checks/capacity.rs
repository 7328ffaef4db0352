//! Space and memory, from the resource list alone.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use pve::{NodeName, Resource};

use super::finding;
use crate::area::ops::code::{Code, FULL_CRITICAL_FROM, FULL_FROM, Severity};
use crate::area::ops::estate::{Estate, is_online};
use crate::area::ops::report::{Gap, Report, Subject};
use crate::words;

const MEMORY: &[Code] = &[Code::NodeMemoryOvercommitted, Code::EvacuationNotPossible];

/// Storages that are nearly full, nodes that promised more memory than they have, and nodes that cannot be emptied.
pub(super) fn check(estate: &Estate, report: &mut Report) {
    storages(estate, report);
    estate.note_hidden_guests(MEMORY, report);
    let nodes = memory(estate, report);
    overcommitted(estate, &nodes, report);
    evacuation(estate, &nodes, report);
}

fn storages(estate: &Estate, report: &mut Report) {
    let codes = &[Code::StorageNearlyFull];
    if estate.storages.is_empty() && !estate.held.has("/storage", "Datastore.Audit") {
        report.missed(codes, Gap::lacks("Datastore.Audit", "/storage"));
    }
    let mut seen = BTreeSet::new();
    let mut silent = BTreeSet::new();
    for row in &estate.storages {
        let (Some(storage), Some(node)) = (&row.storage, &row.node) else {
            continue;
        };
        let place = if row.shared {
            storage.to_string()
        } else {
            format!("{storage} on {node}")
        };
        let Some((used, total)) = usage(row) else {
            silent.insert(place);
            continue;
        };
        // A shared storage has a row per node, all with the same figures.
        if !seen.insert(place) || percent(used, total) < FULL_FROM {
            continue;
        }
        let percent = percent(used, total);
        let free = words::size(total.saturating_sub(used));
        let what = format!("{percent} % of {} used, {free} left", words::size(total));
        let subject = Subject::Storage {
            storage: storage.to_string(),
            node: (!row.shared).then(|| node.clone()),
        };
        let severity = if percent >= FULL_CRITICAL_FROM {
            Severity::Critical
        } else {
            Severity::Warning
        };
        let found = finding(estate, Code::StorageNearlyFull, subject, what);
        report.found(found.of_severity(severity).weighing(percent));
    }
    for place in silent.difference(&seen) {
        report.missed(codes, Gap::because("no figures from", place));
    }
}

/// PVE tells any number; none may overflow.
fn percent(used: u64, total: u64) -> u64 {
    u64::try_from(u128::from(used) * 100 / u128::from(total)).unwrap_or(u64::MAX)
}

fn usage(row: &Resource) -> Option<(u64, u64)> {
    let known = row.status.as_deref() == Some("available");
    let total = row.maxdisk.filter(|total| known && *total > 0)?;
    Some((row.disk?, total))
}

/// A node's memory, and what its running guests were promised of it, largest first.
struct Memory {
    total: u64,
    guests: Vec<u64>,
    /// Their sum: it is asked for once per pair of nodes.
    promised: u64,
}

impl Memory {
    fn free(&self) -> u64 {
        self.total.saturating_sub(self.promised)
    }
}

/// The online nodes whose figures are known.
fn memory<'a>(estate: &'a Estate, report: &mut Report) -> BTreeMap<&'a NodeName, Memory> {
    // Every guest asks for its node, so the cost of asking must not grow with the nodes.
    let mut nodes = HashMap::new();
    for node in &estate.nodes {
        let Some(name) = &node.node else { continue };
        match node.maxmem.filter(|total| *total > 0) {
            _ if !is_online(node) => report.missed(MEMORY, Gap::offline(name)),
            Some(total) => {
                let none = Memory {
                    total,
                    guests: Vec::new(),
                    promised: 0,
                };
                nodes.insert(name, none);
            }
            None => report.missed(MEMORY, Gap::lacks("Sys.Audit", &format!("/nodes/{name}"))),
        }
    }
    for guest in estate.guests.values() {
        let of_node = guest.node.as_ref().and_then(|name| nodes.get_mut(name));
        if let (true, Some(node)) = (crate::area::ops::estate::is_running(guest), of_node) {
            node.guests.push(guest.maxmem.unwrap_or_default());
        }
    }
    for node in nodes.values_mut() {
        node.guests.sort_unstable_by(|a, b| b.cmp(a));
        node.promised = words::total(node.guests.iter().copied());
    }
    nodes.into_iter().collect()
}

fn overcommitted(estate: &Estate, nodes: &BTreeMap<&NodeName, Memory>, report: &mut Report) {
    for (name, node) in nodes {
        let promised = node.promised;
        if promised <= node.total {
            continue;
        }
        let percent = promised.saturating_mul(100) / node.total;
        let what = format!(
            "{} may use {} of its {} ({percent} %)",
            words::count(node.guests.len(), "running guest"),
            words::size(promised),
            words::size(node.total)
        );
        let subject = Subject::Node((*name).clone());
        let found = finding(estate, Code::NodeMemoryOvercommitted, subject, what);
        report.found(found.weighing(percent));
    }
}

/// Whether the others could take a node's running guests, the largest first, each to where most is free.
fn evacuation(estate: &Estate, nodes: &BTreeMap<&NodeName, Memory>, report: &mut Report) {
    // A node alone cannot be emptied, and everybody knows.
    if estate.nodes.len() < 2 {
        return;
    }
    for (name, node) in nodes {
        let others = nodes.iter().filter(|(other, _)| other != &name);
        let mut free: BinaryHeap<u64> = others.map(|(_, other)| other.free()).collect();
        let in_all = words::total(free.iter().copied());
        let stranded = node
            .guests
            .iter()
            .filter(|guest| !place(&mut free, **guest));
        let stranded = stranded.count();
        if stranded == 0 {
            continue;
        }
        let what = format!(
            "{stranded} of its {} would not fit elsewhere: they may use {}, the others have {} unpromised",
            words::count(node.guests.len(), "running guest"),
            words::size(node.promised),
            words::size(in_all)
        );
        let subject = Subject::Node((*name).clone());
        let found = finding(estate, Code::EvacuationNotPossible, subject, what);
        report.found(found.weighing(u64::try_from(stranded).unwrap_or_default()));
    }
}

/// Puts a guest where most memory is free, if it fits there.
fn place(free: &mut BinaryHeap<u64>, guest: u64) -> bool {
    match free.peek_mut() {
        Some(mut most) if *most >= guest => {
            *most -= guest;
            true
        }
        _ => false,
    }
}
