//! A machine from a backup.

use super::Order;
use super::task::remember;
use crate::api::nodes::guest::access::check_bridges;
use crate::api::nodes::guest::disk::{self, CLOUDINIT_SIZE, NewDisk, is_cloudinit, on_volume};
use crate::api::nodes::qemu::change::request::add_mac_addresses;
use crate::permission::require;
use crate::world::World;
use crate::world::agent::Agent;
use crate::world::config::{Config, Drive, property};
use crate::world::guest::Inside;
use crate::world::guest::Kind::Qemu;
use crate::world::layout::Layout;

/// Restores a backup; answers the config and how many bytes there are to copy.
///
/// # Errors
/// What the task ends with.
pub(super) fn run(
    world: &mut World,
    order: &Order,
    archive: &str,
    log: &mut Vec<String>,
) -> Result<(Config, u64), String> {
    let (node, vmid) = (order.call.node(), order.call.vmid());
    check_old(world, order)?;
    let saved = saved_config(world, node, archive).inspect_err(|_| {
        log.push(format!(
            "error before or during data restore, some or all disks were not completely restored. VM {vmid} state \
             is NOT cleaned up."
        ));
    })?;
    let mut config = merged(world, order, &saved);
    check_rights(world, order, &saved, &config)?;
    let kept = clear_old(world, order, &saved);
    log.push(format!("restoring '{archive}' now.."));
    let bytes = restore_disks(world, order, &saved, &mut config, log)?;
    log.push("rescan volumes...".to_owned());
    for (number, volid) in kept.into_iter().enumerate() {
        config.set(format!("unused{number}"), volid);
    }
    Ok((config, bytes))
}

/// Bridges and storages that the backup brings are checked before anything is removed.
fn check_rights(
    world: &World,
    order: &Order,
    saved: &Config,
    config: &Config,
) -> Result<(), String> {
    let call = &order.call;
    if call.who.is_root() {
        return Ok(());
    }
    check_bridges(world, call, config).map_err(|error| error.message)?;
    for drive in saved.drives().filter(is_restored) {
        let storage = call.text("storage").or(drive.storage()).unwrap_or("local");
        let path = format!("/storage/{storage}");
        let allowed = require(world, &call.who, &path, &["Datastore.AllocateSpace"]);
        allowed.map_err(|error| error.message)?;
    }
    Ok(())
}

/// Whether the archive has a disk: CD-ROM drives but cloud-init's are not in it, nor what was left out on purpose.
fn is_restored(drive: &Drive<'_>) -> bool {
    let on_cdrom = drive.is_cdrom() && !is_cloudinit(drive);
    let left_out = drive.option("backup") == Some("0");
    !drive.key.starts_with("unused") && !on_cdrom && !left_out && drive.storage().is_some()
}

/// Removes the disks of the machine that is being replaced as far as the archive has them too, and the RAM of its
/// snapshots. Answers the others, which stay as unused ones.
fn clear_old(world: &mut World, order: &Order, saved: &Config) -> Vec<String> {
    let (node, vmid) = (order.call.node(), order.call.vmid());
    let Some(old) = world.guest(Qemu, node, vmid).filter(|_| order.replaces) else {
        return Vec::new();
    };
    let comes = |key: &str| {
        saved
            .drives()
            .any(|drive| drive.key == key && is_restored(&drive))
    };
    let own = old.config.drives().filter(|drive| {
        let on_cdrom = drive.is_cdrom() && !is_cloudinit(drive);
        drive.storage().is_some() && !on_cdrom
    });
    let (gone, kept): (Vec<_>, Vec<_>) = own.partition(|drive| comes(drive.key));
    let states = old
        .snapshots
        .iter()
        .filter_map(|snapshot| snapshot.vmstate.clone());
    let volume = |drive: Drive<'_>| drive.volume.to_owned();
    let gone: Vec<String> = gone.into_iter().map(volume).chain(states).collect();
    let kept = kept.into_iter().map(volume).collect();
    for volid in gone {
        // An image that linked clones need stays.
        let _ = world.free_volume(node, &volid);
    }
    kept
}

fn check_old(world: &World, order: &Order) -> Result<(), String> {
    let (node, vmid) = (order.call.node(), order.call.vmid());
    let Some(old) = world.guest(Qemu, node, vmid).filter(|_| order.replaces) else {
        return Ok(());
    };
    if old.config.flag("protection") {
        return Err(format!(
            "unable to restore VM {vmid} - - protection mode enabled"
        ));
    }
    if old.is_running() {
        return Err(format!("unable to restore VM {vmid} - vm is running"));
    }
    Ok(())
}

