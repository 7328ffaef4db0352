//! `POST move_volume`: a container's volume moves to another storage, or to another container.

use super::resize::volume_of;
use super::update::check_digest;
use super::volumes::{self, is_unused_key, written};
use crate::api::nodes::guest::disk::hand_over;
use crate::api::nodes::guest::free_now;
use crate::api::nodes::guest::power::{in_task, spawn};
use crate::api::nodes::guest::progress::seconds_to_copy;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Lxc;
use crate::world::work::Work;

/// `POST move_volume`.
pub(super) fn start(world: &mut World, call: &Call) -> Reply {
    match (call.text("storage"), call.int("target-vmid")) {
        (Some(_), Some(_)) => Err(ApiError::fail(
            "either set storage or target-vmid, but not both",
        )),
        (Some(storage), None) => to_storage(world, call, storage),
        (None, Some(target)) => {
            to_container(world, call, u32::try_from(target).unwrap_or_default())
        }
        (None, None) => {
            let text = "both 'storage' and 'target-vmid' missing, either needs to be set";
            let names = ["storage", "target-vmid"];
            Err(ApiError::params(
                names.map(|name| (name.to_owned(), text.to_owned())),
            ))
        }
    }
}

fn to_storage(world: &mut World, call: &Call, storage: &str) -> Reply {
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let key = call.text("volume").unwrap_or_default().to_owned();
    require(
        world,
        &call.who,
        &format!("/storage/{storage}"),
        &["Datastore.AllocateSpace"],
    )?;
    let old = check_source(world, call, &key)?;
    if let Some(guest) = world.guest_mut(Lxc, &node, vmid) {
        guest.config.set("lock", "disk");
    }
    let (storage, delete) = (storage.to_owned(), call.flag("delete"));
    let unlock = node.clone();
    let work = Work::new("move_volume", vmid)
        .lock(Lxc, vmid)
        .undo("interrupted by signal", move |world| {
            if let Some(guest) = world.guest_mut(Lxc, &unlock, vmid) {
                guest.config.remove("lock");
            }
        })
        .run(move |world, job| {
            let source = world.volume(&node, &old);
            let (size, used) = source.map_or((0, 0), |volume| (volume.size, volume.used));
            let mut log = Vec::new();
            let new = volumes::make(world, &node, vmid, &storage, size, &mut log)?;
            for line in log {
                job.log(line);
            }
            job.wait(seconds_to_copy(used));
            job.log(format!("Total file size: {used} bytes"));
            job.log(format!("total size is {used}  speedup is 1.00"));
            job.then(move |world, _| {
                if let Some(volume) = world.volume_mut(&node, &new) {
                    volume.used = used;
                }
                let guest = in_task(world, Lxc, &node, vmid)?;
                let value = guest.config.get(&key).unwrap_or_default();
                let value = written(&key, value, &new, Some(size));
                guest.config.set(key, value);
                guest.config.remove("lock");
                if delete {
                    world.free_volume(&node, &old)?;
                } else {
                    guest.config.add_unused(&old);
                }
                Ok(())
            });
            Ok(())
        });
    spawn(world, call, work)
}

/// Answers the volume to move.
fn check_source(world: &World, call: &Call, key: &str) -> Result<String, ApiError> {
    let vmid = call.vmid();
    free_now(world, Lxc, vmid)?;
    let guest = world.need_guest(Lxc, call.node(), vmid)?;
    guest.check_lock().map_err(ApiError::fail)?;
    if guest.is_running() {
        return Err(ApiError::fail("cannot move volumes of a running container"));
    }
    if is_unused_key(key) {
        return Err(ApiError::fail(format!(
            "cannot move volume '{key}', only configured volumes can be moved to another storage"
        )));
    }
    let volid = volume_of(guest, key)?;
    if call.flag("delete") && in_snapshots(guest, &volid) {
        return Err(ApiError::fail(
            "you can't move a volume with snapshots and delete the source",
        ));
    }
    check_digest(guest, call)?;
    Ok(volid)
}

