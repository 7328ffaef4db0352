//! `/nodes/{node}/qemu`: virtual machines.

pub mod agent;
pub mod change;
pub mod cloudinit;
pub mod create;
mod devices;
pub mod disk;
mod drive;
mod hibernate;
pub mod keyboard;
pub mod monitor;
mod options;
mod patterns;
mod power;

use crate::api::index;
use crate::api::nodes::guest::{self, AUDIT, POWER, config, pending, snapshot};
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::{NODE, SKIPLOCK, SNAPNAME, VMID};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::guest::Kind::Qemu;

const SNAPSHOT: Param = Param {
    name: "snapshot",
    ..SNAPNAME
};
const TIMEOUT: Param = int("timeout").min(0).optional();

/// The routes of virtual machines.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/qemu", |world, call| {
        guest::list(world, call, Qemu)
    })
    .allow(Perm::User)
    .proxied()
    .params(&[NODE, flag("full").optional()]),
    get("/nodes/{node}/qemu/{vmid}", root)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, VMID]),
    get("/nodes/{node}/qemu/{vmid}/config", |world, call| {
        config::show(world, call, Qemu, options::OPTIONS)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID, flag("current").optional(), SNAPSHOT.optional()]),
    get(
        "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config",
        |world, call| snapshot::show(world, call, Qemu, options::OPTIONS),
    )
    .allow(snapshot::LOOK)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME]),
    get("/nodes/{node}/qemu/{vmid}/pending", |world, call| {
        pending::show(world, call, Qemu, options::OPTIONS)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID]),
    get("/nodes/{node}/qemu/{vmid}/status", status_root)
        .allow(Perm::User)
        .proxied()
        .params(&[NODE, VMID]),
    get("/nodes/{node}/qemu/{vmid}/status/current", |world, call| {
        guest::current(world, call, Qemu)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID]),
    post("/nodes/{node}/qemu/{vmid}/status/start", power::start)
        .allow(POWER)
        .proxied()
        .params(&[
            NODE,
            VMID,
            SKIPLOCK,
            TIMEOUT,
            text("force-cpu").optional(),
            text("machine").optional(),
            text("migratedfrom").is(format::node).optional(),
            text("migration_network").optional(),
            text("migration_type")
                .one_of(&["secure", "insecure"])
                .optional(),
            text("nets-host-mtu").optional(),
            text("stateuri").longest(128).optional(),
            text("targetstorage").optional(),
            flag("with-conntrack-state").optional(),
        ]),
    post("/nodes/{node}/qemu/{vmid}/status/stop", power::stop)
        .allow(POWER)
        .proxied()
        .params(&[
            NODE,
            VMID,
            SKIPLOCK,
            TIMEOUT,
            flag("keepActive").optional(),
            flag("overrule-shutdown").optional(),
            text("migratedfrom").is(format::node).optional(),
        ]),
    post("/nodes/{node}/qemu/{vmid}/status/shutdown", power::shutdown)
        .allow(POWER)
        .proxied()
        .params(&[
            NODE,
            VMID,
            SKIPLOCK,
            TIMEOUT,
            flag("forceStop").optional(),
            flag("keepActive").optional(),
        ]),
    post("/nodes/{node}/qemu/{vmid}/status/reboot", power::reboot)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID, TIMEOUT]),
    post("/nodes/{node}/qemu/{vmid}/status/reset", power::reset)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID, SKIPLOCK]),
    post("/nodes/{node}/qemu/{vmid}/status/suspend", power::suspend)
        .allow(POWER)
        .proxied()
        .params(&[
            NODE,
            VMID,
            SKIPLOCK,
            flag("todisk").optional(),
            text("statestorage")
                .is(format::storage_id)
                .optional()
                .requires("todisk"),
        ]),
    post("/nodes/{node}/qemu/{vmid}/status/resume", power::resume)
        .allow(POWER)
        .proxied()
        .params(&[NODE, VMID, SKIPLOCK, flag("nocheck").optional()]),
];

/// Answers for machines that do not exist too.
fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "config",
        "cloudinit",
        "pending",
        "status",
        "unlink",
        "vncproxy",
        "termproxy",
        "migrate",
        "resize",
        "move",
        "rrd",
        "rrddata",
        "monitor",
        "agent",
        "snapshot",
        "spiceproxy",
        "sendkey",
        "firewall",
        "mtunnel",
        "remote_migrate",
    ];
    index("subdir", &names)
}

fn status_root(_: &mut World, _: &Call) -> Reply {
    index(
        "subdir",
        &[
            "current", "start", "stop", "reset", "shutdown", "suspend", "reboot",
        ],
    )
}

/// A configuration has one setting a line; PVE finds out when it writes one. A description is a comment, of many lines.
pub(super) fn one_line(key: &str, value: &str) -> Result<(), String> {
    if key != "description" && value.contains(['\n', '\r']) {
        return Err(format!(
            "unable to parse value of '{key}' - property contains a line feed"
        ));
    }
    Ok(())
}
