//! The backup of one guest: before, the archive, and after.

use super::task::Order;
use super::{archive, notes};
use crate::api::nodes::guest::power::{start_now, stop_now};
use crate::api::nodes::guest::progress::{duration, seconds_to_copy};
use crate::api::nodes::lxc::nesting_warning;
use crate::api::nodes::storage::prune;
use crate::clock::Time;
use crate::world::World;
use crate::world::config::format_size;
use crate::world::feature::Feature;
use crate::world::guest::{Guest, Kind};
use crate::world::retention::Scope;
use crate::world::storage::Volume;
use crate::world::work::Job;

/// A backup that has begun.
pub(super) struct Backup {
    /// The guest as it was then.
    pub(super) guest: Guest,
    pub(super) started: Time,
    /// What there is to read.
    pub(super) bytes: u64,
    /// The guest was stopped for it.
    restart: bool,
}

/// Locks the guest and brings it into the state that the mode wants.
///
/// # Errors
/// Why there can be no backup of it.
pub(super) fn begin(
    world: &mut World,
    job: &mut Job,
    order: &Order,
    vmid: u32,
) -> Result<Backup, String> {
    let Some(guest) = world.guests.get(&vmid).cloned() else {
        return Err(format!("unable to find VM '{vmid}'"));
    };
    let (kind, running) = (guest.kind, guest.is_running());
    if running && order.mode == "stop" && world.ha_resource(kind, vmid).is_some() {
        return Err(
            "Cannot execute a backup with stop mode on a HA managed and enabled Service. \
             Use snapshot mode or disable the Service."
                .to_owned(),
        );
    }
    check_limit(world, order, &guest)?;
    job.log(format!(
        "INFO: Starting Backup of VM {vmid} ({})",
        kind.name()
    ));
    job.log(format!("INFO: Backup started at {}", world.now));
    job.log(format!("INFO: status = {}", guest.status()));
    guest.check_lock()?;
    world.may_write_config(kind, &order.node, vmid)?;
    let mode = mode(world, job, order, &guest);
    job.log(format!("INFO: backup mode: {mode}"));
    job.log("INFO: ionice priority: 7");
    describe(job, &guest);
    let stops = running && mode == "stop";
    if stops {
        job.log("INFO: stopping virtual guest");
        stop_now(world, kind, &order.node, vmid)?;
    }
    if mode == "suspend" {
        job.log("INFO: suspending guest");
        job.log("INFO: resuming guest");
        job.log("INFO: guest is online again after 1 seconds");
    }
    if let Some(guest) = world.guests.get_mut(&vmid) {
        guest.config.set("lock", "backup");
    }
    Ok(Backup {
        bytes: archive::bytes(world, &guest),
        started: world.now,
        restart: stops,
        guest,
    })
}

/// A backup that removes none may not go beyond what the retention rule keeps.
fn check_limit(world: &World, order: &Order, guest: &Guest) -> Result<(), String> {
    let storage = world.storages.get(&order.storage);
    let own_rule = storage.and_then(|storage| storage.props.get("prune-backups"));
    let Some(rule) = order.keep.as_ref().or(own_rule).filter(|_| !order.remove) else {
        return Ok(());
    };
    let counts = rule.split(',').filter_map(|part| part.split_once('='));
    let counts = counts.filter(|(key, _)| *key != "keep-all");
    let most: usize = counts
        .filter_map(|(_, count)| count.parse::<usize>().ok())
        .sum();
    let have = world.volumes_on(&order.node).filter(|volume| {
        volume.storage() == order.storage
            && volume.content == "backup"
            && volume.vmid == Some(guest.vmid)
            && volume.guest_kind() == guest.kind.name()
            && !volume.protected
    });
    if most > 0 && !order.protected && have.count() >= most {
        return Err(format!(
            "There is a max backup limit of {most} enforced by the target storage or the vzdump parameters. \
             Either increase the limit or delete old backups."
        ));
    }
    Ok(())
}

/// A stopped guest needs no mode, and a container whose disks have no snapshots cannot have the best one.
fn mode(world: &World, job: &mut Job, order: &Order, guest: &Guest) -> &'static str {
    let can_snapshot = guest.config.drives().all(|drive| {
        drive.storage().is_none()
            || world.has_feature(Feature::Snapshot, guest.kind, drive.volume, false)
    });
    match (guest.is_running(), order.mode.as_str()) {
        (false, _) | (true, "stop") => "stop",
        (true, "suspend") => "suspend",
        (true, _) if guest.kind == Kind::Lxc && !can_snapshot => {
            describe(job, guest);
            job.log("INFO: mode failure - some volumes do not support snapshots");
            job.log("INFO: trying 'suspend' mode instead");
            "suspend"
        }
        (true, _) => "snapshot",
    }
}

