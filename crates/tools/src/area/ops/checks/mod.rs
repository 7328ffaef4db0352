//! The checks, a file per subject. Each looks at an estate and writes into the report what it found and what it could not
//! look at.

mod backups;
mod capacity;
mod disks;
mod guests;
mod hosts;
mod services;

use std::borrow::Cow;

use pve::Resource;

use super::code::{Code, Severity};
use super::estate::Estate;
use super::report::{Finding, Report, Subject};
use super::volumes;

/// What is looked for.
pub(super) struct Wanted<'a> {
    /// A backup must be younger, in days.
    pub(super) days: u32,
    /// Whether guests are looked at one by one.
    pub(super) closely: bool,
    /// Whether a code is of interest; reads that serve no such code are not made.
    pub(super) code: &'a (dyn Fn(Code) -> bool + Sync),
    /// Whether a guest is of interest.
    pub(super) guest: &'a (dyn Fn(&Resource) -> bool + Sync),
}

impl Wanted<'_> {
    fn any(&self, codes: &[Code]) -> bool {
        codes.iter().any(|code| (self.code)(*code))
    }
}

/// Makes every check that serves a wanted code.
pub(super) async fn run(estate: &Estate, wanted: &Wanted<'_>, report: &mut Report) {
    capacity::check(estate, report);
    if wanted.any(&[Code::HaServiceError]) {
        services::high_availability(estate, report).await;
    }
    let replicas = if wanted.any(&[Code::ReplicationBehind, Code::DiskOrphaned]) {
        services::replication(estate, report).await
    } else {
        services::Replicas::default()
    };
    if wanted.any(&[Code::UpdatePending]) {
        hosts::updates(estate, report).await;
    }
    if wanted.any(&[Code::CertificateExpiring]) {
        hosts::certificates(estate, report).await;
    }
    if wanted.any(&[Code::BackupJobCoversNobody]) {
        backups::idle_jobs(estate, report).await;
    }
    let shelves = if wanted.any(&[Code::GuestWithoutRecentBackup, Code::DiskOrphaned]) {
        volumes::read(estate, wanted.closely).await
    } else {
        Vec::new()
    };
    if wanted.any(&[Code::GuestWithoutRecentBackup]) {
        backups::recent(estate, &shelves, wanted, report);
    }
    disks::orphaned(estate, &shelves, &replicas, report);
    if wanted.closely && wanted.any(&[Code::DiskOrphaned, Code::SnapshotOld]) {
        guests::look_closer(estate, &shelves, wanted, report).await;
    }
}

/// A finding of the usual severity.
fn finding(
    estate: &Estate,
    code: Code,
    subject: Subject,
    what: impl Into<Cow<'static, str>>,
) -> Finding {
    Finding {
        code,
        severity: code.severity(),
        cluster: estate.name.clone(),
        subject,
        what: what.into(),
        weight: 0,
    }
}

impl Finding {
    fn of_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    fn weighing(mut self, weight: u64) -> Self {
        self.weight = weight;
        self
    }
}

/// Whole days between two moments.
fn days(from: i64, to: i64) -> i64 {
    (to - from) / 86_400
}
