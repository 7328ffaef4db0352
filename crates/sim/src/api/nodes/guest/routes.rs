//! The routes whose handlers machines and containers share.

use super::clone::{self, CLONE};
use super::destroy::ALLOCATE;
use super::{AUDIT, destroy, feature, snapshot};
use crate::route::{Route, delete, get, post};
use crate::schema::common::{NODE, SKIPLOCK, SNAPNAME, STORAGE, VMID};
use crate::schema::{Param, flag, format, int, number, text};
use crate::world::guest::Kind::{Lxc, Qemu};

const NEWID: Param = Param {
    name: "newid",
    ..VMID
};
const TARGET: Param = Param {
    name: "target",
    ..NODE
};
const FEATURE: Param = text("feature").one_of(&["snapshot", "clone", "copy"]);

/// The routes of both kinds.
pub(crate) const ROUTES: &[Route] = &[
    delete("/nodes/{node}/qemu/{vmid}", |world, call| {
        destroy::start(world, call, Qemu)
    })
    .allow(ALLOCATE)
    .proxied()
    .params(&[
        NODE,
        VMID,
        SKIPLOCK,
        flag("purge").optional(),
        flag("destroy-unreferenced-disks").optional(),
    ]),
    delete("/nodes/{node}/lxc/{vmid}", |world, call| {
        destroy::start(world, call, Lxc)
    })
    .allow(ALLOCATE)
    .proxied()
    .params(&[
        NODE,
        VMID,
        flag("force").optional(),
        flag("purge").optional(),
        flag("destroy-unreferenced-disks").optional(),
    ]),
    post("/nodes/{node}/qemu/{vmid}/clone", clone::qemu::start)
        .allow(CLONE)
        .proxied()
        .params(&[
            NODE,
            VMID,
            NEWID,
            text("name").is(format::dns_name).optional(),
            text("description").optional(),
            text("pool").is(format::pool_id).optional(),
            SNAPNAME.optional(),
            STORAGE.optional(),
            text("format").one_of(&["raw", "qcow2", "vmdk"]).optional(),
            flag("full").optional(),
            TARGET.optional(),
            int("bwlimit").min(0).optional(),
        ]),
    post("/nodes/{node}/lxc/{vmid}/clone", clone::lxc::start)
        .allow(CLONE)
        .proxied()
        .params(&[
            NODE,
            VMID,
            NEWID,
            text("hostname").is(format::dns_name).optional(),
            text("description").optional(),
            text("pool").is(format::pool_id).optional(),
            SNAPNAME.optional(),
            STORAGE.optional(),
            flag("full").optional(),
            TARGET.optional(),
            number("bwlimit").min(0).optional(),
        ]),
    get("/nodes/{node}/qemu/{vmid}/feature", |world, call| {
        feature::show(world, call, Qemu)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID, FEATURE, SNAPNAME.optional()]),
    get("/nodes/{node}/lxc/{vmid}/feature", |world, call| {
        feature::show(world, call, Lxc)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID, FEATURE, SNAPNAME.optional()]),
    get("/nodes/{node}/qemu/{vmid}/snapshot", |world, call| {
        snapshot::list(world, call, Qemu)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID]),
    get("/nodes/{node}/lxc/{vmid}/snapshot", |world, call| {
        snapshot::list(world, call, Lxc)
    })
    .allow(AUDIT)
    .proxied()
    .params(&[NODE, VMID]),
];
