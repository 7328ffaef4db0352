//! Replication: jobs that copy a guest's disks to another node.

use pve::Method;

use crate::plain::{Arg, Entry, Need, Plain, an, change, choice, flag, number, read, text};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&LIST, &GET, &CREATE, &DELETE];

const JOBS: &str = "/cluster/replication";
const JOB: Arg = text("id", "Guest and number, as 103-0.").required();
const THE_JOB: Entry = an("replication job", &["id"]).listed(JOBS, "id");
const AUDIT: Need = Need::On("/vms/{id|guest}", "VM.Audit");
const REPLICATE: Need = Need::All(&[
    AUDIT,
    Need::First(&[
        Need::On("/vms/{id|guest}", "VM.Replicate"),
        // Before version 9.
        Need::On("/storage", "Datastore.Allocate"),
    ]),
]);

const LIST: Plain = read(
    Toolset::Cluster,
    "list_replication_jobs",
    "List replication jobs",
    JOBS,
)
.says(
    "Lists the jobs that copy guests' ZFS disks to another node at intervals.\n\nWhether the last runs went well is told by list_proxmox_findings. Jobs of guests that the token may not see are left out. Needs VM.Audit on /vms/VMID.",
)
.needs(Need::On("/vms", "VM.Audit"))
.rows(&["id", "guest", "source", "target", "schedule", "rate", "disable", "comment"])
.examples(&[Example {
    ask: "Which guests are replicated, and where to?",
    args: "{}",
}]);

const GET: Plain = read(
    Toolset::Cluster,
    "get_replication_job",
    "Show a replication job",
    "/cluster/replication/{id}",
)
.says(
    "Shows one replication job: the guest, the node that its disks are copied to, and when.\n\nlist_replication_jobs has the ids; whether it runs well is told by list_proxmox_findings. Needs VM.Audit on /vms/VMID.",
)
.takes(&[JOB])
.needs(AUDIT)
.item(&["id", "guest", "source", "target", "schedule", "rate", "disable", "comment"])
.examples(&[Example {
    ask: "Where is VM 103 replicated to?",
    args: r#"{"id": "103-0"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Cluster, Risk::Change),
    "create_replication_job",
    "Create a replication job",
    Method::Post,
    JOBS,
)
.says(
    "Creates a job that copies a guest's ZFS disks to another node at intervals, so that it can move or be restarted there quickly.\n\nIt is no backup: use backup_proxmox_vm for that. The target needs a ZFS storage of the same name; the first run copies everything. Needs VM.Replicate and VM.Audit on /vms/VMID (PVE 8: Datastore.Allocate on /storage). Undo: delete_replication_job.",
)
.takes(&[
    JOB,
    text("target", "The node to copy to.").required(),
    choice("type", &["local"], "There is only local.").otherwise("\"local\""),
    text("schedule", "Calendar event; every 15 minutes.").otherwise("\"*/15\""),
    text("comment", "What it is for."),
    number("rate", "MB/s at most.").at_least(1),
    flag("disable", "Do not run it yet."),
])
.needs(REPLICATE)
.creates(THE_JOB.undone_by("delete_replication_job"))
.examples(&[Example {
    ask: "Copy the disk of container 205 to pve2 every hour",
    args: r#"{"id": "205-0", "target": "pve2", "schedule": "hourly"}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Cluster, Risk::Destroy),
    "delete_replication_job",
    "Delete a replication job",
    Method::Delete,
    "/cluster/replication/{id}",
)
.says(
    "Deletes a replication job and the copies that it made on the other node; the guest and its disks stay.\n\nPVE only marks the job, and its next run, within a minute or so, removes both; list_replication_jobs shows when it is gone. keep leaves the copies there, force removes the entry alone. It asks for a confirmation. Needs VM.Replicate and VM.Audit on /vms/VMID. Undo: create_replication_job, which copies everything again.",
)
.takes(&[
    JOB,
    flag("force", "Remove only the entry, at once."),
    flag("keep", "Leave the copies at the target."),
])
.needs(REPLICATE)
.does(
    "Delete replication job {id}",
    THE_JOB.not_undone("create_replication_job makes it again, and copies everything again"),
)
.examples(&[Example {
    ask: "Stop replicating VM 103",
    args: r#"{"id": "103-0"}"#,
}]);
