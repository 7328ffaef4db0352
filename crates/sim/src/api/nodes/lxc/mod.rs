//! `/nodes/{node}/lxc`: containers.

mod create;
mod interfaces;
mod keys;
mod move_volume;
mod options;
mod power;
mod resize;
mod rights;
mod update;
mod volumes;

pub(crate) use power::nesting_warning;
pub(super) use update::normal;

use crate::api::index;
use crate::api::nodes::guest::{self, AUDIT, POWER, config, pending, snapshot};
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get, post, put};
use crate::schema::common::{DIGEST, NODE, SKIPLOCK, SNAPNAME, STORAGE, VMID};
use crate::schema::{Param, flag, format, int, number, text};
use crate::world::World;
use crate::world::guest::Kind::Lxc;

const SNAPSHOT: Param = Param {
    name: "snapshot",
    ..SNAPNAME
};
const TIMEOUT: Param = int("timeout").min(0).optional();

/// May change something about the container; which option, the handler checks.
const CONFIGURE: Perm = Perm::AnyOn(
    "/vms/{vmid}",
    &[
        "VM.Config.Disk",
        "VM.Config.CPU",
        "VM.Config.Memory",
        "VM.Config.Network",
        "VM.Config.Options",
    ],
);

/// The routes of containers.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/lxc", |world, call| {
        guest::list(world, call, Lxc)
    })
    .allow(Perm::User)
    .proxied()
    .params(&[NODE]),
    post("/nodes/{node}/lxc", create::start)
        .allow(Perm::User)
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("ostemplate").longest(255),
            STORAGE.optional(),
            text("password").shortest(5).optional(),
            text("ssh-public-keys").optional(),
            text("pool").is(format::pool_id).optional(),
            number("bwlimit").min(0).optional(),
            flag("start").optional(),
            flag("ha-managed").optional(),
            flag("ignore-unpack-errors").optional(),
            flag("restore").optional(),
            flag("force").optional(),
            flag("unique").requires("restore").optional(),
        ])
        .and(options::OPTIONS),
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
    put("/nodes/{node}/lxc/{vmid}/config", update::update)
        .allow(CONFIGURE)
        .proxied()
        .params(&[
            NODE,
            VMID,
            DIGEST.longest(40),
            text("delete").list_of(format::config_id).optional(),
            text("revert").list_of(format::config_id).optional(),
        ])
        .and(options::OPTIONS),
    put("/nodes/{node}/lxc/{vmid}/resize", resize::start)
        .allow(Perm::AnyOn("/vms/{vmid}", &["VM.Config.Disk"]))
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("disk").one_of(keys::MOUNT_KEYS),
            text("size").matching(resize::is_growth),
            DIGEST.longest(40),
        ]),
    post("/nodes/{node}/lxc/{vmid}/move_volume", move_volume::start)
        .allow(Perm::On("/vms/{vmid}", &["VM.Config.Disk"]))
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("volume").one_of(keys::VOLUME_KEYS),
            STORAGE.optional(),
            flag("delete").optional(),
            DIGEST.longest(40),
            number("bwlimit").min(0).optional(),
            Param {
                name: "target-vmid",
                ..VMID
            }
            .optional(),
            text("target-volume").one_of(keys::VOLUME_KEYS).optional(),
            text("target-digest").longest(40).optional(),
        ]),
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
    get(
        "/nodes/{node}/lxc/{vmid}/snapshot/{snapname}/config",
        |world, call| snapshot::show(world, call, Lxc, options::OPTIONS),
    )
    .allow(snapshot::LOOK)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME]),
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
