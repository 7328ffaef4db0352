//! What only a look at each guest tells: its snapshots, and which volumes its configuration names. So many guests are
//! looked at and no more; the rest is told.

use std::collections::BTreeMap;

use pve::{GuestConfig, GuestRef, SnapshotEntry, Vmid, Volume};
use serde_json::Value;

use super::disks::orphan;
use super::{Wanted, days, finding};
use crate::area::ops::ask;
use crate::area::ops::code::{Code, SNAPSHOT_DAYS};
use crate::area::ops::estate::Estate;
use crate::area::ops::report::{Gap, Report, Subject};
use crate::area::ops::volumes::Shelf;
use crate::words;

/// How many guests are looked at one by one.
const CLOSELY: usize = 200;
const CODES: &[Code] = &[Code::SnapshotOld, Code::DiskOrphaned];

/// A guest with its own answers.
struct Seen {
    at: GuestRef,
    snapshots: Result<Vec<SnapshotEntry>, pve::Error>,
    config: Option<Result<GuestConfig, pve::Error>>,
}

/// Old snapshots and unreferenced volumes.
pub(super) async fn look_closer(
    estate: &Estate,
    shelves: &[Shelf],
    wanted: &Wanted<'_>,
    report: &mut Report,
) {
    estate.note_hidden_guests(CODES, report);
    let volumes = by_owner(shelves);
    let with_config = wanted.any(&[Code::DiskOrphaned]);
    let seen = ask::each(choose(estate, wanted, report), |at| {
        let cluster = estate.cluster.clone();
        async move {
            let snapshots = cluster.pve.snapshots(&at).await;
            let config = if with_config {
                Some(cluster.pve.guest_config(&at).await)
            } else {
                None
            };
            Seen {
                at,
                snapshots,
                config,
            }
        }
    })
    .await;
    for guest in &seen {
        old_snapshots(estate, guest, report);
        unreferenced(estate, guest, &volumes, report).await;
    }
}

/// The guests to look at: those of interest on nodes that answer, the first of them.
fn choose(estate: &Estate, wanted: &Wanted<'_>, report: &mut Report) -> Vec<GuestRef> {
    let mut guests = Vec::new();
    let mut total = 0;
    for row in estate.guests.values().filter(|row| (wanted.guest)(row)) {
        let Some(at) = pve::Guest::from_resource(row).map(|guest| guest.at) else {
            continue;
        };
        if !estate.is_online(&at.node) {
            report.missed(CODES, Gap::offline(&at.node));
            continue;
        }
        total += 1;
        if guests.len() < CLOSELY {
            guests.push(at);
        }
    }
    if total > CLOSELY {
        let left_out = format!("{CLOSELY} of {total} guests; narrow it with filter or node");
        report.missed(CODES, Gap::because("looked closely at", &left_out));
    }
    guests
}

fn old_snapshots(estate: &Estate, guest: &Seen, report: &mut Report) {
    let codes = &[Code::SnapshotOld];
    let snapshots = match &guest.snapshots {
        Ok(snapshots) => snapshots,
        Err(error) => return report.missed(codes, Gap::of(error, &guest.at.to_string())),
    };
    let old: Vec<_> = snapshots
        .iter()
        .filter_map(|snapshot| {
            let taken = i64::try_from(snapshot.snaptime?).ok()?;
            let age = days(taken, estate.now);
            (age > SNAPSHOT_DAYS).then_some((age, &snapshot.name))
        })
        .collect();
    let Some((oldest, name)) = old.iter().max_by_key(|(age, _)| *age) else {
        return;
    };
    let name = words::clip(name, 40);
    let what = match old.len() {
        1 => format!("snapshot {name} is {oldest} days old"),
        more => format!("{more} old snapshots; the oldest, {name}, is {oldest} days old"),
    };
    let row = estate.guests.get(&guest.at.vmid);
    if let Some(subject) = row.and_then(Subject::guest) {
        let found = finding(estate, Code::SnapshotOld, subject, what);
        report.found(found.weighing(oldest.unsigned_abs()));
    }
}

type ByOwner<'a> = BTreeMap<Vmid, Vec<(&'a Shelf, &'a Volume)>>;

fn by_owner(shelves: &[Shelf]) -> ByOwner<'_> {
    let mut owners = ByOwner::new();
    for shelf in shelves {
        for volume in shelf.volumes.iter().flat_map(|lies| &lies.disks) {
            if let Some(owner) = volume.vmid {
                owners.entry(owner).or_default().push((shelf, volume));
            }
        }
    }
    owners
}

/// Volumes of a guest that lie where the guest is, and that its configuration does not name or only keeps as unused. A
/// snapshot may need what the configuration no longer names, so with snapshots only the detached ones count.
async fn unreferenced(estate: &Estate, guest: &Seen, volumes: &ByOwner<'_>, report: &mut Report) {
    let config = match &guest.config {
        None => return,
        Some(Ok(config)) => config,
        Some(Err(error)) => {
            let gap = Gap::of(error, &guest.at.to_string());
            return report.missed(&[Code::DiskOrphaned], gap);
        }
    };
    let own = volumes.get(&guest.at.vmid).into_iter().flatten();
    for (shelf, volume) in own.filter(|(shelf, _)| shelf.shared || shelf.node == guest.at.node) {
        let size = words::size(volume.size.unwrap_or_default());
        let what = match key_of(config, &volume.volid) {
            Some(key) if key.starts_with("unused") => {
                format!("{size}, detached from {} ({key})", guest.at.vmid)
            }
            Some(_) => continue,
            None if !matches!(&guest.snapshots, Ok(list) if list.is_empty()) => continue,
            None if is_pending(estate, guest, &volume.volid).await => continue,
            None => format!("{size}, not in the configuration of {}", guest.at.vmid),
        };
        report.found(orphan(estate, shelf, volume, guest.at.vmid, what));
    }
}

/// The key whose value names the volume. A linked clone's volume is named with its base or without it.
fn key_of<'a>(config: &'a GuestConfig, volid: &str) -> Option<&'a str> {
    let is_it = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        text.split(',').any(|part| names(part, volid))
    };
    let found = config.values().iter().find(|(_, value)| is_it(value));
    found.map(|(key, _)| key.as_str())
}

fn names(part: &str, volid: &str) -> bool {
    let part = ["file=", "volume="]
        .iter()
        .find_map(|prefix| part.strip_prefix(prefix))
        .unwrap_or(part);
    let halves = |id: &str| {
        let (storage, name) = id.split_once(':')?;
        let file = name.rsplit('/').next().unwrap_or(name);
        Some((storage.to_owned(), file.to_owned()))
    };
    part == volid || (halves(part).is_some() && halves(part) == halves(volid))
}

/// Whether a change that waits for a restart names the volume, or it is used until then. What cannot be read counts as
/// a yes: a disk in use must not be called an orphan.
async fn is_pending(estate: &Estate, guest: &Seen, volid: &str) -> bool {
    let path = guest.at.path("pending");
    let Ok(keys) = estate.cluster.pve.list::<Value>(path).await else {
        return true;
    };
    keys.iter().any(|key| {
        ["value", "pending"].iter().any(|field| {
            let text = key[*field].as_str().unwrap_or_default();
            text.split(',').any(|part| names(part, volid))
        })
    })
}
