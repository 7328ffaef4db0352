//! The routes whose handlers machines and containers share.

use super::clone::{self, CLONE};
use super::destroy::ALLOCATE;
use super::migrate::MIGRATE;
use super::snapshot::{ROLLBACK, SNAPSHOT};
use super::{AUDIT, destroy, feature, migrate, snapshot, template};
use crate::permission::Perm;
use crate::route::{Route, delete, get, post, put};
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

/// The keys that a machine's disks have.
const DISK: Param = text("disk").one_of(&[
    "ide0",
    "ide1",
    "ide2",
    "ide3",
    "scsi0",
    "scsi1",
    "scsi2",
    "scsi3",
    "scsi4",
    "scsi5",
    "scsi6",
    "scsi7",
    "scsi8",
    "scsi9",
    "scsi10",
    "scsi11",
    "scsi12",
    "scsi13",
    "scsi14",
    "scsi15",
    "scsi16",
    "scsi17",
    "scsi18",
    "scsi19",
    "scsi20",
    "scsi21",
    "scsi22",
    "scsi23",
    "scsi24",
    "scsi25",
    "scsi26",
    "scsi27",
    "scsi28",
    "scsi29",
    "scsi30",
    "virtio0",
    "virtio1",
    "virtio2",
    "virtio3",
    "virtio4",
    "virtio5",
    "virtio6",
    "virtio7",
    "virtio8",
    "virtio9",
    "virtio10",
    "virtio11",
    "virtio12",
    "virtio13",
    "virtio14",
    "virtio15",
    "sata0",
    "sata1",
    "sata2",
    "sata3",
    "sata4",
    "sata5",
    "efidisk0",
    "tpmstate0",
]);

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
    post("/nodes/{node}/qemu/{vmid}/snapshot", |world, call| {
        snapshot::create::start(world, call, Qemu)
    })
    .allow(SNAPSHOT)
    .proxied()
    .params(&[
        NODE,
        VMID,
        SNAPNAME,
        text("description").optional(),
        flag("vmstate").optional(),
    ]),
    post("/nodes/{node}/lxc/{vmid}/snapshot", |world, call| {
        snapshot::create::start(world, call, Lxc)
    })
    .allow(SNAPSHOT)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME, text("description").optional()]),
    get(
        "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}",
        snapshot::root,
    )
    .allow(Perm::User)
    .params(&[NODE, VMID, SNAPNAME]),
    get(
        "/nodes/{node}/lxc/{vmid}/snapshot/{snapname}",
        snapshot::root,
    )
    .allow(Perm::User)
    .params(&[NODE, VMID, SNAPNAME]),
    delete(
        "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}",
        |world, call| snapshot::remove::start(world, call, Qemu),
    )
    .allow(SNAPSHOT)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME, flag("force").optional()]),
    delete(
        "/nodes/{node}/lxc/{vmid}/snapshot/{snapname}",
        |world, call| snapshot::remove::start(world, call, Lxc),
    )
    .allow(SNAPSHOT)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME, flag("force").optional()]),
    put(
        "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config",
        |world, call| snapshot::describe(world, call, Qemu),
    )
    .allow(SNAPSHOT)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME, text("description").optional()]),
    put(
        "/nodes/{node}/lxc/{vmid}/snapshot/{snapname}/config",
        |world, call| snapshot::describe(world, call, Lxc),
    )
    .allow(SNAPSHOT)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME, text("description").optional()]),
    post(
        "/nodes/{node}/qemu/{vmid}/snapshot/{snapname}/rollback",
        |world, call| snapshot::rollback::start(world, call, Qemu),
    )
    .allow(ROLLBACK)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME, flag("start").optional()]),
    post(
        "/nodes/{node}/lxc/{vmid}/snapshot/{snapname}/rollback",
        |world, call| snapshot::rollback::start(world, call, Lxc),
    )
    .allow(ROLLBACK)
    .proxied()
    .params(&[NODE, VMID, SNAPNAME, flag("start").optional()]),
    post("/nodes/{node}/qemu/{vmid}/template", |world, call| {
        template::start(world, call, Qemu)
    })
    .allow(ALLOCATE)
    .proxied()
    .params(&[NODE, VMID, DISK.optional()]),
    post("/nodes/{node}/lxc/{vmid}/template", |world, call| {
        template::start(world, call, Lxc)
    })
    .allow(ALLOCATE)
    .proxied()
    .params(&[NODE, VMID]),
    get("/nodes/{node}/qemu/{vmid}/migrate", |world, call| {
        migrate::preconditions::show(world, call, Qemu)
    })
    .allow(MIGRATE)
    .proxied()
    .params(&[NODE, VMID, TARGET.optional()]),
    get("/nodes/{node}/lxc/{vmid}/migrate", |world, call| {
        migrate::preconditions::show(world, call, Lxc)
    })
    .allow(MIGRATE)
    .proxied()
    .params(&[NODE, VMID, TARGET.optional()]),
    post("/nodes/{node}/qemu/{vmid}/migrate", |world, call| {
        migrate::start(world, call, Qemu)
    })
    .allow(MIGRATE)
    .proxied()
    .params(&[
        NODE,
        VMID,
        TARGET,
        flag("online").optional(),
        flag("force").optional(),
        flag("with-local-disks").optional(),
        flag("with-conntrack-state").optional(),
        text("targetstorage")
            .list_of(format::storage_pair)
            .optional(),
        text("migration_type")
            .one_of(&["secure", "insecure"])
            .optional(),
        text("migration_network").optional(),
        int("bwlimit").min(0).optional(),
    ]),
    post("/nodes/{node}/lxc/{vmid}/migrate", |world, call| {
        migrate::start(world, call, Lxc)
    })
    .allow(MIGRATE)
    .proxied()
    .params(&[
        NODE,
        VMID,
        TARGET,
        flag("online").optional(),
        flag("restart").optional(),
        int("timeout").optional(),
        text("target-storage")
            .list_of(format::storage_pair)
            .optional(),
        number("bwlimit").min(0).optional(),
    ]),
];
