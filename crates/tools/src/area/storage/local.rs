//! What is made of a node's own disks, as far as it is only looked at.

use crate::plain::{NODE, Need, Plain, read, text};
use crate::spec::{Example, Toolset};
use crate::tool::Tool;

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[&GROUPS, &THIN, &POOLS, &POOL, &DIRECTORIES];

const AUDIT: Need = Need::On("/", "Sys.Audit");

const GROUPS: Plain = read(
    Toolset::Storage,
    "list_lvm_volumes",
    "List LVM volume groups",
    "/nodes/{node}/disks/lvm",
)
.says(
    "Lists the LVM volume groups of a node with size, free space and the disks that each lies on.\n\nUse it before create_storage with type lvm, or to find room for a thin pool; list_lvmthin_pools lists those, get_node_disks the disks. Needs Sys.Audit on /.",
)
.takes(&[NODE])
.needs(AUDIT)
.within("children", &["name", "size|bytes", "free|bytes", "lvcount", "children"])
.examples(&[Example {
    ask: "Which volume groups does pve1 have?",
    args: r#"{"node": "pve1"}"#,
}]);

const THIN: Plain = read(
    Toolset::Storage,
    "list_lvmthin_pools",
    "List LVM thin pools",
    "/nodes/{node}/disks/lvmthin",
)
.says(
    "Lists the LVM thin pools of a node with the use of data and metadata.\n\nUse it where a thin storage fills up: either of both running full stops its guests. list_lvm_volumes shows the groups that they lie in. Needs Sys.Audit on /.",
)
.takes(&[NODE])
.needs(AUDIT)
.rows(&["lv", "vg", "lv_size|bytes", "used|bytes", "metadata_size|bytes", "metadata_used|bytes"])
.examples(&[Example {
    ask: "How full are the thin pools of pve1?",
    args: r#"{"node": "pve1"}"#,
}]);

const POOLS: Plain = read(
    Toolset::Storage,
    "list_zfs_pools",
    "List ZFS pools",
    "/nodes/{node}/disks/zfs",
)
.says(
    "Lists the ZFS pools of a node with health, size, use and fragmentation.\n\nUse it to notice a degraded pool; get_zfs_pool shows which disk of it is at fault. A node without ZFS answers that it is not installed. Needs Sys.Audit on /.",
)
.takes(&[NODE])
.needs(AUDIT)
.rows(&["name", "health", "size|bytes", "alloc|bytes", "free|bytes", "frag", "dedup"])
.examples(&[Example {
    ask: "Is the pool of pve2 healthy?",
    args: r#"{"node": "pve2"}"#,
}]);

const POOL: Plain = read(
    Toolset::Storage,
    "get_zfs_pool",
    "Show a ZFS pool",
    "/nodes/{node}/disks/zfs/{name}",
)
.says(
    "Shows one ZFS pool: state, what it advises to do, the last scrub, errors, and the tree of its disks with their error counts.\n\nUse it on a pool that list_zfs_pools shows as degraded. Needs Sys.Audit on /.",
)
.takes(&[NODE, text("name", "The pool.").required()])
.needs(AUDIT)
.item(&["name", "state", "status", "action", "scan", "errors", "children"])
.examples(&[Example {
    ask: "What is wrong with tank on pve2?",
    args: r#"{"node": "pve2", "name": "tank"}"#,
}]);

const DIRECTORIES: Plain = read(
    Toolset::Storage,
    "list_directory_storage",
    "List directories on own disks",
    "/nodes/{node}/disks/directory",
)
.says(
    "Lists the file systems of a node that were made by create_directory_storage: device, mount point, type.\n\nUse it to tell which disk a directory storage lies on; list_storage shows storages over any directory. Needs Sys.Audit on /.",
)
.takes(&[NODE])
.needs(AUDIT)
.rows(&["path", "device", "type", "options", "unitfile"])
.examples(&[Example {
    ask: "Which disks of pve1 are directories?",
    args: r#"{"node": "pve1"}"#,
}]);