/// The guest and its disks.
fn describe(job: &mut Job, guest: &Guest) {
    job.log(format!(
        "INFO: {} Name: {}",
        guest.kind.label(),
        guest.name()
    ));
    let disks = guest
        .config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"));
    for drive in disks.filter(|drive| !drive.is_cdrom()) {
        let key = drive.key;
        job.log(match (guest.kind, drive.option("backup")) {
            (Kind::Qemu, Some("0")) => {
                format!("INFO: exclude disk '{key}' '{}' (backup=no)", drive.volume)
            }
            (Kind::Qemu, _) => {
                let size = format_size(drive.size());
                format!("INFO: include disk '{key}' '{}' {size}", drive.volume)
            }
            (Kind::Lxc, Some("1")) => {
                let at = drive.option("mp").unwrap_or_default();
                format!("INFO: including mount point {key} ('{at}') in backup")
            }
            (Kind::Lxc, _) if key == "rootfs" => {
                "INFO: including mount point rootfs ('/') in backup".to_owned()
            }
            (Kind::Lxc, _) => {
                let at = drive.option("mp").unwrap_or_default();
                format!("INFO: excluding volume mount point {key} ('{at}') from backup (disabled)")
            }
        });
    }
}

/// Writes the archive, its notes and its protection, and removes older ones.
///
/// # Errors
/// What the storage says.
pub(super) fn store(
    world: &mut World,
    job: &mut Job,
    order: &Order,
    backup: &Backup,
) -> Result<(), String> {
    let (guest, bytes) = (&backup.guest, backup.bytes);
    let id = order.storage.as_str();
    let storage = world.storage_on(&order.node, id)?;
    if !storage.holds("backup") {
        return Err(format!("storage '{id}' does not support backups"));
    }
    let mut made = archive::volume((id, storage), guest, &order.compress, bytes, backup.started);
    let path = storage
        .layout()
        .parse(made.name())
        .map(|name| storage.path_of(&name))?;
    let own_rule = storage.props.get("prune-backups").cloned();
    log_archive(job, backup, &made, &path);
    if let Some(template) = &order.notes {
        job.log("INFO: adding notes to backup");
        let (name, vmid) = (guest.name(), guest.vmid.to_string());
        made.notes = Some(notes::fill(
            template,
            [&world.name, &name, &order.node, &vmid],
        ));
    }
    if order.protected {
        job.log("INFO: marking backup as protected");
        made.protected = true;
    }
    world.volumes.push(made);
    if order.remove
        && let Some(rule) = order.keep.clone().or(own_rule)
    {
        remove_older(world, job, order, guest, &rule);
    }
    Ok(())
}

/// What the programs that write an archive print.
fn log_archive(job: &mut Job, backup: &Backup, made: &Volume, path: &str) {
    let (bytes, on_server) = (backup.bytes, made.format.starts_with("pbs-"));
    job.log(if on_server {
        let name = made.name().trim_start_matches("backup/");
        format!("INFO: creating Proxmox Backup Server archive '{name}'")
    } else {
        format!("INFO: creating vzdump archive '{path}'")
    });
    let took = duration(seconds_to_copy(bytes));
    job.log(match backup.guest.kind {
        Kind::Lxc => format!("INFO: Total bytes written: {bytes} ({}MiB)", bytes >> 20),
        Kind::Qemu => format!("INFO: transferred {} MiB in {took}", bytes >> 20),
    });
    if !on_server {
        job.log(format!(
            "INFO: archive file size: {}",
            archive::file_size(made.size)
        ));
    }
}

fn remove_older(world: &mut World, job: &mut Job, order: &Order, guest: &Guest, rule: &str) {
    if rule == "keep-all=1" {
        return;
    }
    job.log(format!("INFO: prune older backups with retention: {rule}"));
    let scope = Scope {
        node: &order.node,
        storage: &order.storage,
        vmid: Some(guest.vmid),
        kind: Some(guest.kind.name()),
    };
    let removed = prune(world, scope, rule);
    for volid in &removed {
        job.log(format!("INFO: removing backup '{volid}'"));
    }
    let count = removed.len();
    job.log(format!(
        "INFO: pruned {count} backup(s) not covered by keep-retention policy"
    ));
}

/// Unlocks the guest, and starts it again if it was stopped for the backup.
pub(super) fn release(world: &mut World, job: &mut Job, order: &Order, backup: &Backup) {
    let vmid = backup.guest.vmid;
    let Some(guest) = world.guests.get_mut(&vmid) else {
        return;
    };
    guest.config.remove("lock");
    let (kind, warning) = (guest.kind, nesting_warning(guest));
    if !backup.restart {
        return;
    }
    job.log("INFO: restarting vm");
    if let Some(warning) = warning {
        job.warn(warning);
    }
    match start_now(world, kind, &order.node, vmid) {
        Ok(()) => job.log("INFO: guest is online again"),
        Err(text) => job.log(format!("ERROR: {text}")),
    }
}
