//! What works for guests in the background: high availability and replication.

use std::collections::BTreeSet;

use pve::{NodeName, Vmid};
use serde::Deserialize;
use serde_json::Value;

use super::finding;
use crate::area::ops::ask;
use crate::area::ops::code::{Code, Severity};
use crate::area::ops::estate::Estate;
use crate::area::ops::report::{Gap, Report, Subject};
use crate::words;

/// How long a replication may be overdue, in seconds.
const PATIENCE: i64 = 1_800;

/// HA services that the manager has given up, or whose node is being cut off.
pub(super) async fn high_availability(estate: &Estate, report: &mut Report) {
    let codes = &[Code::HaServiceError];
    let path = "/cluster/ha/status/current";
    let entries = match estate.cluster.pve.list::<Value>(path).await {
        Ok(entries) => entries,
        Err(error) => return report.missed(codes, Gap::of(&error, "HA")),
    };
    for entry in entries.iter().filter(|entry| entry["type"] == "service") {
        let state = entry["state"].as_str().unwrap_or_default();
        if !matches!(state, "error" | "fence") {
            continue;
        }
        let sid = entry["sid"].as_str().unwrap_or_default();
        let wanted = entry["request_state"].as_str().unwrap_or("?");
        let what = format!("HA state {state}, wanted {}", words::clip(wanted, 20));
        let vmid: Option<Vmid> = sid.split_once(':').and_then(|(_, id)| id.parse().ok());
        let guest = vmid.and_then(|vmid| estate.guests.get(&vmid));
        match guest.and_then(Subject::guest) {
            Some(subject) => report.found(finding(estate, Code::HaServiceError, subject, what)),
            None => report.missed(codes, Gap::because("its guest is not visible:", sid)),
        }
    }
}

/// Where copies of guests are meant to be.
#[derive(Default)]
pub(super) struct Replicas(BTreeSet<(Vmid, NodeName)>);

impl Replicas {
    /// Whether a copy of the guest belongs on this node.
    pub(super) fn contains(&self, guest: Vmid, node: &NodeName) -> bool {
        self.0.contains(&(guest, node.clone()))
    }
}

#[derive(Deserialize)]
struct Job {
    #[serde(default, deserialize_with = "pve::lenient::opt_text")]
    id: Option<String>,
    #[serde(default, deserialize_with = "pve::lenient::opt")]
    guest: Option<Vmid>,
    #[serde(default, deserialize_with = "pve::lenient::opt")]
    target: Option<NodeName>,
    #[serde(default, deserialize_with = "pve::lenient::flag")]
    disable: bool,
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    fail_count: Option<u64>,
    #[serde(default, deserialize_with = "pve::lenient::opt_text")]
    error: Option<String>,
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    last_sync: Option<u64>,
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    next_sync: Option<u64>,
}

/// Jobs that fail or are overdue. How a job fares only the node of its guest knows.
pub(super) async fn replication(estate: &Estate, report: &mut Report) -> Replicas {
    let codes = &[Code::ReplicationBehind];
    estate.note_hidden_guests(codes, report);
    let jobs: Vec<Job> = match estate.cluster.pve.list("/cluster/replication").await {
        Ok(jobs) => jobs,
        Err(error) => {
            report.missed(codes, Gap::of(&error, "replication jobs"));
            return Replicas::default();
        }
    };
    let sources: BTreeSet<_> = jobs
        .iter()
        .filter(|job| !job.disable)
        .filter_map(|job| estate.guests.get(&job.guest?)?.node.clone())
        .collect();
    let (up, down): (Vec<_>, Vec<_>) = sources.into_iter().partition(|node| estate.is_online(node));
    for node in down {
        report.missed(codes, Gap::offline(&node));
    }
    let answers = ask::each(up, |node| {
        let cluster = estate.cluster.clone();
        async move {
            let path = format!("/nodes/{node}/replication");
            let answer = cluster.pve.list::<Job>(path).await;
            (node, answer)
        }
    })
    .await;
    for (node, answer) in answers {
        match answer {
            Ok(jobs) => jobs.iter().for_each(|job| judge(estate, job, report)),
            Err(error) => report.missed(codes, Gap::of(&error, node.as_str())),
        }
    }
    let places = jobs
        .into_iter()
        .filter_map(|job| Some((job.guest?, job.target?)));
    Replicas(places.collect())
}

fn judge(estate: &Estate, job: &Job, report: &mut Report) {
    let guest = job.guest.and_then(|vmid| estate.guests.get(&vmid));
    let (false, Some(subject)) = (job.disable, guest.and_then(Subject::guest)) else {
        return;
    };
    let seconds = |at: Option<u64>| {
        at.and_then(|at| i64::try_from(at).ok())
            .filter(|at| *at > 0)
    };
    let (last, due) = (seconds(job.last_sync), seconds(job.next_sync));
    let overdue = due.map_or(0, |due| estate.now - due);
    let fails = job.fail_count.unwrap_or_default();
    if fails == 0 && overdue <= PATIENCE {
        return;
    }
    let id = words::clip(job.id.as_deref().unwrap_or_default(), 20);
    let target = job.target.as_ref().map_or("?", NodeName::as_str);
    let age = match last {
        Some(last) => format!(
            "last copy {} ago",
            words::duration((estate.now - last).unsigned_abs())
        ),
        None => "never copied".to_owned(),
    };
    let (severity, why) = if fails > 0 {
        let error = words::clip(
            job.error.as_deref().unwrap_or("no reason given").trim(),
            120,
        );
        let times = words::count(usize::try_from(fails).unwrap_or(usize::MAX), "time");
        (Severity::Critical, format!("failed {times}: {error}"))
    } else {
        let late = words::duration(overdue.unsigned_abs());
        (Severity::Warning, format!("overdue by {late}"))
    };
    let what = format!("job {id} to {target} {why}; {age}");
    let found = finding(estate, Code::ReplicationBehind, subject, what);
    let behind = last.map_or(u64::MAX, |last| (estate.now - last).unsigned_abs());
    report.found(found.of_severity(severity).weighing(behind));
}
