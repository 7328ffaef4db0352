//! One thing that can stand in a list, and what a filter can hold against it. Everything is borrowed: of ten thousand
//! guests a page shows thirty.

use std::borrow::Cow;

use pve::{NodeName, Resource, ResourceKind, SnapshotEntry, Volume};
use serde::{Deserialize, Serialize};

use crate::filter::{Facts, Measure, Word};

/// A thing and the name of its cluster.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) cluster: &'a str,
    pub(super) thing: Thing<'a>,
}

#[derive(Debug)]
pub(super) enum Thing<'a> {
    /// An entry of `/cluster/resources`; of a node or pool also how many guests it has.
    Resource(&'a Resource, Option<u32>),
    /// A storage that several nodes share, and those of them that the filter takes.
    Shared(&'a Resource, Vec<&'a NodeName>),
    /// A volume, and the guest that it belongs to.
    Volume {
        volume: &'a Volume,
        place: &'a Place<'a>,
        guest: Option<&'a Resource>,
    },
    /// A snapshot of a guest.
    Snapshot {
        entry: &'a SnapshotEntry,
        guest: &'a Resource,
    },
}

/// A storage, and the nodes to see it from.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) storage: &'a str,
    /// The node that is asked.
    pub(super) asked: &'a NodeName,
    /// All nodes that have it and that the filter takes.
    pub(super) nodes: Vec<&'a NodeName>,
    pub(super) shared: bool,
}

/// Where a thing stands if nobody asks for another order: unique in the list, and the same in the next call. Its short
/// names are for cursors.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key<'a> {
    #[serde(rename = "c")]
    cluster: Cow<'a, str>,
    #[serde(rename = "r")]
    rank: u8,
    #[serde(rename = "n")]
    number: u32,
    #[serde(rename = "t")]
    time: u64,
    #[serde(rename = "i")]
    id: Cow<'a, str>,
    #[serde(rename = "o")]
    node: Cow<'a, str>,
}

/// The rank of snapshots, which stand alone in their list.
const SNAPSHOTS: u8 = 6;

impl<'a> Item<'a> {
    /// Where it stands: nodes, storages and pools by name, guests by number, snapshots by guest and age.
    pub(super) fn key(&self) -> Key<'a> {
        let at = |rank, number: Option<pve::Vmid>, id: &'a str| Key {
            cluster: Cow::Borrowed(self.cluster),
            rank,
            number: number.map_or(0, pve::Vmid::get),
            time: 0,
            id: Cow::Borrowed(id),
            node: Cow::Borrowed(""),
        };
        match &self.thing {
            Thing::Resource(row, _) | Thing::Shared(row, _) => {
                let id = row.id.as_deref().unwrap_or_default();
                match row.kind {
                    ResourceKind::Node => at(0, None, id),
                    ResourceKind::Qemu | ResourceKind::Lxc => at(1, row.vmid, id),
                    ResourceKind::Storage => Key {
                        node: Cow::Borrowed(row.node.as_ref().map_or("", NodeName::as_str)),
                        ..at(2, None, row.storage.as_deref().unwrap_or(id))
                    },
                    ResourceKind::Pool => at(3, None, id),
                    _ => at(4, None, id),
                }
            }
            Thing::Volume { volume, place, .. } => Key {
                // The same template may lie on every node's own storage.
                node: Cow::Borrowed(place.node().map_or("", NodeName::as_str)),
                ..at(5, None, &volume.volid)
            },
            Thing::Snapshot { entry, guest } => Key {
                time: entry.snaptime.unwrap_or_default(),
                ..at(SNAPSHOTS, guest.vmid, &entry.name)
            },
        }
    }

    fn guest(&self) -> Option<&'a Resource> {
        match &self.thing {
            Thing::Resource(row, _) | Thing::Shared(row, _) => Some(row),
            Thing::Volume { guest, .. } => *guest,
            Thing::Snapshot { guest, .. } => Some(guest),
        }
    }
}

impl Key<'static> {
    /// Behind every snapshot of a guest.
    pub(super) fn behind_snapshots(cluster: &str, vmid: pve::Vmid) -> Self {
        Self {
            cluster: Cow::Owned(cluster.to_owned()),
            rank: SNAPSHOTS,
            number: vmid.get(),
            time: u64::MAX,
            id: Cow::Borrowed(""),
            node: Cow::Borrowed(""),
        }
    }
}

impl<'a> Place<'a> {
    /// The node that alone has it.
    pub(super) fn node(&self) -> Option<&'a NodeName> {
        (!self.shared).then_some(self.asked)
    }
}

impl Facts for Item<'_> {
    fn any(&self, field: Word, test: &dyn Fn(&str) -> bool) -> bool {
        let on_one_of = |nodes: &[&NodeName]| nodes.iter().any(|node| test(node.as_str()));
        match (&self.thing, field) {
            (Thing::Shared(_, nodes), Word::Node) => on_one_of(nodes),
            (Thing::Volume { place, .. }, Word::Node) => on_one_of(&place.nodes),
            (Thing::Volume { volume, .. }, Word::Id) => test(&volume.volid),
            (Thing::Volume { volume, .. }, Word::Name) if self.guest().is_none() => {
                test(volume.file_name())
            }
            (Thing::Volume { volume, .. }, Word::Type | Word::Content) => {
                volume.content.as_deref().is_some_and(test)
            }
            (Thing::Volume { place, .. }, Word::Storage) => test(place.storage),
            (Thing::Snapshot { entry, .. }, Word::Id) => test(&entry.name),
            (Thing::Snapshot { .. }, Word::Type) => test("snapshot"),
            _ => self.guest().is_some_and(|guest| guest.any(field, test)),
        }
    }

    fn number(&self, field: Measure) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "as exact as a size or a time is ever compared"
        )]
        let float = |number: Option<u64>| number.map(|number| number as f64);
        match (&self.thing, field) {
            (Thing::Volume { volume, .. }, Measure::Vmid) => {
                volume.vmid.map(|vmid| f64::from(vmid.get()))
            }
            (Thing::Volume { volume, .. }, Measure::Size) => float(volume.size),
            (Thing::Volume { volume, .. }, Measure::Created) => float(volume.ctime),
            (Thing::Snapshot { entry, .. }, Measure::Created) => float(entry.snaptime),
            (Thing::Snapshot { .. }, Measure::Size) => None,
            _ => self.guest().and_then(|guest| guest.number(field)),
        }
    }
}
