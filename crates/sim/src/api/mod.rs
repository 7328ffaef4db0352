//! The routes and their handlers. Modules follow PVE's URLs; each has one table, and all tables stand in [`TABLES`].
//!
//! To add a route: write a handler `fn(&mut World, &Call) -> Reply`, add a line to the table of its module with
//! parameters and permission as PVE's API schema states them, and run the replay test.

pub mod access;
pub mod bulk;
pub mod ceph;
pub mod cluster;
pub mod firewall;
pub mod nodes;
pub mod pools;
mod section;
pub mod storage;

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::world::World;

/// Every route of the simulator.
pub const TABLES: &[&[Route]] = &[
    ROUTES,
    access::ROUTES,
    access::acl::ROUTES,
    access::groups::ROUTES,
    access::roles::ROUTES,
    access::tokens::ROUTES,
    access::users::ROUTES,
    cluster::ROUTES,
    bulk::CLUSTER,
    bulk::NODES,
    ceph::ROUTES,
    cluster::backup::ROUTES,
    cluster::corosync::ROUTES,
    cluster::ha::ROUTES,
    cluster::ha::groups::ROUTES,
    cluster::ha::resources::ROUTES,
    cluster::ha::rules::ROUTES,
    cluster::ha::status::ROUTES,
    cluster::jobs::ROUTES,
    cluster::options::ROUTES,
    cluster::replication::ROUTES,
    cluster::sdn::ROUTES,
    cluster::acme::ROUTES,
    cluster::unused::ROUTES,
    firewall::CLUSTER,
    firewall::NODES,
    firewall::QEMU,
    firewall::LXC,
    pools::ROUTES,
    nodes::ROUTES,
    nodes::appliances::ROUTES,
    nodes::apt::ROUTES,
    nodes::certificates::ROUTES,
    nodes::disks::ROUTES,
    nodes::hardware::ROUTES,
    nodes::journal::ROUTES,
    nodes::network::ROUTES,
    nodes::replication::ROUTES,
    nodes::rrd::ROUTES,
    nodes::services::ROUTES,
    nodes::settings::ROUTES,
    nodes::unused::ROUTES,
    nodes::tasks::ROUTES,
    nodes::console::ROUTES,
    nodes::qemu::ROUTES,
    nodes::qemu::agent::ROUTES,
    nodes::qemu::change::ROUTES,
    nodes::qemu::cloudinit::ROUTES,
    nodes::qemu::create::ROUTES,
    nodes::qemu::disk::ROUTES,
    nodes::qemu::keyboard::ROUTES,
    nodes::qemu::monitor::ROUTES,
    nodes::lxc::ROUTES,
    nodes::guest::ROUTES,
    nodes::storage::ROUTES,
    nodes::vzdump::ROUTES,
    storage::ROUTES,
];

/// The commit that the simulated release claims to be built from.
pub(crate) const REPOID: &str = "7ed516c3ebfd23c6";

const ROUTES: &[Route] = &[
    get("/", root).allow(Perm::User),
    get("/version", version).allow(Perm::User),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index(
        "subdir",
        &["version", "cluster", "nodes", "storage", "access", "pools"],
    )
}

/// `/version`, and the same below a node.
pub(crate) fn version(world: &mut World, _: &Call) -> Reply {
    let parts: Vec<&str> = world.version.split('.').take(2).collect();
    Ok(json!({
        "release": parts.join("."),
        "version": world.version,
        "repoid": REPOID,
    })
    .into())
}

/// The answer of a path that only leads to others: `[{"subdir": "version"}, ...]`.
pub(crate) fn index(key: &str, names: &[&str]) -> Reply {
    let entries: Value = names.iter().map(|name| json!({ key: name })).collect();
    Ok(entries.into())
}

/// 0 or 1, as PVE writes booleans.
pub(crate) fn bit(flag: bool) -> Value {
    Value::from(u8::from(flag))
}
