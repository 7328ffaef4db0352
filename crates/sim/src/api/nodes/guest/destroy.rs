//! `DELETE` of a guest.

use crate::api::nodes::guest::only_root;
use crate::api::nodes::guest::power::{in_task, spawn, stop_now, work};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::world::World;
use crate::world::guest::{Guest, Kind};
use crate::world::ha::service_id;
use crate::world::work::Job;

/// May make and remove the guest.
pub(super) const ALLOCATE: Perm = Perm::On("/vms/{vmid}", &["VM.Allocate"]);

/// What a request asks for beside the guest's own end.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the request"
)]
struct Order {
    kind: Kind,
    node: String,
    vmid: u32,
    purge: bool,
    unreferenced: bool,
    /// Stop a running container first.
    force: bool,
    skiplock: bool,
}

/// `DELETE` of a machine or container.
pub(super) fn start(world: &mut World, call: &Call, kind: Kind) -> Reply {
    only_root(call, &["skiplock"])?;
    let order = Order {
        kind,
        node: call.node().to_owned(),
        vmid: call.vmid(),
        purge: call.flag("purge"),
        unreferenced: call.flag("destroy-unreferenced-disks"),
        force: call.flag("force"),
        skiplock: call.flag("skiplock"),
    };
    let guest = world.need_guest(kind, &order.node, order.vmid)?;
    check(world, guest, &order).map_err(ApiError::fail)?;
    let work = work(kind, "destroy", order.vmid)
        .wait(1)
        .run(move |world, job| destroy(world, job, &order));
    spawn(world, call, work)
}

/// The checks that are made before the task and again in it. A machine's lock is looked at only there.
fn check(world: &World, guest: &Guest, order: &Order) -> Result<(), String> {
    let (label, vmid) = (guest.kind.label(), guest.vmid);
    if guest.config.flag("protection") {
        return Err(format!(
            "can't remove {label} {vmid} - protection mode enabled"
        ));
    }
    if guest.kind == Kind::Lxc {
        guest.check_lock()?;
    }
    if !order.purge {
        if world
            .ha_resources
            .contains_key(&service_id(guest.kind, vmid))
        {
            return Err(format!(
                "unable to remove {label} {vmid} - used in HA resources and purge parameter not set."
            ));
        }
        if let Some(job) = world.replication_of(vmid) {
            return Err(format!(
                "There is a replication job '{job}' for guest '{vmid}' - Please remove that first."
            ));
        }
    }
    match guest.kind {
        Kind::Qemu if guest.is_running() => Err(format!("VM {vmid} is running - destroy failed")),
        Kind::Lxc if guest.is_running() && !order.force => Err(format!(
            "unable to destroy CT {vmid} - container is running"
        )),
        _ => Ok(()),
    }
}

fn destroy(world: &mut World, job: &mut Job, order: &Order) -> Result<(), String> {
    let (kind, node, vmid) = (order.kind, order.node.as_str(), order.vmid);
    let guest = in_task(world, kind, node, vmid)?.clone();
    check(world, &guest, order)?;
    if kind == Kind::Lxc && guest.is_running() {
        job.log(format!("forced to stop CT {vmid} before destroying!"));
        stop_now(world, kind, node, vmid)?;
    }
    if kind == Kind::Qemu {
        if !order.skiplock && guest.config.get("lock") != Some("suspended") {
            guest.check_lock()?;
        }
        check_linked_clones(world, &guest)?;
    }
    remove_volumes(world, job, &guest, order)?;
    world.may_write_config(kind, node, vmid)?;
    world.forget_guest_access(vmid);
    if order.purge {
        let label = kind.label();
        job.log(format!(
            "purging {label} {vmid} from related configurations.."
        ));
        world.purge_jobs(vmid);
        if world.purge_ha(kind, vmid) {
            job.log(format!(
                "NOTE: removed {label} {vmid} from HA resource configuration."
            ));
        }
    }
    world.guests.remove(&vmid);
    Ok(())
}

/// A template whose disks others build on stays.
fn check_linked_clones(world: &World, guest: &Guest) -> Result<(), String> {
    if !guest.is_template() {
        return Ok(());
    }
    let mut disks = guest.config.drives().filter(|drive| !drive.is_cdrom());
    match disks.find(|drive| world.is_base_in_use(drive.volume)) {
        Some(drive) => Err(format!(
            "base volume '{}' is still in use by linked cloned",
            drive.volume
        )),
        None => Ok(()),
    }
}

/// Removes the guest's volumes. One that cannot go keeps a container alive, and is only a warning for a machine.
fn remove_volumes(
    world: &mut World,
    job: &mut Job,
    guest: &Guest,
    order: &Order,
) -> Result<(), String> {
    for volid in world.volumes_to_remove(guest) {
        match (world.free_volume(&order.node, &volid), order.kind) {
            (Err(error), Kind::Lxc) => return Err(error),
            (Err(error), Kind::Qemu) => {
                job.warn(format!(
                    "Could not remove disk '{volid}', check manually: {error}"
                ));
            }
            (Ok(_), _) => {}
        }
    }
    if order.unreferenced {
        for volid in world.volumes_of_id(&order.node, order.vmid) {
            if let Err(error) = world.free_volume(&order.node, &volid) {
                job.warn(error);
            }
        }
    }
    Ok(())
}
