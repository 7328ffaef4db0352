//! Backup jobs, single backups, and the deletion of older ones.

use pve::Method::{Delete, Post, Put};

use crate::risk::property::{Part, flag, parts};
use crate::risk::row::{
    Finding, Properties, Row, Rule, UNSETS, by, found, is, off, on, properties, row, safe,
};
use crate::spec::Risk::{Change, Destroy, Disrupt, Grant};

/// Parameters that mean the same for a job, its change and a single backup.
const BACKUP: &[Rule] = &[
    by(&["mode"], mode),
    by(&["prune-backups"], retention),
    is(
        &["exclude-path"],
        Destroy,
        "leaves files out of backups that replace complete ones",
    ),
    is(&["maxfiles"], Destroy, "older backups are deleted"),
    on(&["remove"], Destroy, "older backups are deleted"),
    // Not a disruption, which counts as a change if the named guests are stopped: backups of other guests end.
    on(
        &["stop"],
        Destroy,
        "aborts the backups that run on the node",
    ),
    is(
        &["dumpdir", "tmpdir"],
        Grant,
        "writes guests' data to a directory of the node",
    ),
    is(&["script"], Grant, "runs a script as root on the node"),
    is(
        &["mailto"],
        Grant,
        "sends logs to an address that the caller names",
    ),
    safe(&[
        "compress",
        "ionice",
        "notes-template",
        "pbs-change-detection-mode",
        "pigz",
        "quiet",
        "zstd",
    ]),
];

/// Parameters that take nothing away from a backup that is new.
const NEW: &[Rule] = &[safe(&[
    "all",
    "bwlimit",
    "exclude",
    "fleecing",
    "lockwait",
    "mailnotification",
    "notification-mode",
    "notification-policy",
    "notification-target",
    "performance",
    "pool",
    "protected",
    "stdexcludes",
    "stopwait",
    "storage",
    "vmid",
])];

const NEW_JOB: &[Rule] = &[safe(&[
    "comment",
    "dow",
    "enabled",
    "id",
    "node",
    "repeat-missed",
    "schedule",
    "starttime",
])];

const SINGLE: &[Rule] = &[
    is(&["stdout"], Grant, "returns guests' data to the caller"),
    safe(&["job-id"]),
];

/// Parameters by which a job can protect guests less than before.
const CHANGED_JOB: &[Rule] = &[
    is(
        &["all", "exclude", "node", "pool", "vmid"],
        Destroy,
        "guests may no longer be backed up: changes which ones the job selects",
    ),
    is(
        &["storage"],
        Destroy,
        "moves the backups of the job to another storage",
    ),
    is(
        &["dow", "schedule", "starttime"],
        Destroy,
        "guests may be backed up less often",
    ),
    by(&["enabled"], enabled),
    on(&["stdexcludes"], Destroy, "leaves files out of the backups"),
    off(
        &["protected"],
        Destroy,
        "new backups of the job are no longer protected from deletion",
    ),
    off(
        &["repeat-missed"],
        Destroy,
        "backups that were missed are no longer made up for",
    ),
    by(&["bwlimit"], bandwidth),
    is(&["lockwait", "stopwait"], Destroy, HINDERS),
    properties(&["fleecing"], &FLEECING),
    properties(&["performance"], &PERFORMANCE),
    is(
        &[
            "mailnotification",
            "notification-mode",
            "notification-policy",
            "notification-target",
        ],
        Disrupt,
        "people may no longer be notified of failed backups",
    ),
    safe(&["comment"]),
];

const HINDERS: &str = "can keep the job from completing its backups";

const FLEECING: Properties = Properties {
    default: Some("enabled"),
    keys: &[is(&["storage"], Destroy, HINDERS), safe(&["enabled"])],
};

const PERFORMANCE: Properties = Properties {
    default: None,
    keys: &[
        is(&["pbs-entries-max"], Destroy, HINDERS),
        safe(&["max-workers"]),
    ],
};

/// A mode of backups.
fn mode(mode: &str) -> Option<Finding> {
    match mode {
        "snapshot" => None,
        _ => found(Disrupt, "stops or pauses each guest while it is backed up"),
    }
}

/// Retention, as `prune-backups` has it: harmless only if all backups are kept.
pub(super) fn retention(text: &str) -> Option<Finding> {
    let keeps = |part| matches!(part, Part::Pair("keep-all", value) if flag(value) == Some(true));
    let mut parts = parts(text).peekable();
    if parts.peek().is_some() && parts.all(keeps) {
        None
    } else {
        found(Destroy, "older backups are deleted")
    }
}

/// The switch of a job. The request does not tell what the job does when it runs.
fn enabled(text: &str) -> Option<Finding> {
    if flag(text) == Some(true) {
        found(
            Destroy,
            "the job runs by its schedule, with the retention that it has",
        )
    } else {
        found(Destroy, "the guests of the job are no longer backed up")
    }
}

/// A limit in KiB/s; 0 is none.
fn bandwidth(text: &str) -> Option<Finding> {
    if text == "0" {
        None
    } else {
        found(Destroy, HINDERS)
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &["/cluster/backup"], (Change, "creates a backup job"), &[BACKUP, NEW, NEW_JOB]).later(),
    row(Put, &["/cluster/backup/{id}"], (Change, "changes a backup job"), &[CHANGED_JOB, BACKUP, &[UNSETS]]).later(),
    row(Delete, &["/cluster/backup/{id}"], (Destroy, "deletes a backup job: its guests are no longer backed up"), &[]).later(),
    row(Post, &["/nodes/{node}/vzdump"], (Change, "backs guests up"), &[BACKUP, NEW, SINGLE]),
    row(Delete, &["/nodes/{node}/storage/{storage}/prunebackups"], (Destroy, "deletes older backups"), &[
        &[safe(&["prune-backups", "type", "vmid"])],
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_snapshot_mode_leaves_guests_alone() {
        assert_eq!(mode("snapshot"), None);
        for interrupts in ["stop", "suspend", "", "SNAPSHOT", "x"] {
            assert_eq!(
                mode(interrupts).map(|it| it.risk),
                Some(Disrupt),
                "{interrupts}"
            );
        }
    }

    #[test]
    fn retention_is_harmless_only_if_all_is_kept() {
        for keeps in ["keep-all=1", "keep-all=TRUE", "keep-all=1,keep-all=on"] {
            assert_eq!(retention(keeps), None, "{keeps}");
        }
        for prunes in [
            "",
            "keep-all=0",
            "keep-all",
            "1",
            "keep-last=1",
            "keep-all=1,keep-last=1",
            "keep-all=1,keep-all=0",
            "keep-all=1,x",
        ] {
            assert_eq!(
                retention(prunes).map(|it| it.risk),
                Some(Destroy),
                "{prunes}"
            );
        }
    }

    #[test]
    fn switching_a_job_on_or_off_is_destroy_for_different_reasons() {
        let (on, off) = (enabled("1").unwrap(), enabled("0").unwrap());
        assert_eq!((on.risk, off.risk), (Destroy, Destroy));
        assert_ne!(on.why, off.why);
        assert_eq!(enabled(""), Some(off));
    }

    #[test]
    fn bandwidth_is_harmless_only_without_a_limit() {
        assert_eq!(bandwidth("0"), None);
        for limit in ["1", "100000", "", "00"] {
            assert_eq!(bandwidth(limit).map(|it| it.risk), Some(Destroy), "{limit}");
        }
    }
}
