//! Guests that could not be restored, and jobs that save nobody.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use pve::{NodeName, Resource, Vmid};
use serde::Deserialize;
use serde_json::Value;

use super::{Wanted, days, finding};
use crate::area::ops::ask;
use crate::area::ops::code::Code;
use crate::area::ops::estate::Estate;
use crate::area::ops::report::{Gap, Report, Subject};
use crate::area::ops::volumes::Shelf;
use crate::words;

const CODE: &[Code] = &[Code::GuestWithoutRecentBackup];

/// Guests whose newest backup is too old, or who have none. A guest counts only where every storage that could hold a
/// backup of it was seen.
pub(super) fn recent(estate: &Estate, shelves: &[Shelf], wanted: &Wanted<'_>, report: &mut Report) {
    estate.note_hidden_guests(CODE, report);
    if !sees_storages(estate, report) {
        return;
    }
    let newest = newest(shelves);
    let oldest_allowed = estate.now - i64::from(wanted.days) * 86_400;
    let mut by_node: BTreeMap<&NodeName, Vec<&Shelf>> = BTreeMap::new();
    for guest in estate.guests.values() {
        let (Some(vmid), Some(node)) = (guest.vmid, guest.node.as_ref()) else {
            continue;
        };
        let last = newest.get(&vmid).copied();
        if guest.template || last.is_some_and(|at| at >= oldest_allowed) || !(wanted.guest)(guest) {
            continue;
        }
        let reachable = by_node
            .entry(node)
            .or_insert_with(|| could_hold(shelves, node));
        if note_blind_spots(estate, reachable, vmid, report) {
            continue;
        }
        if let Some(subject) = Subject::guest(guest) {
            report.found(late(estate, guest, subject, last));
        }
    }
}

fn late(
    estate: &Estate,
    guest: &Resource,
    subject: Subject,
    last: Option<i64>,
) -> crate::area::ops::report::Finding {
    let what = match last {
        Some(at) => Cow::from(format!("last backup {} days ago", days(at, estate.now))),
        None => Cow::from("has no backup"),
    };
    // Those without any first, then the running ones, then by age.
    let age = last.map_or(100_000, |at| days(at, estate.now).unsigned_abs());
    let running = u64::from(crate::area::ops::estate::is_running(guest)) * 50_000;
    finding(estate, Code::GuestWithoutRecentBackup, subject, what).weighing(age + running)
}

/// PVE leaves out storages that the token may not see; a backup could lie there.
fn sees_storages(estate: &Estate, report: &mut Report) -> bool {
    let sees = ["Datastore.Audit", "Datastore.AllocateSpace"]
        .iter()
        .any(|privilege| estate.held.has("/storage", privilege));
    if !sees {
        report.missed(CODE, Gap::lacks("Datastore.Audit", "/storage"));
    }
    sees || !estate.storages.is_empty()
}

/// When each guest was last saved.
fn newest(shelves: &[Shelf]) -> HashMap<Vmid, i64> {
    let mut newest = HashMap::new();
    for lies in shelves
        .iter()
        .filter_map(|shelf| shelf.volumes.as_ref().ok())
    {
        for (vmid, made) in &lies.saved {
            let last = newest.entry(*vmid).or_insert(*made);
            *last = (*made).max(*last);
        }
    }
    newest
}

/// The shelves on which a guest of this node can be saved.
fn could_hold<'a>(shelves: &'a [Shelf], node: &NodeName) -> Vec<&'a Shelf> {
    shelves
        .iter()
        .filter(|shelf| shelf.backups && (shelf.shared || shelf.node == *node))
        .collect()
}

/// Notes what hides a backup of the guest, if anything does.
fn note_blind_spots(estate: &Estate, shelves: &[&Shelf], vmid: Vmid, report: &mut Report) -> bool {
    let mut blind = false;
    for shelf in shelves {
        let gap = match &shelf.volumes {
            Err(gap) => gap.clone(),
            Ok(_) if !shelf.shows_backups_of(vmid, &estate.held) => Gap::lacks(
                "Datastore.Allocate (or Datastore.AllocateSpace with VM.Backup on /vms)",
                &shelf.path(),
            ),
            Ok(_) => continue,
        };
        blind = true;
        report.missed(CODE, gap);
    }
    blind
}

/// Enabled jobs that select no guest that exists.
pub(super) async fn idle_jobs(estate: &Estate, report: &mut Report) {
    let codes = &[Code::BackupJobCoversNobody];
    let jobs = match estate.cluster.pve.list::<Value>("/cluster/backup").await {
        Ok(jobs) => jobs,
        Err(error) => return report.missed(codes, Gap::of(&error, "backup jobs")),
    };
    // PVE leaves out of a job's tree what the token may not see.
    estate.note_hidden_guests(codes, report);
    if !jobs.is_empty() && !estate.held.has("/vms", "VM.Audit") {
        return;
    }
    let enabled: Vec<_> = jobs
        .iter()
        .filter(|job| pve::lenient::as_bool(&job["enabled"]).unwrap_or(true))
        .filter_map(|job| job["id"].as_str().map(str::to_owned))
        .collect();
    let trees = ask::each(enabled, |id| {
        let cluster = estate.cluster.clone();
        async move {
            let path = format!(
                "/cluster/backup/{}/included_volumes",
                pve::encode_segment(&id)
            );
            let tree = cluster.pve.get::<Included>(path).await;
            (id, tree)
        }
    })
    .await;
    for (id, tree) in trees {
        match tree {
            Ok(tree) if covers_nobody(&tree, estate) => {
                let shown = words::clip(&id, 40);
                let what = format!("{shown} is enabled and selects no guest that exists");
                let subject = Subject::BackupJob(id);
                report.found(finding(estate, Code::BackupJobCoversNobody, subject, what));
            }
            Ok(_) => {}
            Err(error) => report.missed(codes, Gap::of(&error, &format!("job {id}"))),
        }
    }
}

/// The guests that a job selects. The volumes below them are not kept: there are tens of thousands.
#[derive(Deserialize)]
struct Included {
    #[serde(default)]
    children: Vec<Selected>,
}

#[derive(Deserialize)]
struct Selected {
    #[serde(default, deserialize_with = "pve::lenient::opt_parsed")]
    id: Option<Vmid>,
    #[serde(rename = "type", default, deserialize_with = "pve::lenient::opt_text")]
    kind: Option<String>,
}

/// PVE lists guests that are gone too, as `unknown`.
fn covers_nobody(tree: &Included, estate: &Estate) -> bool {
    let is_there = |guest: &Selected| {
        let exists = |vmid| estate.guests.contains_key(&vmid);
        guest.kind.as_deref() != Some("unknown") && guest.id.is_some_and(exists)
    };
    !tree.children.iter().any(is_there)
}
