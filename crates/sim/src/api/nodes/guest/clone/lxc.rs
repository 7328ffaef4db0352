//! `clone` of a container.

use super::{Disk, Order, STOPPED, attach, log_all};
use crate::api::nodes::guest::access::{check_bridges, is_network_device};
use crate::api::nodes::guest::disk::{self, NewDisk};
use crate::api::nodes::guest::free_now;
use crate::api::nodes::guest::power::spawn;
use crate::api::nodes::guest::progress::seconds_to_copy;
use crate::api::nodes::lxc::normal;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::config::Config;
use crate::world::feature::Feature;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Lxc;
use crate::world::work::Work;

/// `POST clone`.
pub(in super::super) fn start(world: &mut World, call: &Call) -> Reply {
    let order = Order::read(call, Lxc);
    order.check_target(world)?;
    let disks = check(world, call, &order)?;
    create(world, &order);
    let work = plan(&order, disks);
    spawn(world, call, work)
}

/// Everything but pool, node and storage, in PVE's order. Answers the disks to copy.
fn check(world: &World, call: &Call, order: &Order) -> Result<Vec<Disk>, ApiError> {
    let source = world.need_guest(Lxc, &order.node, order.vmid)?;
    free_now(world, Lxc, order.vmid)?;
    source.check_lock().map_err(ApiError::fail)?;
    if let Some(other) = world.guests.get(&order.newid) {
        let (label, newid, node) = (other.kind.label(), order.newid, &other.node);
        return Err(ApiError::fail(format!(
            "{label} {newid} already exists on node '{node}'"
        )));
    }
    let full = order.is_full(source);
    order.check_linked(full)?;
    let config = order.source_config(source)?;
    let disks = disks(world, call, order, source, config, full)?;
    check_bridges(world, call, config)?;
    let shared = |disk: &Disk| {
        let id = order.storage.as_deref().unwrap_or(disk.storage());
        world.storages.get(id).is_some_and(|storage| storage.shared)
    };
    match &order.target {
        Some(target) if !disks.iter().all(shared) => Err(ApiError::fail(format!(
            "can't clone CT to node '{target}' (CT uses local storage)"
        ))),
        _ => Ok(disks),
    }
}

/// The disks to copy, the root disk first.
fn disks(
    world: &World,
    call: &Call,
    order: &Order,
    source: &Guest,
    config: &Config,
    full: bool,
) -> Result<Vec<Disk>, ApiError> {
    let mut found = Vec::new();
    for drive in config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"))
    {
        let (key, volume) = (drive.key, drive.volume);
        if drive.storage().is_none() || volume.starts_with('/') {
            let sort = if volume.starts_with("/dev/") {
                "device"
            } else {
                "bind"
            };
            return Err(ApiError::fail(format!(
                "unable to clone mountpoint '{key}' (type {sort})"
            )));
        }
        order.check_space(world, call, &drive)?;
        if full && source.is_running() && order.snapshot.is_none() {
            return Err(ApiError::fail(
                "Full clone of a running container is only possible from a snapshot",
            ));
        }
        if !full && !world.has_feature(Feature::Clone, Lxc, volume, order.snapshot.is_some()) {
            return Err(ApiError::fail(format!(
                "Linked clone feature for '{volume}' is not available"
            )));
        }
        found.push(Disk::of(world, &order.node, &drive, full));
    }
    found.sort_by_key(|disk| disk.key != "rootfs");
    Ok(found)
}

/// Locks the source and writes the new config, locked too and still without disks.
fn create(world: &mut World, order: &Order) {
    let Some(source) = world.guest(Lxc, &order.node, order.vmid) else {
        return;
    };
    let (inside, old) = (source.inside, order.source_config(source).cloned());
    let left_out = |key: &str| {
        let drive = key == "rootfs" || key.starts_with("mp") || key.starts_with("unused");
        drive || matches!(key, "lock" | "parent" | "template")
    };
    let old = old.unwrap_or_default();
    let mut config = Config::default();
    for (key, value) in old.iter().filter(|(key, _)| !left_out(key)) {
        if is_network_device(key) {
            let mac = world.new_mac();
            config.set(key, with_mac(value, &mac));
        } else {
            config.set(key, value);
        }
    }
    if let Some(name) = &order.name {
        config.set("hostname", name);
    }
    if let Some(description) = &order.description {
        config.set("description", normal("description", description));
    }
    config.set("lock", "create");
    let mut guest = Guest::new(order.newid, Lxc, &order.node, config);
    guest.inside = inside;
    order.add(world, guest);
    if let Some(source) = world.guests.get_mut(&order.vmid) {
        source.config.set("lock", "disk");
    }
}

