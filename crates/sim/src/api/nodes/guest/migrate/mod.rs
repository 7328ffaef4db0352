//! `migrate` of a guest: the request, and what is checked before its task. The tasks themselves are in [`qemu`] and
//! [`lxc`], which differ in nearly everything but their log; [`ha`] is the way over HA.

mod diary;
mod ha;
mod lxc;
pub(super) mod preconditions;
mod qemu;
mod volumes;

pub(crate) use ha::{move_by_ha, relocate_by_ha};

use std::collections::BTreeMap;

use crate::api::nodes::guest::clone::need_node;
use crate::api::nodes::guest::only_root;
use crate::api::nodes::guest::power::{in_task, spawn};
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply};
use crate::permission::{self, Perm};
use crate::world::World;
use crate::world::guest::{Guest, Kind};
use crate::world::work::Work;

/// May move the guest to another node.
pub(super) const MIGRATE: Perm = Perm::On("/vms/{vmid}", &["VM.Migrate"]);

/// A migration to be made.
#[derive(Clone)]
struct Order {
    kind: Kind,
    node: String,
    vmid: u32,
    target: String,
    online: bool,
    /// A container goes down, moves, and comes up again.
    restart: bool,
    local_disks: bool,
    storages: StorageMap,
}

/// Where disks go that are not on shared storage.
#[derive(Clone, Debug, Default)]
struct StorageMap {
    given: bool,
    default: Option<String>,
    entries: BTreeMap<String, String>,
}

impl StorageMap {
    /// Reads `1` (each to its own), `store` (all to one) or `a:b,c:d`.
    fn read(text: Option<&str>) -> Self {
        let mut map = Self {
            given: text.is_some_and(|text| text != "1"),
            ..Self::default()
        };
        for part in split_list(text.unwrap_or_default()).filter(|part| *part != "1") {
            match part.split_once(':') {
                Some((from, to)) => {
                    map.entries.insert(from.to_owned(), to.to_owned());
                }
                None => map.default = Some(part.to_owned()),
            }
        }
        map
    }

    fn target_of<'a>(&'a self, storage: &'a str) -> &'a str {
        let entry = self.entries.get(storage).or(self.default.as_ref());
        entry.map_or(storage, String::as_str)
    }
}

/// `POST migrate`.
pub(super) fn start(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let order = Order::read(call, kind);
    if order.target == order.node {
        return Err(ApiError::param("target", "target is local node."));
    }
    world.require_quorum()?;
    need_node(world, &order.target)?;
    only_root(call, &["force", "migration_type", "migration_network"])?;
    let guest = world.need_guest(kind, &order.node, order.vmid)?;
    check_state(world, guest, &order).map_err(ApiError::fail)?;
    check_storages(world, call, guest, &order)?;
    if world.ha_resource(kind, order.vmid).is_some() {
        return ha::ask(world, call, order);
    }
    let work = order.work();
    spawn(world, call, work)
}

impl Order {
    fn read(call: &Call, kind: Kind) -> Self {
        let storages = match kind {
            Kind::Qemu => "targetstorage",
            Kind::Lxc => "target-storage",
        };
        Self {
            kind,
            node: call.node().to_owned(),
            vmid: call.vmid(),
            target: call.text("target").unwrap_or_default().to_owned(),
            online: call.flag("online"),
            restart: call.flag("restart"),
            local_disks: call.flag("with-local-disks"),
            storages: StorageMap::read(call.text(storages)),
        }
    }

    /// The task. It holds the guest to its end.
    fn work(self) -> Work {
        let (kind, vmid) = (self.kind, self.vmid);
        match kind {
            Kind::Qemu => Work::new("qmigrate", vmid)
                .lock(kind, vmid)
                .run(move |world, job| qemu::run(world, job, self)),
            Kind::Lxc => Work::new("vzmigrate", vmid)
                .lock(kind, vmid)
                .run(move |world, job| lxc::run(world, job, self)),
        }
    }

    /// The config is locked while the guest moves, and its own again if it does not arrive.
    fn lock_config(&self, world: &mut World) -> Result<(), String> {
        let guest = in_task(world, self.kind, &self.node, self.vmid)?;
        guest.config.set("lock", "migrate");
        Ok(())
    }

    fn unlock_config(&self, world: &mut World) {
        if let Some(guest) = world.guests.get_mut(&self.vmid) {
            guest.config.remove("lock");
        }
    }
}

/// What can be known of the guest before the task; a container's lock is looked at only there.
fn check_state(world: &World, guest: &Guest, order: &Order) -> Result<(), String> {
    if guest.kind == Kind::Lxc {
        return if guest.is_running() && !order.online && !order.restart {
            Err("can't migrate running container without --online or --restart".to_owned())
        } else {
            Ok(())
        };
    }
    guest.check_lock()?;
    if !guest.is_running() {
        return Ok(());
    }
    if !order.online {
        return Err("can't migrate running VM without --online".to_owned());
    }
    let elsewhere = world.replication_of(guest.vmid).is_some_and(|job| {
        let target = world.replication_jobs[job].props.get("target");
        target != Some(&order.target)
    });
    if elsewhere {
        return Err(format!(
            "Cannot live-migrate replicated VM to node '{}' - not a replication target. Use 'force' to override.",
            order.target
        ));
    }
    Ok(())
}

/// Storages named in the request must be usable there; a machine's own ones too if it names none.
fn check_storages(
    world: &World,
    call: &Call,
    guest: &Guest,
    order: &Order,
) -> Result<(), ApiError> {
    let map = &order.storages;
    if map.given {
        let path = format!("/vms/{}", order.vmid);
        permission::require(world, &call.who, &path, &["VM.Config.Disk"])?;
        for id in map.entries.values().chain(&map.default) {
            let storage = world
                .storage_on(&order.target, id)
                .map_err(ApiError::fail)?;
            let path = format!("/storage/{id}");
            permission::require(world, &call.who, &path, &["Datastore.AllocateSpace"])?;
            let (content, noun) = match order.kind {
                Kind::Qemu => ("images", "vm images"),
                Kind::Lxc => ("rootdir", "CT rootdirs"),
            };
            if !storage.holds(content) {
                let text = format!("storage '{id}' does not support {noun}");
                return Err(ApiError::fail(text));
            }
        }
        return Ok(());
    }
    if order.kind == Kind::Lxc {
        return Ok(());
    }
    let drives = guest
        .config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"));
    for drive in drives {
        let nodes = [&order.node, &order.target].into_iter();
        for (node, id) in nodes.filter_map(|node| Some((node, drive.storage()?))) {
            world.storage_on(node, id).map_err(ApiError::fail)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::StorageMap;

    #[test]
    fn storages_are_mapped_one_by_one_or_all_to_one() {
        let target = |map: Option<&str>| StorageMap::read(map).target_of("local-lvm").to_owned();
        assert_eq!(target(None), "local-lvm");
        assert_eq!(target(Some("1")), "local-lvm");
        assert_eq!(target(Some("tank")), "tank");
        assert_eq!(target(Some("local-lvm:tank,local:nas")), "tank");
        assert_eq!(target(Some("local:nas")), "local-lvm");
    }
}