fn in_snapshots(guest: &Guest, volid: &str) -> bool {
    let mut drives = guest
        .snapshots
        .iter()
        .flat_map(|snapshot| snapshot.config.drives());
    drives.any(|drive| drive.volume == volid)
}

fn to_container(world: &mut World, call: &Call, target: u32) -> Reply {
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let key = call.text("volume").unwrap_or_default().to_owned();
    let target_key = call.text("target-volume").unwrap_or(&key).to_owned();
    if !call.who.is_root() {
        require(
            world,
            &call.who,
            &format!("/vms/{target}"),
            &["VM.Config.Disk"],
        )?;
    }
    let old = check_reassign(world, &node, (vmid, &key), (target, &target_key))
        .map_err(ApiError::fail)?;
    let id = old.split(':').next().unwrap_or_default();
    require(
        world,
        &call.who,
        &format!("/storage/{id}"),
        &["Datastore.AllocateSpace"],
    )?;
    let work = Work::new("move_volume", format!("{vmid}-{key}>{target}-{target_key}"))
        .lock(Lxc, vmid)
        .run(move |world, job| {
            let old = check_reassign(world, &node, (vmid, &key), (target, &target_key))?;
            job.log(format!(
                "moving volume '{key}' from container '{vmid}' to '{target}'"
            ));
            let new = hand_over(world, &node, &old, target)?;
            job.log(format!(
                "removing volume '{key}' from container '{vmid}' config"
            ));
            let value = in_task(world, Lxc, &node, vmid)?
                .config
                .remove(&key)
                .unwrap_or_default();
            let value = if is_unused_key(&target_key) {
                new
            } else {
                written(&target_key, &value, &new, None)
            };
            let guest = in_task(world, Lxc, &node, target)?;
            guest.config.set(&target_key, value);
            job.log(format!(
                "target container '{target}' updated with '{target_key}'"
            ));
            Ok(())
        });
    spawn(world, call, work)
}

/// Whether the volume may go to the other container; answers it.
fn check_reassign(
    world: &World,
    node: &str,
    (vmid, key): (u32, &str),
    (target, target_key): (u32, &str),
) -> Result<String, String> {
    if key == "rootfs" || target_key == "rootfs" {
        return Err("Cannot move to/from 'rootfs'".to_owned());
    }
    if is_unused_key(key) && !is_unused_key(target_key) {
        return Err("Moving an unused volume to a used one is not possible".to_owned());
    }
    let find = |vmid: u32| {
        world
            .guests
            .get(&vmid)
            .ok_or_else(|| format!("could not find CT {vmid}"))
    };
    let (source, other) = (find(vmid)?, find(target)?);
    if source.node != other.node {
        return Err(format!(
            "Both containers need to be on the same node ({} != {})",
            source.node, other.node
        ));
    }
    for guest in [vmid, target] {
        let guest = world
            .need_guest(Lxc, node, guest)
            .map_err(|error| error.message)?;
        guest.check_lock()?;
        if guest.is_template() {
            return Err("Can't move volumes from or to template CT".to_owned());
        }
    }
    if source.config.get(key).is_none() {
        return Err(format!(
            "volume '{key}' for container '{vmid}' does not exist"
        ));
    }
    if other.config.get(target_key).is_some() {
        return Err(format!(
            "Target volume key '{target_key}' is already in use for container '{target}'"
        ));
    }
    let volid = volume_of(source, key)
        .map_err(|_| "Cannot move a bindmount or device mount to another container".to_owned())?;
    if in_snapshots(source, &volid) {
        return Err("Cannot move volume used by a snapshot to another container".to_owned());
    }
    if source.is_running() && !is_unused_key(key) {
        let text =
            "Cannot move in-use volume while the source CT is running - detach or shutdown first";
        return Err(text.to_owned());
    }
    Ok(volid)
}
