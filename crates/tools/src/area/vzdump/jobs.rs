//! Jobs that back guests up by a schedule.

use pve::Method;

use crate::plain::{Arg, Entry, Need, Plain, UNSET, an, change, choice, flag, list, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &VOLUMES, &CREATE, &UPDATE, &DELETE];

const JOB: Arg = text("id", "The job's id.").required();
const THE_JOB: Entry = an("backup job", &["id"]).listed("/cluster/backup", "id");
const AUDIT: Need = Need::On("/", "Sys.Audit");
/// PVE wants more for a job's storage than for a backup to it: a job may prune.
const MODIFY: Need = Need::All(&[
    AUDIT,
    Need::On("/", "Sys.Modify"),
    Need::If(
        "storage",
        &Need::On("/storage/{storage}", "Datastore.Allocate"),
    ),
]);

const SCHEDULE: Arg = text("schedule", "When: 02:30, sun 03:00, mon..fri 22:00.");
const ALL: Arg = flag("all_guests", "All guests instead of vmid.").sent_as("all");
const GUESTS: Arg = list("vmid", "Guests by id, separated by commas.");
const ONLY_ON: Arg = text("node", "Only on this node.");
const MODE: Arg = choice(
    "mode",
    &["snapshot", "suspend", "stop"],
    "suspend and stop interrupt the guests.",
);
const COMPRESS: Arg = choice("compress", &["0", "gzip", "lzo", "zstd"], "How; 0 for not.");
const ENABLED: Arg = flag("enabled", "Whether it runs.");

const LIST: Plain = read(
    Toolset::Backup,
    "list_backup_jobs",
    "List backup jobs",
    "/cluster/backup",
)
.says(
    "Lists the jobs that back guests up by a schedule: when, which guests, where to, what is kept, and when they run next.\n\nUse list_proxmox_findings for guests that no job covers, get_backup_job_included_volumes for the disks that one saves. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&[
    "id",
    "enabled",
    "schedule",
    "next-run|time",
    "storage",
    "vmid",
    "all",
    "pool",
    "exclude",
    "node",
    "mode",
    "prune-backups",
    "comment",
])
.examples(&[Example {
    ask: "Which backups run at night?",
    args: "{}",
}]);

const GET: Plain = read(
    Toolset::Backup,
    "get_backup_job",
    "Show a backup job",
    "/cluster/backup/{id}",
)
.says(
    "Shows all settings of one backup job.\n\nlist_backup_jobs has the ids; get_backup_job_included_volumes tells which disks it saves, get_vzdump_defaults what holds where it says nothing. Needs Sys.Audit on /.",
)
.takes(&[JOB])
.needs(AUDIT)
.item(&["enabled", "schedule", "storage", "vmid", "all", "pool", "mode"])
.examples(&[Example {
    ask: "How is the weekly backup set up?",
    args: r#"{"id": "backup-weekly"}"#,
}]);

const VOLUMES: Plain = read(
    Toolset::Backup,
    "get_backup_job_included_volumes",
    "Show what a backup job saves",
    "/cluster/backup/{id}/included_volumes",
)
.says(
    "Lists the guests of a backup job with their disks, and for each disk whether it is saved and why.\n\nUse it to find disks that are left out; list_backup_jobs has the ids. Guests that the token may not see are left out. Needs Sys.Audit on /, VM.Audit on the guests.",
)
.takes(&[JOB])
.needs(AUDIT)
.within("children", &["id", "type", "name", "children"])
.examples(&[Example {
    ask: "Which disks does the weekly backup save?",
    args: r#"{"id": "backup-weekly"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Backup, Risk::Grant),
    "create_backup_job",
    "Create a backup job",
    Method::Post,
    "/cluster/backup",
)
.says(
    "Creates a job that backs guests up by a schedule: those in vmid, or all of them.\n\nFor one backup now use backup_proxmox_vm. Without prune_backups the storage's own rule decides what is kept. Mode suspend and stop interrupt the guests at each run. With prune_backups each run deletes older backups, which a person must approve. Needs Sys.Modify and Sys.Audit on /, Datastore.Allocate on the storage. Undo: delete_backup_job with the id that list_backup_jobs then shows.",
)
.takes(&[
    text("storage", "Where to.").required(),
    SCHEDULE.required(),
    ALL,
    GUESTS,
    ONLY_ON,
    MODE,
    COMPRESS,
    choice("mailnotification", &["always", "failure"], "When to mail."),
    text("mailto", "Whom to mail, separated by commas."),
    text("prune_backups", "What to keep: keep-last=3,keep-weekly=4.").sent_as("prune-backups"),
    text("notes_template", "Notes of each backup: {{guestname}}.").sent_as("notes-template"),
    ENABLED,
    text("comment", "What it is for."),
])
.needs(MODIFY)
.adds(THE_JOB.not_undone(
    "PVE names the job: list_backup_jobs shows its id, delete_backup_job takes it",
))
.examples(&[Example {
    ask: "Back up the mail server and the proxy to the NAS every night",
    args: r#"{"storage": "nas", "schedule": "02:30", "vmid": "102,201", "mode": "snapshot", "compress": "zstd", "prune_backups": "keep-last=7", "comment": "mail and proxy"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Backup, Risk::Grant),
    "update_backup_job",
    "Change a backup job",
    Method::Put,
    "/cluster/backup/{id}",
)
.says(
    "Changes a backup job: when it runs, which guests it saves, where to, or whether it runs at all (enabled false).\n\nvmid, all_guests and a pool replace each other. What is left out stays; delete clears settings. Existing backups stay as they are. A person must approve other guests, another schedule or storage, and enabled: guests can lose their backups by it. get_backup_job shows it. Needs Sys.Modify and Sys.Audit on /, Datastore.Allocate on a new storage. Undo: the same call with the old values.",
)
.takes(&[
    JOB,
    text("storage", "Where to."),
    SCHEDULE,
    ALL,
    GUESTS,
    ONLY_ON,
    MODE,
    COMPRESS,
    ENABLED,
    UNSET,
])
.needs(MODIFY)
.edits(THE_JOB.read_at("/cluster/backup/{id}"))
.examples(&[
    Example {
        ask: "Run the weekly backup on Saturday night instead",
        args: r#"{"id": "backup-weekly", "schedule": "sat 23:00"}"#,
    },
    Example {
        ask: "Pause the nightly backup",
        args: r#"{"id": "backup-prod", "enabled": false}"#,
    },
]);

const DELETE: Plain = change(
    (Toolset::Backup, Risk::Destroy),
    "delete_backup_job",
    "Delete a backup job",
    Method::Delete,
    "/cluster/backup/{id}",
)
.says(
    "Deletes a backup job: its guests are not backed up any more, unless another job does. Existing backups stay.\n\nTo pause it use update_backup_job with enabled false; list_backup_jobs has the ids. It asks for a confirmation. Needs Sys.Modify and Sys.Audit on /. Undo: create_backup_job with the settings that get_backup_job showed; it gets another id.",
)
.takes(&[JOB])
.needs(Need::All(&[AUDIT, Need::On("/", "Sys.Modify")]))
.removes(THE_JOB.not_undone(
    "a new job gets another id; create_backup_job with the settings shown makes one like it",
))
.examples(&[Example {
    ask: "Drop the weekly backup job",
    args: r#"{"id": "backup-weekly"}"#,
}]);
