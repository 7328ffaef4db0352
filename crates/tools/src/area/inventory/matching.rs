//! Which of what was found is in the list.

use std::collections::HashMap;

use pve::{NodeName, Resource, ResourceKind, Vmid};

use super::estate::Estate;
use super::item::{Item, Thing};
use super::query::Query;
use super::snapshots::Snapshots;
use super::volumes::Held;
use crate::filter::Filter;

/// Shared storages by name and status, each with the nodes that have it so.
type Shares<'a> = HashMap<(&'a str, Option<&'a str>), (&'a Resource, Vec<&'a NodeName>)>;

/// Matching entries of `/cluster/resources`; a storage that nodes share is one.
pub(super) fn resources<'a>(estate: &'a Estate, query: &Query) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    for part in &estate.parts {
        let cluster = part.cluster.name.as_str();
        let owner = query.wanted.owner();
        let counts = owner.map(|owner| part.guests_by(owner));
        let mut shared: Shares<'_> = Shares::new();
        let matching = part
            .resources
            .iter()
            .filter(|row| query.wanted.takes(row) && query.filter.matches(*row));
        for row in matching {
            if row.shared
                && row.kind == ResourceKind::Storage
                && let (Some(storage), Some(node)) = (&row.storage, &row.node)
            {
                let sort = (storage.as_str(), row.status.as_deref());
                let (_, nodes) = shared.entry(sort).or_insert_with(|| (row, Vec::new()));
                nodes.push(node);
                continue;
            }
            let guests = owner
                .zip(counts.as_ref())
                .and_then(|(owner, counts)| Some(counts.get(owner(row)?).copied().unwrap_or(0)));
            items.push(Item {
                cluster,
                thing: Thing::Resource(row, guests),
            });
        }
        items.extend(shared.into_values().map(|(row, nodes)| Item {
            cluster,
            thing: Thing::Shared(row, nodes),
        }));
    }
    items
}

/// Matching volumes, each with the guest that it belongs to.
pub(super) fn volumes<'a>(held: &'a [Held<'a>], filter: &Filter) -> Vec<Item<'a>> {
    let mut guests: HashMap<(&str, Vmid), &Resource> = HashMap::new();
    let mut known: Vec<&str> = Vec::new();
    for one in held {
        let cluster = one.part.cluster.name.as_str();
        if !known.contains(&cluster) {
            known.push(cluster);
            let rows = one.part.resources.iter();
            guests.extend(rows.filter_map(|row| Some(((cluster, row.vmid?), row))));
        }
    }
    let volumes = held.iter().flat_map(|one| {
        let cluster = one.part.cluster.name.as_str();
        one.volumes.iter().map(move |volume| (cluster, one, volume))
    });
    volumes
        .map(|(cluster, one, volume)| Item {
            cluster,
            thing: Thing::Volume {
                volume,
                place: &one.place,
                guest: volume
                    .vmid
                    .and_then(|vmid| guests.get(&(cluster, vmid)).copied()),
            },
        })
        .filter(|item| filter.matches(item))
        .collect()
}

/// Matching snapshots.
pub(super) fn snapshots<'a>(asked: &'a Snapshots<'a>, filter: &Filter) -> Vec<Item<'a>> {
    let entries = asked.found.iter().flat_map(|(part, guest, entries)| {
        entries.iter().map(move |entry| Item {
            cluster: part.cluster.name.as_str(),
            thing: Thing::Snapshot { entry, guest },
        })
    });
    entries.filter(|item| filter.matches(item)).collect()
}
