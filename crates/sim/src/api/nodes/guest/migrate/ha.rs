//! Migrations that HA makes. A request to it is only queued, and HA acts a little later in tasks of its own.

use super::Order;
use super::StorageMap;
use crate::api::nodes::guest::power::{self, spawn};
use crate::call::{Call, Identity};
use crate::error::Reply;
use crate::world::World;
use crate::world::guest::Kind;
use crate::world::ha::service_id;
use crate::world::work::Work;

impl Order {
    /// What HA would do with a guest: a machine moves while it runs and takes its disks along, a container is restarted.
    fn of_ha(world: &World, vmid: u32, target: &str) -> Option<Self> {
        let guest = world.guests.get(&vmid)?;
        Some(Self {
            kind: guest.kind,
            node: guest.node.clone(),
            vmid,
            target: target.to_owned(),
            online: guest.kind == Kind::Qemu,
            restart: guest.kind == Kind::Lxc,
            local_disks: true,
            storages: StorageMap::default(),
        })
    }
}

/// The request to HA in place of the migration: its task ends once the request is queued, and HA acts a little later.
pub(super) fn ask(world: &mut World, call: &Call, order: Order) -> Reply {
    let (label, vmid, target) = (order.kind.label(), order.vmid, order.target.clone());
    let work = Work::new("hamigrate", vmid)
        .log(format!(
            "Requesting HA migration for {label} {vmid} to node {target}"
        ))
        .wait(1)
        .run(move |world, _| {
            by_ha(world, &order);
            Ok(())
        });
    spawn(world, call, work)
}

/// Lets HA move a guest that it manages: a machine while it runs, a container with a restart.
pub(crate) fn move_by_ha(world: &mut World, vmid: u32, target: &str) {
    if let Some(order) = Order::of_ha(world, vmid, target) {
        by_ha(world, &order);
    }
}

/// Lets HA stop a guest that it manages, move it, and start it again if it shall run.
pub(crate) fn relocate_by_ha(world: &mut World, vmid: u32, target: &str) {
    let Some(order) = Order::of_ha(world, vmid, target) else {
        return;
    };
    if world.ha_frozen || order.node == order.target {
        return;
    }
    let (kind, node) = (order.kind, order.node.clone());
    let stop = power::work(kind, "stop", vmid).wait(5).run({
        let node = node.clone();
        move |world, _| {
            power::stop_now(world, kind, &node, vmid)?;
            let work = order.work().run(move |world, _| {
                power::follow_ha(world, kind, vmid);
                Ok(())
            });
            world.start_task(&Identity::user("root@pam"), &node, work);
            Ok(())
        }
    });
    world.start_task(&Identity::user("root@pam"), &node, stop);
}

/// HA keeps apart what its rules keep apart, and then does nothing; what they keep together moves along.
fn by_ha(world: &mut World, order: &Order) {
    let motion = world.ha_motion(&service_id(order.kind, order.vmid));
    if world.ha_frozen || motion.apart.contains_key(&order.target) {
        return;
    }
    let along = motion.together.iter().filter_map(|sid| sid.split_once(':'));
    let vmids: Vec<u32> = along.filter_map(|(_, id)| id.parse().ok()).collect();
    for vmid in [order.vmid].into_iter().chain(vmids) {
        let Some(order) = Order::of_ha(world, vmid, &order.target) else {
            continue;
        };
        if order.node != order.target {
            let node = order.node.clone();
            world.start_task(&Identity::user("root@pam"), &node, order.work());
        }
    }
}
