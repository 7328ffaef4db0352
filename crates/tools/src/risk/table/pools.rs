//! Resource pools: a user with a role on a pool has it on the pool's members.

use pve::Method::{Delete, Post, Put};

use crate::risk::row::{Row, Rule, is, on, row, safe};
use crate::spec::Risk::{Change, Destroy, Grant};

const MEMBERS: &[Rule] = &[
    is(
        &["vms", "storage"],
        Grant,
        "changes which guests and storages the users of a pool have access to",
    ),
    on(
        &["delete"],
        Destroy,
        "takes members out of the pool and out of the backup jobs that select it",
    ),
    on(
        &["allow-move"],
        Destroy,
        "takes guests out of the pool that they are in and out of the backup jobs that select it",
    ),
    safe(&["comment"]),
];

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(Post, &["/pools"], (Change, "creates an empty pool"), &[&[safe(&["comment", "poolid"])]]),
    row(Put, &["/pools", "/pools/{poolid}"], (Change, "changes a pool"), &[MEMBERS, &[safe(&["poolid"])]]),
    row(Delete, &["/pools", "/pools/{poolid}"], (Destroy, "deletes a pool"), &[&[safe(&["poolid"])]]),
];
