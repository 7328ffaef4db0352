//! `/nodes/{node}/lxc`: containers.

mod interfaces;
mod options;
mod power;

use crate::api::index;
use crate::api::nodes::guest::{self, AUDIT, POWER, config, pending};
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::{NODE, SKIPLOCK, SNAPNAME, VMID};
use crate::schema::{Param, flag, int};
use crate::world::World;
use crate::world::guest::Kind::Lxc;

const SNAPSHOT: Param = Param {
    name: "snapshot",
    ..SNAPNAME
};
const TIMEOUT: Param = int("timeout").min(0).optional();

/// The routes of containers.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/lxc", |world, call| {
        guest::list(world, call, Lxc)
    })
    .allow(Perm::User)
    .proxied()
    .params(&[NODE]),
    get("/nodes/{node}/lxc/{vmid}", root)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, VMID]),
    get("/nodes/{node}/lxc/{vmid}/config", |world, call| {
        config::show(world, call, Lxc, options::OPTIONS)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID, flag("current").optional(), SNAPSHOT.optional()]),
    get("/nodes/{node}/lxc/{vmid}/pending", |world, call| {
        pending::show(world, call, Lxc, options::OPTIONS)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID]),
    get("/nodes/{node}/lxc/{vmid}/interfaces", interfaces::list)
        .allow(AUDIT)
        .proxied()
        .params(&[NODE, VMID]),
    get("/nodes/{node}/lxc/{vmid}/status", status_root)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, VMID]),
    get("/nodes/{node}/lxc/{vmid}/status/current", |world, call| {
        guest::current(world, call, Lxc)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID]),
    post("/nodes/{node}/lxc/{vmid}/status/start", power::start)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID, SKIPLOCK, flag("debug").optional()]),
    post("/nodes/{node}/lxc/{vmid}/status/stop", power::stop)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID, SKIPLOCK, flag("overrule-shutdown").optional()]),
    post("/nodes/{node}/lxc/{vmid}/status/shutdown", power::shutdown)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID, TIMEOUT, flag("forceStop").optional()]),
    post("/nodes/{node}/lxc/{vmid}/status/reboot", power::reboot)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID, TIMEOUT]),
    post("/nodes/{node}/lxc/{vmid}/status/suspend", power::suspend)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID]),
    post("/nodes/{node}/lxc/{vmid}/status/resume", power::resume)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID]),
];

/// Unlike a machine's, it fails for containers that do not exist.
fn root(world: &mut World, call: &Call) -> Reply {
    world.need_guest(Lxc, call.node(), call.vmid())?;
    let names = [
        "config",
        "pending",
        "status",
        "vncproxy",
        "termproxy",
        "vncwebsocket",
        "spiceproxy",
        "migrate",
        "clone",
        "rrd",
        "rrddata",
        "firewall",
        "snapshot",
        "resize",
        "interfaces",
    ];
    index("subdir", &names)
}

fn status_root(_: &mut World, _: &Call) -> Reply {
    index(
        "subdir",
        &["current", "start", "stop", "shutdown", "reboot", "migrate"],
    )
}
