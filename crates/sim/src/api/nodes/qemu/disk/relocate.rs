//! A disk moves to another storage, or to another format.

use super::{check_digest, drive_of, in_snapshots};
use crate::api::nodes::guest::disk::{self, NewDisk};
use crate::api::nodes::guest::power::{in_task, spawn, work};
use crate::api::nodes::guest::progress::{seconds_to_copy, transferred};
use crate::api::nodes::qemu::drive::Spec;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::world::World;
use crate::world::config::{format_size, property};
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use crate::world::work::Job;

const CHANGED: &str = "detected modified configuration - file changed by other user? Try again.";

/// A disk on its way.
#[derive(Clone, Debug)]
struct Journey {
    call: Call,
    key: String,
    storage: String,
    drive: Spec,
    running: bool,
    snapshots: bool,
}

pub(super) fn start(world: &mut World, call: &Call, storage: &str) -> Reply {
    let path = format!("/storage/{storage}");
    require(world, &call.who, &path, &["Datastore.AllocateSpace"])?;
    check(world, call, storage)?;
    let (order, storage) = (call.clone(), storage.to_owned());
    let work = work(Qemu, "move", call.vmid()).run(move |world, job| {
        let journey = check(world, &order, &storage).map_err(|error| error.message)?;
        set_out(world, journey, job).map_err(|text| format!("storage migration failed: {text}"))
    });
    spawn(world, call, work)
}

/// Everything is checked before the task, and in it again.
fn check(world: &World, call: &Call, storage: &str) -> Result<Journey, ApiError> {
    let fail = |text: &str| Err(ApiError::fail(text));
    let key = call.text("disk").unwrap_or_default();
    let guest = world.need_guest(Qemu, call.node(), call.vmid())?;
    guest.check_lock().map_err(ApiError::fail)?;
    check_digest(guest, call.text("digest"), CHANGED)?;
    let drive = drive_of(guest, key)?;
    if drive.is_cdrom() && !drive.is_cloudinit() {
        return fail("you can't move a cdrom");
    }
    let name = world.parse_volid(drive.file()).map_err(ApiError::fail)?;
    let same_storage = drive.file().split(':').next() == Some(storage);
    if same_storage
        && call
            .text("format")
            .is_none_or(|format| format == name.format)
    {
        return fail("you can't move to the same storage with same format");
    }
    let target = world.storage_on(call.node(), storage);
    if !target.map_err(ApiError::fail)?.holds("images") {
        let text = format!("storage '{storage}' does not support vm images");
        return Err(ApiError::param("storage", text));
    }
    let snapshots = in_snapshots(guest, drive.file());
    if snapshots && call.flag("delete") {
        return fail("you can't move a disk with snapshots and delete the source");
    }
    Ok(Journey {
        call: call.clone(),
        key: key.to_owned(),
        storage: storage.to_owned(),
        drive,
        running: guest.is_running(),
        snapshots,
    })
}

/// Makes the new image and copies.
fn set_out(world: &mut World, journey: Journey, job: &mut Job) -> Result<(), String> {
    let (node, vmid) = (journey.call.node().to_owned(), journey.call.vmid());
    let (key, old) = (journey.key.clone(), journey.drive.file().to_owned());
    if journey.running && key == "tpmstate0" {
        return Err("cannot move TPM state while VM is running".to_owned());
    }
    let from = old.split(':').next().unwrap_or_default();
    let to = &journey.storage;
    job.log(format!(
        "copying volume '{old}' from current storage '{from}' to target storage '{to}'"
    ));
    if journey.snapshots {
        job.log("moving disk with snapshots, snapshots will not be moved!");
    }
    job.log(format!("create full clone of drive {key} ({old})"));
    let Some(source) = world.volume(&node, &old) else {
        return Err(format!("volume '{old}' does not exist"));
    };
    let (size, used) = (source.size, source.used);
    let format = journey.call.text("format").unwrap_or(&source.format);
    let image = NewDisk {
        kind: Qemu,
        vmid,
        storage: to.clone(),
        format: Some(format.to_owned()),
        size,
        used,
        stem: journey
            .drive
            .is_cloudinit()
            .then(|| format!("vm-{vmid}-cloudinit")),
    };
    let (new, line) = disk::allocate(world, &node, &image)?;
    if let Some(line) = line {
        job.log(line);
    }
    job.log(format!("allocated target volume '{new}'"));
    if !journey.drive.is_cloudinit() {
        copy(job, &key, size, journey.running);
    }
    job.then(move |world, job| arrive(world, &journey, &new, size, job));
    Ok(())
}

/// A stopped machine's disk is copied, a running one's is mirrored.
fn copy(job: &mut Job, key: &str, size: u64, running: bool) {
    let seconds = seconds_to_copy(size);
    if running {
        job.log(format!("drive mirror is starting for drive-{key}"));
    }
    for moment in 0..=seconds {
        let done = u64::try_from(u128::from(size) * u128::from(moment) / u128::from(seconds))
            .unwrap_or(size);
        if moment > 0 {
            job.wait(1);
        }
        let line = transferred(done, size);
        job.log(if running {
            format!("drive-{key}: {line} in {moment}s")
        } else {
            line
        });
    }
    if running {
        job.log(format!("drive-{key}: Completing block job"));
        job.log(format!("drive-{key}: Completed successfully."));
    } else {
        job.log(transferred(size, size));
    }
}

/// The config names the new image, and the old one goes or is kept as unused.
fn arrive(
    world: &mut World,
    journey: &Journey,
    new: &str,
    size: u64,
    job: &mut Job,
) -> Result<(), String> {
    let (node, vmid) = (journey.call.node(), journey.call.vmid());
    let old = journey.drive.file().to_owned();
    let mut drive = journey.drive.clone();
    drive.set("file", new);
    drive.set("size", &format_size(size));
    let guest = in_task(world, Qemu, node, vmid)?;
    guest.config.set(&journey.key, drive.print());
    let cloudinit = journey.drive.is_cloudinit();
    if cloudinit {
        job.log(format!("found unused cloudinit disk '{old}', removing it"));
    } else if journey.call.flag("delete") {
        job.log(format!(
            "removing source volume '{old}' after successful copy"
        ));
    } else {
        guest.config.add_unused(&old);
        let slot = unused_key(guest, &old);
        job.log(format!(
            "adding source volume '{old}' as '{slot}' to config"
        ));
    }
    trim(guest, job);
    if cloudinit || journey.call.flag("delete") {
        world.free_volume(node, &old)?;
    }
    Ok(())
}

fn unused_key(guest: &Guest, volid: &str) -> String {
    let mut drives = guest.config.drives();
    let slot = drives.find(|drive| drive.key.starts_with("unused") && drive.volume == volid);
    slot.map(|drive| drive.key.to_owned()).unwrap_or_default()
}

/// The agent is asked to trim the moved disk, if the config wants that.
fn trim(guest: &Guest, job: &mut Job) {
    let agent = guest.config.get("agent").unwrap_or_default();
    let wanted = guest.agent_enabled() && property(agent, "fstrim_cloned_disks") == Some("1");
    if guest.is_running() && wanted && !guest.inside.agent {
        job.log(format!(
            "QEMU Guest Agent is not running - VM {} qga command 'guest-ping' failed - got timeout",
            guest.vmid
        ));
    }
}
