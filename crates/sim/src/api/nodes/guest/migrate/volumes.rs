//! The volumes of a guest that another node does not see: which there are, and how they get there.

use std::collections::BTreeMap;

use super::Order;
use super::diary::Diary;
use crate::api::nodes::guest::disk::{allocation_line, is_cloudinit};
use crate::api::nodes::guest::progress::{human, seconds_to_copy};
use crate::world::World;
use crate::world::config::Config;
use crate::world::guest::{Guest, Kind};
use crate::world::layout::Layout;
use crate::world::storage::{Storage, Volume};

/// A volume that only the guest's own node sees, and what refers to it.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of PVE's answer"
)]
pub(super) struct Local {
    pub(super) volid: String,
    pub(super) drive: Option<String>,
    pub(super) attached: bool,
    pub(super) unused: bool,
    pub(super) cdrom: bool,
    pub(super) cloudinit: bool,
    pub(super) vmstate: bool,
    pub(super) snapshots: Vec<String>,
    pub(super) size: Option<u64>,
}

/// The local volumes of a guest, by their ids. What is no volume at all counts too, except an empty drive.
pub(super) fn local(world: &World, guest: &Guest) -> Vec<Local> {
    let mut found: BTreeMap<String, Local> = BTreeMap::new();
    collect(world, &guest.config, None, &mut found);
    for snapshot in &guest.snapshots {
        collect(world, &snapshot.config, Some(&snapshot.name), &mut found);
    }
    let states = guest
        .snapshots
        .iter()
        .filter_map(|snapshot| snapshot.vmstate.as_deref());
    for state in states.chain(guest.config.get("vmstate")) {
        if is_local(world, state) {
            let entry = found.entry(state.to_owned()).or_default();
            entry.vmstate = true;
            state.clone_into(&mut entry.volid);
        }
    }
    found.into_values().collect()
}

fn is_local(world: &World, volume: &str) -> bool {
    let storage = volume
        .split_once(':')
        .and_then(|(id, _)| world.storages.get(id));
    volume != "none" && storage.is_none_or(|storage| !storage.shared)
}

fn collect(
    world: &World,
    config: &Config,
    snapshot: Option<&str>,
    found: &mut BTreeMap<String, Local>,
) {
    for drive in config
        .drives()
        .filter(|drive| is_local(world, drive.volume))
    {
        if drive.option("shared") == Some("1") {
            continue;
        }
        let entry = found
            .entry(drive.volume.to_owned())
            .or_insert_with(|| Local {
                cdrom: true,
                ..Local::default()
            });
        drive.volume.clone_into(&mut entry.volid);
        entry.cdrom &= drive.is_cdrom();
        entry.cloudinit |= is_cloudinit(&drive);
        entry.size = entry.size.or(Some(drive.size()).filter(|size| *size > 0));
        let unused = drive.key.starts_with("unused");
        entry.unused |= unused;
        if !unused {
            entry.drive = Some(drive.key.to_owned());
        }
        match snapshot {
            Some(name) => entry.snapshots.push(name.to_owned()),
            None => entry.attached |= !unused,
        }
    }
}

/// Why a volume cannot be copied to the target node; the same for both kinds as far as it goes.
pub(super) fn obstacle(world: &World, order: &Order, local: &Local) -> Option<String> {
    let (id, _) = local.volid.split_once(':')?;
    let target = order.storages.target_of(id);
    if let Err(error) = world.storage_on(&order.target, target) {
        return Some(error);
    }
    let name = match world.parse_volid(&local.volid) {
        Ok(name) => name,
        Err(error) => return Some(error),
    };
    if let Some(owner) = name.owner.filter(|owner| *owner != order.vmid) {
        return Some(match order.kind {
            Kind::Qemu => format!("owned by other VM (owner = VM {owner})"),
            Kind::Lxc => format!("owned by other guest (owner = {owner})"),
        });
    }
    let storage = world.storages.get(id)?;
    let moves = match storage.layout() {
        Layout::Zfs => true,
        Layout::Files => order.kind == Kind::Qemu && name.format == "qcow2",
        _ => false,
    };
    if !local.snapshots.is_empty() && !moves {
        return Some("non-migratable snapshot exists".to_owned());
    }
    None
}

