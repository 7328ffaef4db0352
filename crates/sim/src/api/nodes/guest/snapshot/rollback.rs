//! `POST snapshot/{snapname}/rollback`.

use super::Order;
use crate::api::nodes::guest::power::{check_start, in_task, spawn, start_now, stop_now, work};
use crate::call::{Call, Identity};
use crate::error::Reply;
use crate::world::World;
use crate::world::config::Config;
use crate::world::guest::{Guest, Kind, Snapshot};
use crate::world::layout::Layout;
use crate::world::work::Job;

/// What a snapshot with RAM notes about the machine that ran, and the guest has no use for.
const OF_THE_RUN: &[&str] = &["runningmachine", "runningcpu", "running-nets-host-mtu"];

/// `POST snapshot/{snapname}/rollback`. Everything that can be wrong shows in the task.
pub(in super::super) fn start(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let order = Order::read(call, kind);
    let starter = call.flag("start").then(|| call.who.clone());
    let work = work(kind, "rollback", order.vmid)
        .run(move |world, job| prepare(world, job, order, starter));
    spawn(world, call, work)
}

fn prepare(
    world: &mut World,
    job: &mut Job,
    order: Order,
    starter: Option<Identity>,
) -> Result<(), String> {
    let (kind, vmid) = (order.kind, order.vmid);
    let guest = in_task(world, kind, &order.node, vmid)?.clone();
    if guest.is_template() {
        return Err("you can't rollback if vm is a template".to_owned());
    }
    let snapshot = guest.snapshot(&order.name).ok_or_else(|| order.missing())?;
    check_latest(world, &guest, snapshot)?;
    if let Some(state) = snapshot.state {
        return Err(format!(
            "unable to rollback to incomplete snapshot (snapstate = {state})"
        ));
    }
    guest.check_lock()?;
    world.may_write_config(kind, &order.node, vmid)?;
    stop_now(world, kind, &order.node, vmid)?;
    let guest = in_task(world, kind, &order.node, vmid)?;
    guest.config.set("lock", "rollback");
    job.wait(1);
    job.then(move |world, job| apply(world, job, &order, starter));
    Ok(())
}

/// ZFS goes back to the newest snapshot of a disk only.
fn check_latest(world: &World, guest: &Guest, snapshot: &Snapshot) -> Result<(), String> {
    let disks = snapshot.config.drives().filter(|drive| !drive.is_cdrom());
    for drive in disks {
        let storage = drive.storage().and_then(|id| world.storages.get(id));
        if !storage.is_some_and(|storage| storage.layout() == Layout::Zfs) {
            continue;
        }
        let has = |config: &Config| config.drives().any(|other| other.volume == drive.volume);
        let newest = guest.snapshots.iter().rfind(|other| has(&other.config));
        if newest.is_some_and(|newest| newest.name != snapshot.name) {
            return Err(format!(
                "can't rollback, '{}' is not most recent snapshot on '{}'",
                snapshot.name, drive.volume
            ));
        }
    }
    Ok(())
}

/// Puts the old config in place of today's, of which only the notes and unused disks stay.
fn apply(
    world: &mut World,
    job: &mut Job,
    order: &Order,
    starter: Option<Identity>,
) -> Result<(), String> {
    let (kind, vmid, new_id) = (order.kind, order.vmid, world.new_uuid());
    let guest = in_task(world, kind, &order.node, vmid)?;
    let then = guest.snapshot(&order.name).cloned();
    let then = then.ok_or_else(|| order.missing())?;
    let today = std::mem::replace(&mut guest.config, then.config.clone());
    let stays = |key: &str| key == "description" || key.starts_with("unused");
    for (key, value) in today.iter().filter(|(key, _)| stays(key)) {
        guest.config.set(key, value);
    }
    for key in OF_THE_RUN {
        guest.config.remove(key);
    }
    guest.config.set("parent", &order.name);
    if guest.config.get("vmgenid").is_some() {
        guest.config.set("vmgenid", new_id);
    }
    guest.pending.clear();
    for drive in today.drives().filter(|drive| !drive.is_cdrom()) {
        guest.add_unused(drive.volume);
    }
    resize_back(world, &order.node, &then.config);
    if then.vmstate.is_some() {
        wake(job, &then.config);
        return start_now(world, kind, &order.node, vmid);
    }
    if let Some(who) = starter {
        let node = order.node.clone();
        let task = work(kind, "start", vmid)
            .run(move |world, _| check_start(in_task(world, kind, &node, vmid)?))
            .wait(1);
        let node = order.node.clone();
        let task = task.run(move |world, _| start_now(world, kind, &node, vmid));
        world.start_task(&who, &order.node, task);
    }
    Ok(())
}

/// What the start of a machine with saved RAM says.
fn wake(job: &mut Job, config: &Config) {
    if config
        .drives()
        .any(|drive| drive.volume.contains("cloudinit"))
    {
        job.log("generating cloud-init ISO");
    }
    let mtus = config.get("running-nets-host-mtu").into_iter();
    for (device, mtu) in mtus
        .flat_map(|list| list.split(','))
        .filter_map(|net| net.split_once('='))
    {
        job.log(format!(
            "netdev {device}: using 'host_mtu={mtu}' for migration compat"
        ));
    }
}

/// Disks have the sizes of that time again.
fn resize_back(world: &mut World, node: &str, config: &Config) {
    for drive in config.drives().filter(|drive| drive.size() > 0) {
        if let Some(volume) = world.volume_mut(node, drive.volume) {
            volume.size = drive.size();
            volume.used = volume.used.min(volume.size);
        }
    }
}