/// The config inside a backup of a machine.
fn saved_config(world: &World, node: &str, archive: &str) -> Result<Config, String> {
    let volume = world.volume(node, archive);
    let volume = volume.ok_or_else(|| format!("volume '{archive}' does not exist"))?;
    let name = world.parse_volid(archive)?;
    let is_machine = name.file.starts_with("vzdump-qemu-") || name.format == "pbs-vm";
    if !is_machine {
        let storage = world.storages.get(volume.storage());
        let path = storage.map_or_else(String::new, |storage| storage.path_of(&name));
        return Err(format!(
            "ERROR: file '{path}' does not look like a QemuServer vzdump backup"
        ));
    }
    volume
        .config
        .clone()
        .ok_or_else(|| "ERROR: archive contains no configuration file".to_owned())
}

/// What is on the restored disks: what the machine in the backup has today, or else some operating system.
pub(super) fn system_in(world: &World, archive: &str) -> (Inside, Agent) {
    let owner = world.parse_volid(archive).ok().and_then(|name| name.owner);
    let machine = owner.and_then(|vmid| world.guests.get(&vmid));
    let machine = machine.filter(|guest| guest.kind == Qemu && guest.inside.os);
    let unknown = Inside {
        os: true,
        agent: false,
    };
    machine.map_or((unknown, Agent::default()), |guest| {
        (guest.inside, guest.agent.clone())
    })
}

/// What the backup has, overridden by what was asked for. With `unique` the machine is told apart from the old one.
fn merged(world: &mut World, order: &Order, saved: &Config) -> Config {
    let left_out = |key: &str| {
        matches!(key, "lock" | "parent" | "vmstate" | "snaptime") || key.starts_with("unused")
    };
    let kept = saved.iter().filter(|(key, _)| !left_out(key));
    let mut config: Config = kept.collect();
    if order.call.flag("unique") {
        let mut cards = config
            .iter()
            .filter(|(key, _)| key.starts_with("net"))
            .map(|(key, value)| (key.to_owned(), without_address(value)))
            .collect();
        add_mac_addresses(world, &mut cards);
        for (key, value) in cards {
            config.set(key, value);
        }
        config.set("smbios1", format!("uuid={}", world.new_uuid()));
    }
    if config.get("vmgenid").is_some_and(|id| id != "0") {
        config.set("vmgenid", world.new_uuid());
    }
    for (key, value) in &order.options {
        config.set(key, value);
    }
    config
}

/// `virtio=MAC,bridge=vmbr0` as `virtio,bridge=vmbr0`.
fn without_address(card: &str) -> String {
    let (model, rest) = card.split_once(',').unwrap_or((card, ""));
    let model = model.split('=').next().unwrap_or_default();
    match property(card, "model") {
        Some(_) => card.to_owned(),
        None if rest.is_empty() => model.to_owned(),
        None => format!("{model},{rest}"),
    }
}

fn restore_disks(
    world: &mut World,
    order: &Order,
    saved: &Config,
    config: &mut Config,
    log: &mut Vec<String>,
) -> Result<u64, String> {
    let (node, vmid) = (order.call.node(), order.call.vmid());
    let target = order.call.text("storage");
    let mut bytes = 0;
    for drive in saved.drives() {
        let Some(storage) = drive.storage() else {
            continue;
        };
        if !is_restored(&drive) {
            // What was left out of the backup is only a remark in the restored config.
            if drive.option("backup") == Some("0") {
                config.remove(drive.key);
            }
            continue;
        }
        let cloudinit = is_cloudinit(&drive);
        let storage = target.unwrap_or(storage);
        let size = if cloudinit {
            CLOUDINIT_SIZE
        } else {
            drive.size()
        };
        let format = drive
            .volume
            .rsplit_once('.')
            .map(|(_, format)| format.to_owned());
        let disk = NewDisk {
            kind: Qemu,
            vmid,
            storage: storage.to_owned(),
            format,
            size,
            used: size / 2,
            stem: cloudinit.then(|| format!("vm-{vmid}-cloudinit")),
        };
        let (volid, line) = disk::allocate(world, node, &disk)?;
        log.extend(line);
        log.push(format!("new volume ID is '{volid}'"));
        let value = on_volume(drive.options, &volid, size);
        remember(world, vmid, drive.key, &value);
        config.set(drive.key, value);
        if !cloudinit {
            log.push(map_line(world, drive.key, &volid));
            bytes += size;
        }
    }
    log.push(format!("total bytes read {bytes}, sparse bytes 0 (0%)"));
    Ok(bytes)
}

fn map_line(world: &World, key: &str, volid: &str) -> String {
    let path = world.parse_volid(volid).ok().and_then(|name| {
        let storage = world.storages.get(volid.split(':').next()?)?;
        Some((storage.path_of(&name), storage.layout()))
    });
    let (path, layout) = path.unwrap_or_else(|| (volid.to_owned(), Layout::Files));
    let zeros = u8::from(matches!(layout, Layout::Lvm));
    format!("map 'drive-{key}' to '{path}' (write zeros = {zeros})")
}
