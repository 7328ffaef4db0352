//! `DELETE snapshot/{snapname}`.

use super::Order;
use crate::api::nodes::guest::power::{in_task, spawn, work};
use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::guest::{Guest, Kind};
use crate::world::layout::Layout;
use crate::world::work::Job;

/// `DELETE snapshot/{snapname}`. Everything that can be wrong shows in the task.
pub(in super::super) fn start(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let order = Order::read(call, kind);
    let work =
        work(kind, "delsnapshot", order.vmid).run(move |world, job| prepare(world, job, order));
    spawn(world, call, work)
}

fn prepare(world: &mut World, job: &mut Job, order: Order) -> Result<(), String> {
    let guest = in_task(world, order.kind, &order.node, order.vmid)?;
    let at = guest
        .snapshots
        .iter()
        .position(|snapshot| snapshot.name == order.name);
    let at = at.ok_or_else(|| order.missing())?;
    guest.check_lock()?;
    if guest.is_template() {
        return Err("you can't delete a snapshot if vm is a template".to_owned());
    }
    world.may_write_config(order.kind, &order.node, order.vmid)?;
    let guest = in_task(world, order.kind, &order.node, order.vmid)?;
    guest.config.set("lock", "snapshot-delete");
    guest.snapshots[at].state = Some("delete");
    job.unlock();
    job.wait(1);
    job.then(move |world, job| finish(world, job, &order));
    Ok(())
}

fn finish(world: &mut World, job: &mut Job, order: &Order) -> Result<(), String> {
    let guest = in_task(world, order.kind, &order.node, order.vmid)?;
    let at = guest
        .snapshots
        .iter()
        .position(|snapshot| snapshot.name == order.name);
    let removed = guest.snapshots.remove(at.ok_or_else(|| order.missing())?);
    pass_on_parent(guest, &order.name, removed.parent.as_deref());
    guest.config.remove("lock");
    let disks: Vec<String> = removed
        .config
        .drives()
        .filter(|drive| !drive.is_cdrom() && drive.storage().is_some())
        .map(|drive| drive.volume.to_owned())
        .collect();
    for volid in &disks {
        guest.add_unused(volid);
    }
    if let Some(state) = removed.vmstate {
        world.volumes.retain(|volume| volume.volid != state);
    }
    for volid in disks {
        let (id, file) = volid.split_once(':').unwrap_or_default();
        let storage = world.storages.get(id);
        if storage.is_some_and(|storage| storage.layout() == Layout::LvmThin) {
            job.log(format!(
                "  Logical volume \"snap_{file}_{}\" successfully removed.",
                order.name
            ));
        }
    }
    Ok(())
}

/// What came after the removed snapshot now comes after the one before it.
fn pass_on_parent(guest: &mut Guest, removed: &str, parent: Option<&str>) {
    for snapshot in &mut guest.snapshots {
        if snapshot.parent.as_deref() == Some(removed) {
            snapshot.parent = parent.map(str::to_owned);
        }
    }
    if guest.config.get("parent") == Some(removed) {
        match parent {
            Some(parent) => guest.config.set("parent", parent),
            None => {
                guest.config.remove("parent");
            }
        }
    }
}
