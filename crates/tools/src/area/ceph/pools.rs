//! A new pool.

use pve::Method;

use super::AUDIT;
use crate::plain::{NODE, Need, Plain, an, change, choice, text, whole};
use crate::spec::{Example, Risk, Toolset};

fn is_name(text: &str) -> bool {
    let forbidden = |c: char| c == ':' || c == '/' || c.is_whitespace();
    !text.is_empty() && !text.contains(forbidden)
}

pub(super) const CREATE: Plain = change(
    (Toolset::Nodes, Risk::Change),
    "create_ceph_pool",
    "Create a Ceph pool",
    Method::Post,
    "/nodes/{node}/ceph/pool",
)
.says(
    "Creates a replicated pool in Ceph; nothing that is there changes.\n\nThree copies of which two must be there is the safe default; fewer can lose data. Guests use it once create_storage defines a storage of type rbd on it. list_ceph_pools shows those there are; for a group of guests use create_pool. Waits for it. Needs Sys.Modify and Sys.Audit or Datastore.Audit on /. Undo: none by a tool; a person destroys the empty pool in PVE.",
)
.takes(&[
    NODE,
    text("name", "Its name, without blanks, : or /.").shaped(is_name).required(),
    whole("size", "Copies kept; default 3.").within(1, 7),
    whole("min_size", "Copies needed for writing; default 2.").within(1, 7),
    whole("pg_num", "Placement groups; default 128.").within(1, 32768),
    choice("application", &["rbd", "cephfs", "rgw"], "What uses it; default rbd."),
])
.needs(Need::All(&[AUDIT, Need::On("/", "Sys.Modify")]))
.starts(&["cephcreatepool"])
.creates(
    an("Ceph pool", &["name"])
        .listed("/nodes/{node}/ceph/pool", "pool_name")
        .not_undone("no tool destroys a pool; a person does that in PVE"),
)
.examples(&[
    Example {
        ask: "Make a pool for test machines in Ceph",
        args: r#"{"node": "pve1", "name": "tests"}"#,
    },
    Example {
        ask: "A pool with 32 placement groups and two copies",
        args: r#"{"node": "pve1", "name": "scratch", "size": 2, "min_size": 2, "pg_num": 32, "application": "rbd"}"#,
    },
]);
