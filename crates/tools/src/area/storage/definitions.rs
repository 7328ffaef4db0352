//! Definitions of storages, the same for all nodes.

use pve::Method;
use serde_json::Value;

use super::{SEE, SEE_ALL, STORAGE};
use crate::plain::{
    Arg, Entry, NODE, Need, Plain, TIMEFRAME, UNSET, an, change, choice, flag, list, read, text,
};
use crate::spec::{Example, Risk, Toolset};
use crate::tool::{Object, Tool};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &LIST,
    &GET,
    &CREATE,
    &UPDATE,
    &DELETE,
    &LIST_ON_NODE,
    &STATUS,
    &HISTORY,
];

const TYPES: &[&str] = &[
    "btrfs",
    "cephfs",
    "cifs",
    "dir",
    "esxi",
    "iscsi",
    "iscsidirect",
    "lvm",
    "lvmthin",
    "nfs",
    "pbs",
    "rbd",
    "zfs",
    "zfspool",
];
const CONTENT: Arg = list(
    "content",
    "What it may hold: images, rootdir, iso, vztmpl, backup, snippets, import.",
);
const NODES: Arg = list("nodes", "Only on these nodes.");
const SHARED: Arg = flag("shared", "All nodes see the same there; nothing is copied.");
const DISABLE: Arg = flag("disable", "Defined, but not used.");
const PRUNE: Arg = text(
    "prune_backups",
    "Backups to keep: \"keep-last=3,keep-weekly=4\".",
)
.sent_as("prune-backups");
const THE_STORAGE: Entry = an("storage", &["storage"]).listed("/storage", "storage");
/// PVE shows storages on a network as shared, and lets nobody say so.
fn can_be_told(storage: &Object, setting: &str) -> bool {
    let kind = storage.get("type").and_then(Value::as_str);
    setting != "shared" || matches!(kind, Some("dir" | "btrfs" | "lvm"))
}

const MANAGE: Need = Need::All(&[SEE, Need::On("/storage", "Datastore.Allocate")]);

const LIST: Plain = read(Toolset::Storage, "list_storage", "List storage definitions", "/storage")
    .says(
        "Lists how storages are defined for the whole cluster: type, content, nodes, where they lie.\n\nUse it for definitions; list_node_storage shows which are active on a node and how full they are, list_proxmox_resources does for all nodes. Needs Datastore.Audit or Datastore.AllocateSpace on /storage/NAME: others are left out.",
    )
    .takes(&[choice("type", TYPES, "Only of this type.")])
    .needs(Need::On("/storage", "Datastore.Audit"))
    .filtered()
    .rows(&["storage", "type", "content", "nodes", "shared", "disable", "path", "server", "export", "datastore", "pool", "vgname", "thinpool", "prune-backups"])
    .examples(&[Example {
        ask: "How are the storages set up?",
        args: "{}",
    }]);

const GET: Plain = read(
    Toolset::Storage,
    "get_storage_config",
    "Show a storage definition",
    "/storage/{storage}",
)
.says(
    "Shows every option of one storage's definition.\n\nUse it before update_storage or delete_storage; get_node_storage_status shows how full it is. Passwords are kept elsewhere and not shown. Needs Datastore.Allocate on /storage/NAME.",
)
.takes(&[STORAGE])
.needs(SEE_ALL)
.item(&["storage", "type", "content", "nodes", "shared", "disable"])
.examples(&[Example {
    ask: "How is the storage nas defined?",
    args: r#"{"storage": "nas"}"#,
}]);

const CREATE: Plain = change(
    (Toolset::Storage, Risk::Grant),
    "create_storage",
    "Define a storage",
    Method::Post,
    "/storage",
)
.says(
    "Defines a storage for the cluster, over something that exists: a directory, an NFS export, a volume group, a ZFS pool, a PBS datastore. No disk is formatted; create_directory_storage, create_lvm and create_zfs_pool do that.\n\nsearch_storage_server finds exports, get_node_storage_scan pools. Each type takes its own arguments; PVE names those it lacks. A person must approve it; you cannot confirm it yourself. Needs Datastore.Allocate on /storage and Datastore.Audit on the new one. Undo: delete_storage.",
)
.takes(&[
    STORAGE,
    choice("type", TYPES, "What it lies on.").required(),
    CONTENT,
    text("path", "For dir and btrfs: the directory."),
    text("server", "For nfs, cifs, pbs: name or address."),
    text("export", "For nfs: the path on the server."),
    text("share", "For cifs: the share."),
    text("datastore", "For pbs."),
    text("username", "For cifs, pbs and esxi."),
    text("password", "Its password.").secret(),
    text("fingerprint", "For pbs: of its certificate."),
    text("vgname", "For lvm and lvmthin: the volume group."),
    text("thinpool", "For lvmthin: the pool."),
    text("pool", "For zfspool and rbd."),
    text("portal", "For iscsi: the server."),
    text("target", "For iscsi: the target."),
    NODES,
    SHARED,
    DISABLE,
    PRUNE,
])
.needs(MANAGE)
.creates(THE_STORAGE.undone_by("delete_storage"))
.examples(&[Example {
    ask: "Add the NAS's second export for ISO images",
    args: r#"{"storage": "media", "type": "nfs", "server": "192.168.1.5", "export": "/volume1/media", "content": "iso,vztmpl"}"#,
}]);

