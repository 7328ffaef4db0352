//! `/cluster/ceph` and `/nodes/{node}/ceph`. Where Ceph is not installed, everything says so.

mod change;
mod osds;
mod show;
mod status;

use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post, put};
use crate::schema::common::NODE;
use crate::schema::{flag, int, number, text};
use crate::world::World;
use crate::world::ceph::Ceph;

const READ: Perm = Perm::AnyOn("/", &["Sys.Audit", "Datastore.Audit"]);

/// The flags that PVE sets, with what they do.
const FLAGS: &[(&str, &str)] = &[
    ("nobackfill", "No placement group is backfilled."),
    ("nodeep-scrub", "No deep scrubbing."),
    ("nodown", "Reports of failed OSDs are ignored."),
    ("noin", "OSDs that were out stay out when they start."),
    ("noout", "OSDs are not taken out by themselves."),
    ("norebalance", "No placement group is rebalanced."),
    ("norecover", "No placement group is recovered."),
    ("noscrub", "No scrubbing."),
    ("notieragent", "No tiering of caches."),
    ("noup", "OSDs may not start."),
    ("pause", "Nothing is read or written."),
];

const FLAG_NAMES: &[&str] = &[
    FLAGS[0].0,
    FLAGS[1].0,
    FLAGS[2].0,
    FLAGS[3].0,
    FLAGS[4].0,
    FLAGS[5].0,
    FLAGS[6].0,
    FLAGS[7].0,
    FLAGS[8].0,
    FLAGS[9].0,
    FLAGS[10].0,
];

/// The routes of Ceph.
pub const ROUTES: &[Route] = &[
    get("/cluster/ceph/status", status::show).allow(READ),
    get("/cluster/ceph/metadata", show::metadata)
        .allow(READ)
        .params(&[text("scope").one_of(&["all", "versions"]).optional()]),
    get("/cluster/ceph/flags", show::flags).allow(Perm::On("/", &["Sys.Audit"])),
    put("/cluster/ceph/flags/{flag}", change::set_flag)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[text("flag").one_of(FLAG_NAMES), flag("value")]),
    node_read("/nodes/{node}/ceph/status", status::show),
    node_read("/nodes/{node}/ceph/cfg/raw", show::config),
    node_read("/nodes/{node}/ceph/fs", show::nothing),
    node_read("/nodes/{node}/ceph/mds", show::nothing),
    node_read("/nodes/{node}/ceph/mgr", show::managers),
    node_read("/nodes/{node}/ceph/mon", show::monitors),
    node_read("/nodes/{node}/ceph/osd", osds::tree),
    node_read("/nodes/{node}/ceph/pool", show::pools),
    node_read("/nodes/{node}/ceph/rules", show::rules),
    post("/nodes/{node}/ceph/osd", osds::create)
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
    post("/nodes/{node}/ceph/pool", change::create_pool)
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

const fn node_read(path: &'static str, handler: fn(&mut World, &Call) -> Reply) -> Route {
    get(path, handler).allow(READ).params(&[NODE]).proxied()
}

fn is_pool(text: &str) -> bool {
    let forbidden = |c: char| c == ':' || c == '/' || c.is_whitespace();
    !text.is_empty() && !text.contains(forbidden)
}

fn missing() -> ApiError {
    ApiError::fail("binary not installed: /usr/bin/ceph-mon")
}

fn of(world: &World) -> Result<&Ceph, ApiError> {
    world.ceph.as_ref().ok_or_else(missing)
}

/// What `ceph --version` says.
fn long_version(ceph: &Ceph) -> String {
    format!(
        "ceph version {} ({BUILD}) {} (stable)",
        ceph.version, ceph.release
    )
}

/// The commit that the packages were built from.
const BUILD: &str = "c92aebb279828e9c3c1f5d24613efca272649e62";
