//! `PUT` and `POST config`, and `unlink`: a change is checked (`request`, `rights`, `disks`), written down as
//! pending (`apply`, `images`), and what can be done at once is done (`plug`).

mod apply;
pub(super) mod disks;
pub(super) mod images;
mod plug;
pub(super) mod request;
pub(super) mod rights;

use super::options::OPTIONS;
use crate::api::nodes::guest::free_now;
use crate::api::nodes::guest::power::{spawn, work};
use crate::api::nodes::guest::progress::seconds_to_copy;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, post, put};
use crate::schema::common::{NODE, SKIPLOCK, VMID};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use request::Change;

const MAY_CHANGE: Perm = Perm::AnyOn(
    "/vms/{vmid}",
    &[
        "VM.Config.Disk",
        "VM.Config.CDROM",
        "VM.Config.CPU",
        "VM.Config.Memory",
        "VM.Config.Network",
        "VM.Config.HWType",
        "VM.Config.Options",
        "VM.Config.Cloudinit",
    ],
);
const DELETE: Param = text("delete").list_of(format::config_id).optional();
const REVERT: Param = text("revert").list_of(format::config_id).optional();
const FORCE: Param = flag("force").requires("delete").optional();
const DIGEST: Param = text("digest").longest(40).optional();

/// The routes that change a config.
pub const ROUTES: &[Route] = &[
    put("/nodes/{node}/qemu/{vmid}/config", update)
        .allow(MAY_CHANGE)
        .proxied()
        .params(&[NODE, VMID, DELETE, REVERT, FORCE, DIGEST, SKIPLOCK])
        .and(OPTIONS),
    post("/nodes/{node}/qemu/{vmid}/config", update_in_task)
        .allow(MAY_CHANGE)
        .proxied()
        .params(&[
            NODE,
            VMID,
            DELETE,
            REVERT,
            FORCE,
            DIGEST,
            SKIPLOCK,
            int("background_delay").min(1).max(30).optional(),
            text("import-working-storage")
                .is(format::storage_id)
                .optional(),
        ])
        .and(OPTIONS),
    put("/nodes/{node}/qemu/{vmid}/unlink", unlink)
        .allow(Perm::On("/vms/{vmid}", &["VM.Config.Disk"]))
        .proxied()
        .params(&[
            NODE,
            VMID,
            text("idlist").list_of(format::config_id),
            flag("force").optional(),
        ]),
];

fn update(world: &mut World, call: &Call) -> Reply {
    let mut change = Change::of(world, call)?;
    let guest = lock(world, call, &change)?;
    change.check_against(guest)?;
    apply::run(world, call.node(), call.vmid(), &change, &mut Vec::new())?;
    done()
}

fn update_in_task(world: &mut World, call: &Call) -> Reply {
    let mut change = Change::of(world, call)?;
    let guest = lock(world, call, &change)?;
    change.check_against(guest)?;
    let (node, vmid) = (call.node().to_owned(), call.vmid());
    let seconds = match images::bytes_to_import(world, &node, &change.set) {
        0 => 0,
        bytes => seconds_to_copy(bytes),
    };
    let work = work(Qemu, "config", vmid).log(&change.line).wait(seconds);
    let work = work.run(move |world, job| {
        let mut log = Vec::new();
        let result = apply::run(world, &node, vmid, &change, &mut log);
        for line in log {
            job.log(line);
        }
        result.map_err(|error| in_words_of_a_task(&error))
    });
    let upid = spawn(world, call, work)?;
    // Whoever waits longer than the task takes hears nothing of it.
    match call.int("background_delay") {
        Some(delay) if seconds < delay => done(),
        _ => Ok(upid),
    }
}

/// Detaches disks: the same as deleting them from the config.
fn unlink(world: &mut World, call: &Call) -> Reply {
    let mut call = call.clone();
    if let Some(list) = call.params.remove("idlist") {
        call.params.set("delete", list);
    }
    update(world, &call)
}

/// The machine, if nobody else holds it and it is the one the caller thinks it is.
fn lock<'w>(world: &'w World, call: &Call, change: &Change) -> Result<&'w Guest, ApiError> {
    free_now(world, Qemu, call.vmid())?;
    let guest = world.need_guest(Qemu, call.node(), call.vmid())?;
    match &change.digest {
        Some(digest) if *digest != guest.digest() => Err(ApiError::fail(
            "checksum mismatch (file change by other user?)",
        )),
        _ => Ok(guest),
    }
}

/// An error as the status of a task: with its number unless it is 500, on one line.
pub(super) fn in_words_of_a_task(error: &ApiError) -> String {
    let details = error.errors.iter();
    let details = details.map(|(name, text)| format!(" {name}: {}", text.trim_end()));
    match error.status {
        500 => error.message.clone(),
        status => format!("{status} {}{}", error.message, details.collect::<String>()),
    }
}