/// Copies the local volumes, in the diary: the world changes when the guest itself moves.
pub(super) fn copy(world: &World, diary: &mut Diary<'_>, order: &Order, locals: &[Local]) {
    for local in locals {
        let volume = world.volume(&order.node, &local.volid);
        let (size, used) = volume.map_or((0, 0), |volume| (volume.size, volume.used));
        let arrived = new_volid(world, order, &local.volid);
        if let Some(line) = allocation_line(world, &arrived, size) {
            diary.note(&line);
        }
        let seconds = seconds_to_copy(used);
        diary.wait(seconds);
        let speed = size / seconds / 1_000_000;
        diary.note(&format!(
            "{size} bytes ({}, {}) copied, {seconds} s, {speed} MB/s",
            decimal(size),
            human(size, 1)
        ));
        diary.note(&format!("successfully imported '{arrived}'"));
        diary.note(&format!(
            "volume '{}' is '{arrived}' on the target",
            local.volid
        ));
    }
}

/// `1.1 GB`, as `dd` writes sizes beside binary ones.
fn decimal(bytes: u64) -> String {
    let (unit, name) = if bytes >= 1_000_000_000 {
        (1_000_000_000, "GB")
    } else {
        (1_000_000, "MB")
    };
    let tenths = (bytes * 10 + unit / 2) / unit;
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// The id of a volume on the target: the same if it is free there.
pub(super) fn new_volid(world: &World, order: &Order, volid: &str) -> String {
    let (id, name) = volid.split_once(':').unwrap_or((volid, ""));
    let target = order.storages.target_of(id);
    let taken = world.volume(&order.target, volid).is_some();
    if target == id && !taken {
        return volid.to_owned();
    }
    let layout = |id: &str| world.storages.get(id).map(Storage::layout);
    let format = world
        .volume(&order.node, volid)
        .map_or("raw", |volume| volume.format.as_str());
    let formats = layout(target).map_or((&[][..], "raw"), Layout::formats);
    let format = if formats.0.contains(&format) {
        format
    } else {
        formats.1
    };
    let file = world.free_disk_file(&order.target, target, order.vmid, format);
    match (file, layout(target)) {
        (Ok(file), Some(layout)) => format!("{target}:{}", layout.plain_name(order.vmid, &file)),
        _ => format!("{target}:{name}"),
    }
}

/// The guest and its local volumes are on the target now.
pub(super) fn arrive(world: &mut World, order: &Order, locals: &[Local]) -> Result<(), String> {
    for local in locals {
        let new = new_volid(world, order, &local.volid);
        let shared = new
            .split_once(':')
            .and_then(|(id, _)| world.storages.get(id));
        let shared = shared.is_some_and(|storage| storage.shared);
        if let Some(volume) = world.volume_mut(&order.node, &local.volid) {
            move_volume(volume, &new, (!shared).then_some(order.target.as_str()));
        }
        if let Some(guest) = world
            .guests
            .get_mut(&order.vmid)
            .filter(|_| new != local.volid)
        {
            rename_in(&mut guest.config, &local.volid, &new);
            for snapshot in &mut guest.snapshots {
                rename_in(&mut snapshot.config, &local.volid, &new);
            }
        }
    }
    let guest = world.guests.get_mut(&order.vmid);
    let guest = guest.ok_or_else(|| format!("guest {} is gone", order.vmid))?;
    guest.node.clone_from(&order.target);
    guest.config.remove("lock");
    Ok(())
}

fn move_volume(volume: &mut Volume, volid: &str, node: Option<&str>) {
    volid.clone_into(&mut volume.volid);
    volume.node = node.map(str::to_owned);
}

fn rename_in(config: &mut Config, old: &str, new: &str) {
    let renamed: Vec<(String, String)> = config
        .drives()
        .filter(|drive| drive.volume == old)
        .map(|drive| (drive.key.to_owned(), format!("{new},{}", drive.options)))
        .collect();
    for (key, value) in renamed {
        config.set(key, value.trim_end_matches(','));
    }
}
