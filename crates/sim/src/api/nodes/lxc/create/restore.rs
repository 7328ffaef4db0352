//! A container from a backup: what the backup holds, and how it is merged with what was asked for.

use super::Order;
use super::task::extracted;
use crate::api::nodes::guest::access::{check_bridges, is_network_device};
use crate::api::nodes::lxc::volumes::{Source, is_mount_key, source, written};
use crate::permission::require;
use crate::world::World;
use crate::world::config::Config;
use crate::world::guest::Kind::Lxc;

/// The config inside a backup of a container.
///
/// # Errors
/// If there is no such backup, or it is not one of a container.
pub(super) fn saved_config(world: &World, node: &str, archive: &str) -> Result<Config, String> {
    let volume = world
        .volume(node, archive)
        .ok_or_else(|| format!("volume '{archive}' does not exist"))?;
    let config = volume.config.clone();
    config
        .filter(|config| config.get("rootfs").is_some())
        .ok_or_else(|| "ERROR: archive contains no configuration file".to_owned())
}

/// Bridges that the backup brings, and a container that becomes privileged by it, take rights of their own.
///
/// # Errors
/// PVE's refusal, in words.
pub(super) fn check_rights(
    world: &World,
    order: &Order,
    old: &Config,
    unprivileged: bool,
) -> Result<(), String> {
    let call = &order.call;
    if call.who.is_root() {
        return Ok(());
    }
    let given = |key: &str| order.options.iter().any(|(given, _)| given == key);
    let brought: Config = old.iter().filter(|(key, _)| !given(key)).collect();
    check_bridges(world, call, &brought).map_err(|error| error.message)?;
    let present = world.guest(Lxc, &order.node, order.vmid);
    let was_privileged =
        order.replaces && present.is_some_and(|guest| !guest.config.flag("unprivileged"));
    if !unprivileged && !was_privileged {
        require(world, &call.who, "/", &["Sys.Modify"]).map_err(|error| error.message)?;
    }
    Ok(())
}

/// The disks that the backup wants, as new ones on `storage`.
pub(super) fn mounts(old: &Config, storage: &str) -> Vec<(String, String)> {
    let drives = old.drives().filter(|drive| is_mount_key(drive.key));
    let volumes =
        drives.filter(|drive| !matches!(source(drive.volume), Source::Device | Source::Bind));
    volumes
        .map(|drive| {
            let mebibytes = drive.size() >> 20;
            // A number of gibibytes, exactly: 1/1024 has ten digits.
            let fraction = mebibytes % 1024 * (10_000_000_000 / 1024);
            let wanted = format!("{storage}:{}.{fraction:010}", mebibytes / 1024);
            let value = format!("{wanted},{}", drive.options);
            (
                drive.key.to_owned(),
                written(drive.key, &value, &wanted, None),
            )
        })
        .collect()
}

/// Adds to `config` what the backup has and the caller did not give. With `unique` network devices get new addresses.
pub(super) fn merge(world: &mut World, old: &Config, unique: bool, config: &mut Config) {
    for (key, value) in old.iter() {
        let left_out = matches!(key, "lock" | "parent" | "template" | "unprivileged")
            || key.starts_with("unused");
        if left_out || is_mount_key(key) || config.get(key).is_some() {
            continue;
        }
        let fresh = (unique && is_network_device(key)).then(|| world.new_mac());
        let parts: Vec<String> = value
            .split(',')
            .map(|part| match &fresh {
                Some(mac) if part.starts_with("hwaddr=") => format!("hwaddr={mac}"),
                _ => part.to_owned(),
            })
            .collect();
        config.set(key, parts.join(","));
    }
}

/// Unpacks the backup; answers how many bytes that are.
pub(super) fn unpack(world: &World, order: &Order, log: &mut Vec<String>) -> Result<u64, String> {
    let archive = &order.archive;
    let name = world.parse_volid(archive)?;
    let bytes = world
        .volume(&order.node, archive)
        .map_or(0, |volume| volume.size * 4);
    let storage = archive
        .split(':')
        .next()
        .and_then(|id| world.storages.get(id));
    let path = storage
        .map(|storage| storage.path_of(&name))
        .unwrap_or_default();
    log.push(format!("restoring '{archive}' now.."));
    log.push(format!("extracting archive '{path}'"));
    log.push(extracted(bytes));
    log.push("merging backed-up and given configuration..".to_owned());
    Ok(bytes)
}

/// Removes the disks of the container that is being replaced.
pub(super) fn remove_old_volumes(world: &mut World, node: &str, vmid: u32) {
    let Some(guest) = world.guest(Lxc, node, vmid) else {
        return;
    };
    let old: Vec<String> = guest.volumes().into_iter().map(str::to_owned).collect();
    for volid in old {
        // A volume that linked clones need stays.
        let _ = world.free_volume(node, &volid);
    }
}