fn plan(order: &Order, disks: Vec<Disk>) -> Work {
    let (undo, end) = (order.clone(), order.clone());
    let mut work = Work::new("vzclone", order.vmid)
        .undo(STOPPED, move |world| {
            unlock_source(world, undo.vmid);
            undo.undo(world);
        })
        .log(format!(
            "creating a clone of container {} with ID {}",
            order.vmid, order.newid
        ));
    for disk in disks {
        let order = order.clone();
        let (full, used) = (disk.full, disk.used);
        let (how, noun) = if full {
            ("full", "mountpoint")
        } else {
            ("linked", "mount point")
        };
        work = work
            .log(format!(
                "create {how} clone of {noun} {} ({})",
                disk.key, disk.volume
            ))
            .run(move |world, job| {
                let (value, lines) = make(world, &order, &disk)?;
                log_all(job, lines);
                attach(world, order.newid, &disk.key, value);
                Ok(())
            });
        if full {
            work = work.wait(seconds_to_copy(used));
            for line in copy_summary(used) {
                work = work.log(line);
            }
        }
    }
    work.wait(1).run(move |world, _| {
        unlock_source(world, end.vmid);
        end.finish(world);
        Ok(())
    })
}

fn unlock_source(world: &mut World, vmid: u32) {
    let source = world.guests.get_mut(&vmid);
    if let Some(source) = source.filter(|source| source.config.get("lock") == Some("disk")) {
        source.config.remove("lock");
    }
}

/// What rsync says at its end.
fn copy_summary(bytes: u64) -> Vec<String> {
    let files = 200 + bytes / (20 << 10);
    vec![
        format!("Number of files: {files}"),
        format!("Number of regular files transferred: {}", files * 4 / 5),
        format!("Total file size: {bytes} bytes"),
        format!("Total bytes sent: {bytes}"),
    ]
}

fn make(world: &mut World, order: &Order, source: &Disk) -> Result<(String, Vec<String>), String> {
    let (node, newid) = (order.node.as_str(), order.newid);
    let (volid, lines) = if source.full {
        let storage = order
            .storage
            .clone()
            .unwrap_or_else(|| source.storage().to_owned());
        let zfs = world
            .storages
            .get(&storage)
            .is_some_and(|storage| storage.kind == "zfspool");
        let new = NewDisk {
            kind: Lxc,
            vmid: newid,
            storage,
            format: Some(if zfs { "subvol" } else { "raw" }.to_owned()),
            size: source.size,
            used: source.used,
            stem: None,
        };
        let (volid, line) = disk::allocate(world, node, &new)?;
        let mut lines: Vec<String> = line.into_iter().collect();
        if !zfs {
            let blocks = source.size >> 12;
            lines.push(format!(
                "Creating filesystem with {blocks} 4k blocks and {} inodes",
                blocks / 4
            ));
            lines.push(format!("Filesystem UUID: {}", world.new_uuid()));
        }
        (volid, lines)
    } else {
        disk::link(
            world,
            node,
            Lxc,
            newid,
            &source.volume,
            order.snapshot.is_some(),
        )?
    };
    Ok((disk::on_volume(&source.options, &volid, source.size), lines))
}

/// A network device with another MAC address.
fn with_mac(device: &str, mac: &str) -> String {
    let mut parts: Vec<String> = device
        .split(',')
        .filter(|part| !part.starts_with("hwaddr="))
        .map(str::to_owned)
        .collect();
    parts.push(format!("hwaddr={mac}"));
    // `name` comes first, the rest in order.
    let head = usize::from(parts[0].starts_with("name="));
    parts[head..].sort_unstable();
    parts.join(",")
}
