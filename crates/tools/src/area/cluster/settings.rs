//! Settings of the whole cluster: options, device mappings, jobs, metric servers.

use pve::Method;

use super::AUDIT;
use crate::plain::{Arg, Need, Plain, UNSET, an, change, choice, read, text, whole};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &GET_OPTIONS,
    &UPDATE_OPTIONS,
    &PCI,
    &USB,
    &DIRECTORIES,
    &JOBS,
    &REALM_JOBS,
    &METRIC_SERVERS,
    &METRIC_SERVER,
];

const GET_OPTIONS: Plain = read(
    Toolset::Cluster,
    "get_cluster_options",
    "Show the cluster's options",
    "/cluster/options",
)
.says(
    "Shows the options of the whole cluster that differ from PVE's defaults: keyboard, console, migration network, tag rules, MAC prefix and more.\n\nupdate_cluster_options changes the common ones. Without Sys.Audit on / only console and tags are shown. The cluster's nodes are in get_cluster_config_nodes.",
)
.needs(AUDIT)
.item(&["keyboard", "language", "console", "http_proxy", "email_from", "migration", "mac_prefix"])
.filtered()
.examples(&[Example {
    ask: "Which options does the cluster have?",
    args: "{}",
}]);

const UPDATE_OPTIONS: Plain = change(
    (Toolset::Cluster, Risk::Grant),
    "update_cluster_options",
    "Change the cluster's options",
    Method::Put,
    "/cluster/options",
)
.says(
    "Changes options of the whole cluster, or with delete sets them back to PVE's default.\n\nget_cluster_options shows them; those not listed here (migration, bwlimit, tag-style …) go by write_proxmox_api on /cluster/options. A person must approve http_proxy and whatever weakens access or encryption. They hold at once; running guests keep their keyboard until they are started anew. Needs Sys.Modify and Sys.Audit on /. Undo: the same call with the old values.",
)
.takes(&[
    text("keyboard", "Default layout of consoles, as en-us."),
    text("language", "Default language of the web interface."),
    choice("console", &["applet", "vv", "html5", "xtermjs"], "Default console viewer."),
    text("http_proxy", "For downloads, as http://proxy:3128.").address(),
    text("email_from", "Sender of the cluster's mails."),
    whole("max_workers", "Tasks at once per node in bulk actions.").within(1, 64),
    text("description", "Notes on the cluster.").not_kept(),
    UNSET,
])
.needs(Need::All(&[AUDIT, Need::On("/", "Sys.Modify")]))
.edits(an("the cluster's options", &[]))
.examples(&[Example {
    ask: "Consoles have a German keyboard from now on",
    args: r#"{"keyboard": "de"}"#,
}]);

const CHECKED: &[&str] = &["id", "description", "map"];

const PCI: Plain = read(
    Toolset::Cluster,
    "list_pci_mappings",
    "List PCI mappings",
    "/cluster/mapping/pci",
)
.says(
    "Lists the names under which PCI devices of the nodes can be given to VMs, with the device behind each name on each node.\n\nA VM that uses a mapping can start on every node that has one. USB devices: list_usb_mappings. Needs Mapping.Audit on /mapping/pci/ID.",
)
.needs(Need::On("/mapping/pci", "Mapping.Audit"))
.rows(CHECKED)
.examples(&[Example {
    ask: "Which PCI devices are mapped?",
    args: "{}",
}]);

const USB: Plain = read(
    Toolset::Cluster,
    "list_usb_mappings",
    "List USB mappings",
    "/cluster/mapping/usb",
)
.says(
    "Lists the names under which USB devices of the nodes can be given to VMs, with the device behind each name on each node.\n\nA VM that uses a mapping can start on every node that has one. PCI devices: list_pci_mappings. Needs Mapping.Audit on /mapping/usb/ID.",
)
.needs(Need::On("/mapping/usb", "Mapping.Audit"))
.rows(CHECKED)
.examples(&[Example {
    ask: "Which USB devices are mapped?",
    args: "{}",
}]);

const DIRECTORIES: Plain = read(
    Toolset::Cluster,
    "list_dir_mappings",
    "List directory mappings",
    "/cluster/mapping/dir",
)
.says(
    "Lists the names under which directories of the nodes can be shared with VMs by virtiofs, with the path behind each name on each node.\n\nDevices are in list_pci_mappings and list_usb_mappings, storages in list_proxmox_resources. Needs Mapping.Audit on /mapping/dir/ID.",
)
.needs(Need::On("/mapping/dir", "Mapping.Audit"))
.rows(CHECKED)
.examples(&[Example {
    ask: "Which directories can be shared with VMs?",
    args: "{}",
}]);

const JOBS: Plain = read(
    Toolset::Cluster,
    "list_scheduled_jobs",
    "List kinds of scheduled jobs",
    "/cluster/jobs",
)
.says(
    "Lists what PVE keeps under /cluster/jobs: realm-sync, and a calculator of schedules; it names no job.\n\nThe jobs themselves are elsewhere: list_realm_sync_jobs, list_replication_jobs, and those that back up guests. Any login may see it.",
)
.rows(&["subdir"])
.examples(&[Example {
    ask: "Which kinds of jobs are there?",
    args: "{}",
}]);

const REALM_JOBS: Plain = read(
    Toolset::Cluster,
    "list_realm_sync_jobs",
    "List jobs that sync realms",
    "/cluster/jobs/realm-sync",
)
.says(
    "Lists the jobs that copy users and groups from a directory (LDAP, AD) into PVE, with their schedule and last run.\n\nJobs that copy guests' disks are in list_replication_jobs. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["id", "realm", "schedule", "enabled", "last-run|time", "next-run|time", "scope", "comment"])
.examples(&[Example {
    ask: "When are users synced from the directory?",
    args: "{}",
}]);

const SERVER: Arg = text("id", "The metric server's name.").required();

const METRIC_SERVERS: Plain = read(
    Toolset::Cluster,
    "list_metric_servers",
    "List metric servers",
    "/cluster/metrics/server",
)
.says(
    "Lists the external servers (InfluxDB, Graphite, OpenTelemetry) that all nodes send their figures to.\n\nget_metric_server shows one in full. To read figures of nodes and guests use get_proxmox_metrics instead. Needs Sys.Audit on /.",
)
.needs(AUDIT)
.rows(&["id", "type", "server", "port", "disable"])
.examples(&[Example {
    ask: "Where do the nodes send their metrics?",
    args: "{}",
}]);

const METRIC_SERVER: Plain = read(
    Toolset::Cluster,
    "get_metric_server",
    "Show a metric server",
    "/cluster/metrics/server/{id}",
)
.says(
    "Shows how figures are sent to one external metric server: address, protocol, bucket or path.\n\nlist_metric_servers has the names. Its token is never shown. Needs Sys.Audit on /.",
)
.takes(&[SERVER])
.needs(AUDIT)
.item(&["id", "type", "server", "port", "disable"])
.examples(&[Example {
    ask: "How are metrics sent to graphite?",
    args: r#"{"id": "graphite"}"#,
}]);
