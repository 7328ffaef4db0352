//! The codes of findings: what a program may rely on. A code is never renamed or given another meaning.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words;

/// How bad a finding is. Ordered: a later one is worse.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Severity {
    /// Worth tidying up.
    Notice,
    /// Will hurt when something else goes wrong.
    Warning,
    /// Hurts now, or is about to.
    Critical,
}

/// What can be found.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum Code {
    HaServiceError,
    ReplicationBehind,
    StorageNearlyFull,
    CertificateExpiring,
    GuestWithoutRecentBackup,
    BackupJobCoversNobody,
    NodeMemoryOvercommitted,
    EvacuationNotPossible,
    UpdatePending,
    SnapshotOld,
    DiskOrphaned,
}

/// A storage is nearly full from here on, in percent.
pub(super) const FULL_FROM: u64 = 85;
/// And critically so from here on.
pub(super) const FULL_CRITICAL_FROM: u64 = 95;
/// Snapshots older than this are found, in days.
pub(super) const SNAPSHOT_DAYS: i64 = 30;
/// Certificates that end within this are found, in days.
pub(super) const CERTIFICATE_DAYS: i64 = 30;

impl Code {
    /// All of them, in the order in which they are shown.
    pub(super) const ALL: [Self; 11] = [
        Self::HaServiceError,
        Self::ReplicationBehind,
        Self::StorageNearlyFull,
        Self::CertificateExpiring,
        Self::GuestWithoutRecentBackup,
        Self::BackupJobCoversNobody,
        Self::NodeMemoryOvercommitted,
        Self::EvacuationNotPossible,
        Self::UpdatePending,
        Self::SnapshotOld,
        Self::DiskOrphaned,
    ];

    /// As it is written.
    pub(super) fn word(self) -> String {
        words::word(&self)
    }

    /// Why anybody should care, in a few words.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::HaServiceError => "HA has given the guest up and does nothing for it",
            Self::ReplicationBehind => "after a failover the newest data would be missing",
            Self::StorageNearlyFull => "a full storage stops every guest that writes to it",
            Self::CertificateExpiring => "clients that verify will refuse the node",
            Self::GuestWithoutRecentBackup => "what was lost could not be restored",
            Self::BackupJobCoversNobody => "somebody believes that it saves something",
            Self::NodeMemoryOvercommitted => "if all use what they may, the node kills some",
            Self::EvacuationNotPossible => "maintenance or a failure takes guests down",
            Self::UpdatePending => "fixes, security ones included, are not installed",
            Self::SnapshotOld => "it grows, slows the disk, and is no backup",
            Self::DiskOrphaned => "it takes space that nothing uses",
        }
    }

    /// When it is found, for the documentation.
    fn when(self) -> &'static str {
        match self {
            Self::HaServiceError => "an HA service is in the state `error` or `fence`",
            Self::ReplicationBehind => {
                "a replication job is overdue by more than half an hour; critical if its last run failed"
            }
            Self::StorageNearlyFull => "a storage is used by 85 % or more; critical from 95 % on",
            Self::CertificateExpiring => {
                "a certificate of a node ends within 30 days; critical once it has ended"
            }
            Self::GuestWithoutRecentBackup => {
                "no storage holds a backup of the guest from the last `days` days (7); templates are not counted"
            }
            Self::BackupJobCoversNobody => "an enabled backup job selects no guest that exists",
            Self::NodeMemoryOvercommitted => {
                "the running guests of a node may use more memory than it has"
            }
            Self::EvacuationNotPossible => {
                "the running guests of a node do not fit into the memory that the other online nodes have not promised to theirs; memory alone is looked at, and a cluster of one node is not"
            }
            Self::UpdatePending => "a node has packages with a newer version",
            Self::SnapshotOld => "a snapshot is older than 30 days",
            Self::DiskOrphaned => {
                "a volume belongs to a guest that does not exist, lies on a node where its guest is not, is not in its guest's configuration, or is detached from it"
            }
        }
    }

    /// The usual severity; a check may raise it.
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::HaServiceError => Severity::Critical,
            Self::ReplicationBehind
            | Self::StorageNearlyFull
            | Self::CertificateExpiring
            | Self::GuestWithoutRecentBackup
            | Self::BackupJobCoversNobody
            | Self::NodeMemoryOvercommitted
            | Self::EvacuationNotPossible => Severity::Warning,
            Self::UpdatePending | Self::SnapshotOld | Self::DiskOrphaned => Severity::Notice,
        }
    }

    /// What the token needs so that it can be checked, for the documentation.
    fn needs(self) -> &'static str {
        match self {
            Self::HaServiceError => "Sys.Audit on `/`",
            Self::ReplicationBehind | Self::SnapshotOld => "VM.Audit on `/vms`",
            Self::StorageNearlyFull => "Datastore.Audit on `/storage`",
            Self::CertificateExpiring => "nothing",
            Self::GuestWithoutRecentBackup => {
                "VM.Audit on `/vms`; Datastore.Allocate on `/storage`, or Datastore.AllocateSpace there and VM.Backup on `/vms`"
            }
            Self::BackupJobCoversNobody => "Sys.Audit on `/`, VM.Audit on `/vms`",
            Self::NodeMemoryOvercommitted | Self::EvacuationNotPossible => {
                "VM.Audit on `/vms`, Sys.Audit on `/nodes`"
            }
            Self::UpdatePending => "Sys.Modify on `/nodes`, which PVE asks for this read",
            Self::DiskOrphaned => {
                "VM.Audit on `/vms`; Datastore.Allocate on `/storage`, or Datastore.Audit there and VM.Config.Disk on `/vms`"
            }
        }
    }
}

/// docs/FINDINGS.md
pub fn document() -> String {
    let mut text = String::from(
        "# The findings\n\n\
         What list_proxmox_findings and get_proxmox_digest look for. Made by `oxmox generate`. Codes are stable: a program may\n\
         rely on them.\n\n\
         A finding that could not be checked, for lack of a privilege or because something did not answer, is listed as\n\
         unchecked with the reason; it never counts as fine.\n\n\
         | code | severity | found when | why it matters | needs |\n|---|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            code.word(),
            words::word(&code.severity()),
            code.when(),
            code.why(),
            code.needs()
        );
    }
    text
}