const UPDATE: Plain = change(
    (Toolset::Storage, Risk::Grant),
    "update_storage",
    "Change a storage definition",
    Method::Put,
    "/storage/{storage}",
)
.says(
    "Changes a storage's definition: what it may hold, on which nodes, its retention; with disable, takes it out of use.\n\nGuests with disks there go on running, but can no longer be started, backed up or moved once it is disabled or not on their node; with prune_backups the next backups delete older ones. A person must approve a new retention; the rest returns a `confirm` value first. get_storage_config shows all options. Needs Datastore.Allocate on /storage and Datastore.Audit on /storage/NAME; VM.Audit on /vms to see the guests. Undo: the same call with the old values.",
)
.takes(&[STORAGE, CONTENT, NODES, SHARED, DISABLE, PRUNE, UNSET])
.strands("storage", &["disable", "nodes"])
.needs(MANAGE)
.edits(THE_STORAGE.by_row())
.examples(&[Example {
    ask: "Let nas keep templates too",
    args: r#"{"storage": "nas", "content": "images,backup,iso,vztmpl"}"#,
}]);

const DELETE: Plain = change(
    (Toolset::Storage, Risk::Destroy),
    "delete_storage",
    "Delete a storage definition",
    Method::Delete,
    "/storage/{storage}",
)
.says(
    "Deletes a storage's definition; what is on it stays where it is, out of PVE's sight.\n\nGuests with disks there can no longer be started, jobs that back up to it fail. To only pause it, update_storage with disable. Refused if a protected guest has one there. It asks for a confirmation. Needs Datastore.Allocate on /storage and Datastore.Audit on /storage/NAME; VM.Audit on /vms to see the guests. Undo: create_storage with the same options, and its password again.",
)
.takes(&[STORAGE])
.strands("storage", &[])
.needs(MANAGE)
.removes(THE_STORAGE.undone_by("create_storage").told_if(can_be_told))
.examples(&[Example {
    ask: "Forget the vault",
    args: r#"{"storage": "vault"}"#,
}]);

const LIST_ON_NODE: Plain = read(
    Toolset::Storage,
    "list_node_storage",
    "List a node's storages",
    "/nodes/{node}/storage",
)
.says(
    "Lists the storages of one node: active or not, how full, what they may hold.\n\nUse it to choose a place for a disk, an ISO image or a backup: send content. list_storage shows definitions, list_storage_content what is on one. Needs Datastore.Audit or Datastore.AllocateSpace on /storage/NAME: others are left out.",
)
.takes(&[
    NODE,
    list("content", "Only those that may hold this."),
    flag("enabled", "Only those in use."),
])
.needs(Need::On("/storage", "Datastore.Audit"))
.filtered()
.rows(&["storage", "type", "active", "enabled", "shared", "used|bytes", "avail|bytes", "total|bytes", "content"])
.examples(&[Example {
    ask: "Where on pve1 is room for a disk?",
    args: r#"{"node": "pve1", "content": "images"}"#,
}]);

const STATUS: Plain = read(
    Toolset::Storage,
    "get_node_storage_status",
    "Show a storage on a node",
    "/nodes/{node}/storage/{storage}/status",
)
.says(
    "Shows one storage as a node sees it: active or not, used, free and total space.\n\nUse list_node_storage for all of them at once, get_storage_rrddata for how it filled up. Needs Datastore.Audit or Datastore.AllocateSpace on /storage/NAME.",
)
.takes(&[NODE, STORAGE])
.needs(SEE)
.item(&["active", "enabled", "used|bytes", "avail|bytes", "total|bytes", "type", "content", "shared"])
.examples(&[Example {
    ask: "How full is local-lvm on pve1?",
    args: r#"{"node": "pve1", "storage": "local-lvm"}"#,
}]);

const HISTORY: Plain = read(
    Toolset::Storage,
    "get_storage_rrddata",
    "Show how a storage filled up",
    "/nodes/{node}/storage/{storage}/rrddata",
)
.says(
    "Shows used and total bytes of a storage over the last hour, day, week, month or year, oldest first.\n\nUse it to tell when a storage will be full; get_node_storage_status shows the present. A longer frame has more rows than are shown. Needs Datastore.Audit or Datastore.AllocateSpace on /storage/NAME.",
)
.takes(&[
    NODE,
    STORAGE,
    TIMEFRAME.otherwise("\"hour\""),
    choice("cf", &["AVERAGE", "MAX"], "How several values become one."),
])
.needs(SEE)
.rows(&["time|time", "used|bytes", "total|bytes"])
.examples(&[Example {
    ask: "How did nas fill up in the last hour?",
    args: r#"{"node": "pve1", "storage": "nas", "timeframe": "hour"}"#,
}]);
