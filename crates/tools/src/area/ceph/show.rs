//! Ceph's parts, as a node tells them.

use super::AUDIT;
use crate::plain::{NODE, Plain, read};
use crate::spec::{Example, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(super) const TOOLS: &[&dyn Tool] = &[
    &STATUS, &OSDS, &POOLS, &MONITORS, &MANAGERS, &METADATA, &FILES, &CONFIG, &RULES,
];

/// One part, as any node with Ceph tells it.
const fn part(name: &'static str, title: &'static str, path: &'static str) -> Plain {
    read(Toolset::Nodes, name, title, path)
        .takes(&[NODE])
        .needs(AUDIT)
}

const STATUS: Plain = part(
    "get_ceph_status_node",
    "Show Ceph's health from a node",
    "/nodes/{node}/ceph/status",
)
.says(
    "Shows Ceph's health as one node sees it: what is wrong, monitors in quorum, OSDs, placement groups, space.\n\nUse it to tell whether that node still reaches Ceph; otherwise get_ceph_status_cluster is the same without naming a node. Needs Sys.Audit or Datastore.Audit on /.",
)
.item(&["health", "quorum_names", "osdmap", "pgmap"])
.examples(&[Example {
    ask: "Does pve2 see Ceph?",
    args: r#"{"node": "pve2"}"#,
}]);

const OSDS: Plain = part(
    "list_ceph_osds",
    "List Ceph's disks",
    "/nodes/{node}/ceph/osd",
)
.says(
    "Lists all OSDs, the disks in Ceph's service, of every node: host, up or down, in or out, class, size and how full.\n\nAny node with Ceph can be asked. create_ceph_osd adds one; get_node_disks shows a node's physical disks with their health. Needs Sys.Audit or Datastore.Audit on /.",
)
.leaves(
    "root",
    &[
        "name",
        "host",
        "status",
        "in",
        "device_class",
        "total_space|bytes",
        "percent_used",
        "pgs",
        "reweight",
        "commit_latency_ms",
        "ceph_version_short",
    ],
)
.examples(&[Example {
    ask: "Are all OSDs up?",
    args: r#"{"node": "pve1"}"#,
}]);

const POOLS: Plain = part(
    "list_ceph_pools",
    "List Ceph's pools",
    "/nodes/{node}/ceph/pool",
)
.says(
    "Lists Ceph's pools: copies kept and needed, placement groups, rule, use, application.\n\nNot the pools of guests: those are list_pools. A pool serves guests once a storage of type rbd names it: list_storage shows those. create_ceph_pool makes one. Needs Sys.Audit or Datastore.Audit on /.",
)
.rows(&[
    "pool_name",
    "pool",
    "type",
    "size",
    "min_size",
    "pg_num",
    "pg_autoscale_mode",
    "crush_rule_name",
    "bytes_used|bytes",
    "application_metadata",
])
.examples(&[Example {
    ask: "How full are Ceph's pools?",
    args: r#"{"node": "pve1"}"#,
}]);

const MONITORS: Plain = part(
    "list_ceph_monitors",
    "List Ceph's monitors",
    "/nodes/{node}/ceph/mon",
)
.says(
    "Lists Ceph's monitors of all nodes: host, address, state, whether in quorum, version.\n\nWithout a majority of them Ceph stands still. For the managers use list_ceph_managers, for all of Ceph get_ceph_status_cluster. Needs Sys.Audit or Datastore.Audit on /.",
)
.rows(&["name", "host", "addr", "state", "quorum", "rank", "ceph_version_short"])
.examples(&[Example {
    ask: "Are all monitors in quorum?",
    args: r#"{"node": "pve1"}"#,
}]);

const MANAGERS: Plain = part(
    "list_ceph_managers",
    "List Ceph's managers",
    "/nodes/{node}/ceph/mgr",
)
.says(
    "Lists Ceph's managers of all nodes: one is active, the others stand by.\n\nThey gather figures and balance data; guests do not depend on them from moment to moment. For the monitors, which matter more, use list_ceph_monitors. Needs Sys.Audit or Datastore.Audit on /.",
)
.rows(&["name", "host", "addr", "state", "ceph_version_short"])
.examples(&[Example {
    ask: "Which manager is active?",
    args: r#"{"node": "pve1"}"#,
}]);

const METADATA: Plain = part(
    "list_ceph_mds",
    "List CephFS metadata servers",
    "/nodes/{node}/ceph/mds",
)
.says(
    "Lists Ceph's metadata servers of all nodes with state and file system; there are none where nobody uses CephFS.\n\nlist_ceph_fs shows the file systems that they serve. Needs Sys.Audit or Datastore.Audit on /.",
)
.rows(&["name", "host", "addr", "state", "rank", "fs_name"])
.examples(&[Example {
    ask: "Which metadata server is active?",
    args: r#"{"node": "pve1"}"#,
}]);

const FILES: Plain = part(
    "list_ceph_fs",
    "List CephFS file systems",
    "/nodes/{node}/ceph/fs",
)
.says(
    "Lists Ceph's file systems with the pools that hold their data and metadata.\n\nlist_ceph_mds shows the servers behind them, list_ceph_pools the pools. For guests' disks RBD pools are usual, not these. Needs Sys.Audit or Datastore.Audit on /.",
)
.rows(&["name", "metadata_pool", "data_pool"])
.examples(&[Example {
    ask: "Is there a CephFS?",
    args: r#"{"node": "pve1"}"#,
}]);

const CONFIG: Plain = part(
    "get_ceph_config",
    "Show ceph.conf",
    "/nodes/{node}/ceph/cfg/raw",
)
.says(
    "Shows the text of ceph.conf, which all nodes share: networks, monitors, defaults for pools; what looks like a secret is blanked.\n\nWhat Ceph keeps in its own database is not in it. For the state use get_ceph_status_cluster. Needs Sys.Audit or Datastore.Audit on /.",
)
.lines()
.examples(&[Example {
    ask: "Which networks does Ceph use?",
    args: r#"{"node": "pve1"}"#,
}]);

const RULES: Plain = part(
    "get_ceph_crush_rules",
    "List Ceph's CRUSH rules",
    "/nodes/{node}/ceph/rules",
)
.says(
    "Lists the names of the CRUSH rules, which say on which hosts and kinds of disks a pool's copies go.\n\nlist_ceph_pools shows which pool uses which. Rules are made on the command line. Needs Sys.Audit or Datastore.Audit on /.",
)
.rows(&["name"])
.examples(&[Example {
    ask: "Which CRUSH rules are there?",
    args: r#"{"node": "pve1"}"#,
}]);
