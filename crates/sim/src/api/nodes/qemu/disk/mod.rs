//! `resize` and `move_disk`: what happens to the disks of a machine that keeps them.

mod keys;
mod reassign;
mod relocate;

use super::drive::{Spec, is_drive};
use crate::api::nodes::guest::only_root;
use crate::api::nodes::guest::power::{in_task, spawn};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::{Perm, require};
use crate::route::{Route, post, put};
use crate::schema::common::{NODE, SKIPLOCK, VMID};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::config::{format_size, parse_size};
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use crate::world::layout::Layout;
use crate::world::work::{Job, Work};

const MAY_CHANGE: Perm = Perm::On("/vms/{vmid}", &["VM.Config.Disk"]);
const DIGEST: Param = text("digest").longest(40).optional();

/// The routes of disks.
pub const ROUTES: &[Route] = &[
    put("/nodes/{node}/qemu/{vmid}/resize", resize)
        .allow(MAY_CHANGE)
        .proxied()
        .params(&[
            NODE,
            VMID,
            SKIPLOCK,
            DIGEST,
            text("disk").one_of(keys::DRIVES),
            text("size").matching(is_growth),
        ]),
    post("/nodes/{node}/qemu/{vmid}/move_disk", move_disk)
        .allow(MAY_CHANGE)
        .proxied()
        .params(&[
            NODE,
            VMID,
            DIGEST,
            int("bwlimit").min(0).optional(),
            flag("delete").optional(),
            text("disk").one_of(keys::VOLUMES),
            text("format").one_of(&["raw", "qcow2", "vmdk"]).optional(),
            text("storage").is(format::storage_id).optional(),
            text("target-digest").longest(40).optional(),
            text("target-disk").one_of(keys::VOLUMES).optional(),
            Param {
                name: "target-vmid",
                optional: true,
                ..VMID
            },
        ]),
];

/// A size, with a plus for "more by that much".
fn is_growth(text: &str) -> bool {
    let number = text.strip_prefix('+').unwrap_or(text);
    number.starts_with(|first: char| first.is_ascii_digit())
        && !number.ends_with('.')
        && parse_size(number).is_some()
}

fn resize(world: &mut World, call: &Call) -> Reply {
    if call.flag("skiplock") {
        only_root(call, &["skiplock"])?;
    }
    let (vmid, order) = (call.vmid(), call.clone());
    let work = Work::new("resize", vmid)
        .lock(Qemu, vmid)
        .run(move |world, job| {
            grow(world, &order, job).map_err(|error| super::change::in_words_of_a_task(&error))
        });
    spawn(world, call, work)
}

fn grow(world: &mut World, call: &Call, job: &mut Job) -> Result<(), ApiError> {
    let (node, vmid, key) = (
        call.node(),
        call.vmid(),
        call.text("disk").unwrap_or_default(),
    );
    let guest = world.need_guest(Qemu, node, vmid)?;
    check_digest(
        guest,
        call.text("digest"),
        "checksum mismatch (file change by other user?)",
    )?;
    if !call.flag("skiplock") {
        guest.check_lock().map_err(ApiError::fail)?;
    }
    let (mut drive, running) = (drive_of(guest, key)?, guest.is_running());
    if drive.is_cdrom() {
        return Err(ApiError::fail("you can't resize a cdrom"));
    }
    let volid = drive.file().to_owned();
    let id = volid.split(':').next().unwrap_or_default();
    let path = format!("/storage/{id}");
    require(world, &call.who, &path, &["Datastore.AllocateSpace"])?;
    let layout = world.storage_on(node, id).map_err(ApiError::fail)?.layout();
    let Some(volume) = world.volume_mut(node, &volid) else {
        return Err(ApiError::fail(format!(
            "Could not determine current size of volume '{volid}'"
        )));
    };
    let size = call.text("size").unwrap_or_default();
    let given = parse_size(size.trim_start_matches('+')).unwrap_or_default();
    let wanted = match size.strip_prefix('+') {
        Some(_) => volume.size.saturating_add(given),
        None => given,
    };
    if wanted < volume.size {
        return Err(ApiError::fail("shrinking disks is not supported"));
    }
    if wanted == volume.size {
        return Ok(());
    }
    volume.size = wanted;
    if !running && layout == Layout::Files {
        job.log("Image resized.");
    }
    drive.set("size", &format_size(wanted));
    let value = drive.print();
    in_task(world, Qemu, node, vmid)
        .map_err(ApiError::fail)?
        .config
        .set(key, value);
    Ok(())
}

/// The drive of a key that must be there.
fn drive_of(guest: &Guest, key: &str) -> Result<Spec, ApiError> {
    let drive = guest
        .config
        .get(key)
        .and_then(|value| Spec::parse(key, value));
    drive.ok_or_else(|| ApiError::fail(format!("disk '{key}' does not exist")))
}

fn check_digest(guest: &Guest, digest: Option<&str>, text: &str) -> Result<(), ApiError> {
    match digest.filter(|digest| !digest.is_empty()) {
        Some(digest) if digest != guest.digest() => Err(ApiError::fail(text)),
        _ => Ok(()),
    }
}

fn move_disk(world: &mut World, call: &Call) -> Reply {
    match (call.text("storage"), call.int("target-vmid")) {
        (Some(_), Some(_)) => both("either set 'storage' or 'target-vmid', but not both"),
        (Some(storage), None) => relocate::start(world, call, storage),
        (None, Some(target)) => {
            reassign::start(world, call, u32::try_from(target).unwrap_or_default())
        }
        (None, None) => both("both 'storage' and 'target-vmid' missing, either needs to be set"),
    }
}

fn both(text: &str) -> Reply {
    let names = ["storage", "target-vmid"];
    Err(ApiError::params(
        names.map(|name| (name.to_owned(), text.to_owned())),
    ))
}

/// Whether a snapshot needs the volume.
fn in_snapshots(guest: &Guest, volid: &str) -> bool {
    let snapshots = guest.snapshots.iter();
    snapshots
        .flat_map(|snapshot| snapshot.config.drives())
        .any(|drive| drive.volume == volid)
}

/// Whether a key is `unused0`, `unused1`, ...
fn is_unused(key: &str) -> bool {
    key.starts_with("unused") && !is_drive(key)
}
