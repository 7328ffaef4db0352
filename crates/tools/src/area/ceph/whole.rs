//! Ceph as a whole: health, versions, flags.

use pve::Method;

use super::AUDIT;
use crate::plain::{Arg, Need, Plain, an, change, choice, flag, read};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(super) const TOOLS: &[&dyn Tool] = &[&STATUS, &METADATA, &FLAGS, &SET_FLAG];

const FLAG: Arg = choice(
    "flag",
    &[
        "nobackfill",
        "nodeep-scrub",
        "nodown",
        "noin",
        "noout",
        "norebalance",
        "norecover",
        "noscrub",
        "notieragent",
        "noup",
        "pause",
    ],
    "Which one.",
)
.required();

const STATUS: Plain = read(
    Toolset::Cluster,
    "get_ceph_status_cluster",
    "Show Ceph's health",
    "/cluster/ceph/status",
)
.says(
    "Shows how Ceph stands as a whole: health with what is wrong, monitors in quorum, OSDs up and in, placement groups, space.\n\nget_ceph_status_node asks a given node for the same; list_ceph_osds shows each disk. Where Ceph is not installed PVE says so. Needs Sys.Audit or Datastore.Audit on /.",
)
.needs(AUDIT)
.item(&["health", "quorum_names", "osdmap", "pgmap"])
.examples(&[Example {
    ask: "Is Ceph healthy?",
    args: "{}",
}]);

const METADATA: Plain = read(
    Toolset::Cluster,
    "get_ceph_metadata",
    "Show Ceph's versions and daemons",
    "/cluster/ceph/metadata",
)
.says(
    "Shows which version of Ceph each node has installed and each daemon runs, with hosts and addresses.\n\nUse it before and after an upgrade; with scope versions it tells the nodes' packages alone. For health use get_ceph_status_cluster, for one kind of daemon list_ceph_monitors and the like. Needs Sys.Audit or Datastore.Audit on /.",
)
.takes(&[choice("scope", &["all", "versions"], "How much; default all.")])
.needs(AUDIT)
.item(&["node", "mon", "mgr", "mds", "osd"])
.examples(&[
    Example {
        ask: "Which daemons does Ceph have?",
        args: "{}",
    },
    Example {
        ask: "Which version of Ceph is installed where?",
        args: r#"{"scope": "versions"}"#,
    },
]);

const FLAGS: Plain = read(
    Toolset::Cluster,
    "get_ceph_flags",
    "Show Ceph's flags",
    "/cluster/ceph/flags",
)
.says(
    "Lists Ceph's cluster-wide flags, what each does and whether it is set.\n\nOne that was forgotten after maintenance, such as noout, keeps Ceph from healing itself; set_ceph_flags changes one. Needs Sys.Audit on /.",
)
.needs(Need::On("/", "Sys.Audit"))
.rows(&["name", "value", "description"])
.examples(&[Example {
    ask: "Is noout still set?",
    args: "{}",
}]);

const SET_FLAG: Plain = change(
    (Toolset::Cluster, Risk::Disrupt),
    "set_ceph_flags",
    "Set or clear a flag of Ceph",
    Method::Put,
    "/cluster/ceph/flags/{flag}",
)
.says(
    "Sets or clears one of Ceph's cluster-wide flags, at once.\n\nnoout before a node's maintenance keeps Ceph from moving data meanwhile; clear it afterwards. pause stops all reads and writes, so that every guest on Ceph hangs. Returns a `confirm` value first; repeat the call with it. get_ceph_flags shows them. Needs Sys.Modify and Sys.Audit on /. Undo: this tool with the old value.",
)
.takes(&[FLAG, flag("value", "True sets it, false clears it.").required()])
.needs(Need::All(&[
    Need::On("/", "Sys.Audit"),
    Need::On("/", "Sys.Modify"),
]))
.edits(
    an("flag", &["flag"])
        .listed("/cluster/ceph/flags", "name")
        .by_row(),
)
.examples(&[
    Example {
        ask: "Keep Ceph from moving data while I reboot a node",
        args: r#"{"flag": "noout", "value": true}"#,
    },
    Example {
        ask: "Stop all access to Ceph",
        args: r#"{"flag": "pause", "value": true}"#,
    },
]);
