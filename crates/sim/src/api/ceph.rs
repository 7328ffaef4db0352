//! `/cluster/ceph` and `/nodes/{node}/ceph`: Ceph is not installed, and everything says so.

use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post, put};
use crate::schema::common::NODE;
use crate::schema::{flag, int, number, text};
use crate::world::World;

const READ: Perm = Perm::AnyOn("/", &["Sys.Audit", "Datastore.Audit"]);

/// The routes of Ceph.
pub const ROUTES: &[Route] = &[
    get("/cluster/ceph/status", missing).allow(READ),
    get("/cluster/ceph/metadata", missing)
        .allow(READ)
        .params(&[text("scope").one_of(&["all", "versions"]).optional()]),
    get("/cluster/ceph/flags", missing).allow(Perm::On("/", &["Sys.Audit"])),
    put("/cluster/ceph/flags/{flag}", missing)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[
            text("flag").one_of(&[
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
            ]),
            flag("value"),
        ]),
    node_read("/nodes/{node}/ceph/status"),
    node_read("/nodes/{node}/ceph/cfg/raw"),
    node_read("/nodes/{node}/ceph/fs"),
    node_read("/nodes/{node}/ceph/mds"),
    node_read("/nodes/{node}/ceph/mgr"),
    node_read("/nodes/{node}/ceph/mon"),
    node_read("/nodes/{node}/ceph/osd"),
    node_read("/nodes/{node}/ceph/pool"),
    node_read("/nodes/{node}/ceph/rules"),
    post("/nodes/{node}/ceph/osd", missing)
        .params(&[
            NODE,
            text("dev"),
            text("crush-device-class").optional(),
            text("db_dev").optional(),
            number("db_dev_size").min(1).optional().requires("db_dev"),
            flag("encrypted").optional(),
            int("osds-per-device").min(1).optional(),
            text("wal_dev").optional(),
            number("wal_dev_size").optional().requires("wal_dev"),
        ])
        .proxied(),
    post("/nodes/{node}/ceph/pool", missing)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[
            NODE,
            text("name").matching(is_pool),
            flag("add_storages").optional(),
            text("application")
                .one_of(&["rbd", "cephfs", "rgw"])
                .optional(),
            text("crush_rule").optional(),
            text("erasure-coding").optional(),
            int("min_size").min(1).max(7).optional(),
            text("pg_autoscale_mode")
                .one_of(&["on", "off", "warn"])
                .optional(),
            int("pg_num").min(1).max(32768).optional(),
            int("pg_num_min").max(32768).optional(),
            int("size").min(1).max(7).optional(),
            text("target_size").optional(),
            number("target_size_ratio").optional(),
        ])
        .proxied(),
];

const fn node_read(path: &'static str) -> Route {
    get(path, missing).allow(READ).params(&[NODE]).proxied()
}

fn is_pool(text: &str) -> bool {
    let forbidden = |c: char| c == ':' || c == '/' || c.is_whitespace();
    !text.is_empty() && !text.contains(forbidden)
}

fn missing(_: &mut World, _: &Call) -> Reply {
    Err(ApiError::fail("binary not installed: /usr/bin/ceph-mon"))
}
