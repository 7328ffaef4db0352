//! `clone` of a machine.

use super::{Disk, Order, STOPPED, attach, log_all};
use crate::api::nodes::guest::access::{check_bridges, is_network_device};
use crate::api::nodes::guest::disk::{self, NewDisk, is_cloudinit};
use crate::api::nodes::guest::power::spawn;
use crate::api::nodes::guest::progress::{copy, duration, seconds_to_copy, transferred};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission;
use crate::world::World;
use crate::world::config::Config;
use crate::world::feature::Feature;
use crate::world::guest::Kind::Qemu;
use crate::world::guest::{Guest, no_vm_on_node};
use crate::world::work::Work;

/// What a clone has no use for.
const NOT_COPIED: &[&str] = &[
    "lock",
    "parent",
    "template",
    "vmstate",
    "runningcpu",
    "runningmachine",
    "running-nets-host-mtu",
];

/// `POST clone`.
pub(in super::super) fn start(world: &mut World, call: &Call) -> Reply {
    let order = Order::read(call, Qemu);
    let (node, vmid) = (order.node.as_str(), order.vmid);
    let Some(running) = world.guest(Qemu, node, vmid).map(Guest::is_running) else {
        return Err(ApiError::fail(no_vm_on_node(node, vmid)));
    };
    order.check_target(world)?;
    let disks = check(world, call, &order)?;
    let agent = world
        .guest(Qemu, node, vmid)
        .is_some_and(|guest| guest.agent_enabled() && guest.inside.agent);
    let work = Work::new("qmclone", vmid);
    let work = if running {
        work.lock(Qemu, vmid)
    } else {
        work.share(Qemu, vmid)
    };
    let mirror = running && order.snapshot.is_none();
    let work = plan(work, &order, disks, mirror, agent);
    spawn(world, call, work)
}

/// Everything that can be known before the task, in PVE's order. Answers the disks to copy.
fn check(world: &World, call: &Call, order: &Order) -> Result<Vec<Disk>, ApiError> {
    let source = world.need_guest(Qemu, &order.node, order.vmid)?;
    source.check_lock().map_err(ApiError::fail)?;
    let config = order.source_config(source)?;
    let full = order.is_full(source);
    order.check_linked(full)?;
    let shared = check_storages(world, call, order, config)?;
    check_bridges(world, call, config)?;
    if let Some(target) = order.target.as_ref().filter(|_| !shared) {
        return Err(ApiError::fail(format!(
            "can't clone VM to node '{target}' (VM uses local storage)"
        )));
    }
    let newid = order.newid;
    if world.guest(Qemu, &order.node, newid).is_some() {
        return Err(ApiError::fail(format!(
            "unable to create VM {newid}: config file already exists"
        )));
    }
    if full && source.is_running() && order.snapshot.is_none() && config.get("tpmstate0").is_some()
    {
        return Err(ApiError::fail("cannot clone TPM state while VM is running"));
    }
    disks(world, order, config, full)
}

/// Requires access to every storage the clone needs, and says whether all of the source is on shared ones.
fn check_storages(
    world: &World,
    call: &Call,
    order: &Order,
    config: &Config,
) -> Result<bool, ApiError> {
    let mut shared = true;
    for drive in config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"))
    {
        match drive.volume {
            "none" => {}
            "cdrom" => permission::require(world, &call.who, "/", &["Sys.Console"])?,
            _ => {
                shared &= Order::is_shared(world, &drive);
                if !drive.is_cdrom() {
                    order.check_space(world, call, &drive)?;
                }
            }
        }
    }
    Ok(shared)
}

/// The disks to copy. A cloud-init drive is always made anew, a CD-ROM stays what it is.
fn disks(world: &World, order: &Order, config: &Config, full: bool) -> Result<Vec<Disk>, ApiError> {
    let mut found = Vec::new();
    for drive in config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"))
    {
        if drive.is_cdrom() && !is_cloudinit(&drive) {
            continue;
        }
        let copied = full || is_cloudinit(&drive) || drive.key == "tpmstate0";
        let (feature, adjective) = if copied {
            (Feature::Copy, "Full")
        } else {
            (Feature::Clone, "Linked")
        };
        // A cloud-init drive is never part of a snapshot, so it is judged as it is now.
        let of_snapshot = order.snapshot.is_some() && !is_cloudinit(&drive);
        if !world.has_feature(feature, Qemu, drive.volume, of_snapshot) {
            let what = if of_snapshot { " a snapshot of" } else { "" };
            return Err(ApiError::fail(format!(
                "{adjective} clone feature is not supported for{what} '{}' ({})",
                drive.volume, drive.key
            )));
        }
        found.push(Disk::of(world, &order.node, &drive, copied));
    }
    Ok(found)
}

fn plan(work: Work, order: &Order, disks: Vec<Disk>, mirror: bool, agent: bool) -> Work {
    let (begin, end) = (order.clone(), order.clone());
    let mut work = work.run(move |world, job| {
        job.log(format!(
            "creating a clone of VM {} with ID {}",
            begin.vmid, begin.newid
        ));
        create(world, &begin)?;
        job.undo(STOPPED, move |world| begin.undo(world));
        Ok(())
    });
    let last = disks.iter().rposition(|disk| disk.full && !disk.cloudinit);
    for (at, disk) in disks.into_iter().enumerate() {
        let key = disk.key.clone();
        let how = if disk.full { "full" } else { "linked" };
        work = work.log(format!(
            "create {how} clone of drive {key} ({})",
            disk.volume
        ));
        let copied = disk.full && !disk.cloudinit;
        let total = disk.size;
        let seconds = seconds_to_copy(disk.used);
        let order = order.clone();
        work = work.run(move |world, job| {
            let (value, lines) = make(world, &order, &disk)?;
            log_all(job, lines);
            attach(world, order.newid, &disk.key, value);
            Ok(())
        });
        if copied && mirror {
            work = mirror_lines(work, &key, total, seconds);
            if Some(at) == last {
                work = release(work, &key, agent);
            }
        } else if copied {
            work = copy(work, total, seconds, |done, _| transferred(done, total));
        }
    }
    work.run(move |world, _| {
        end.finish(world);
        Ok(())
    })
}

/// The copy of a disk that is in use.
fn mirror_lines(work: Work, key: &str, total: u64, seconds: u64) -> Work {
    let work = work.log(format!("drive mirror is starting for drive-{key}"));
    let work = copy(work, total, seconds, |done, passed| {
        let ready = if done == total { ", ready" } else { "" };
        let so_far = transferred(done, total);
        format!("drive-{key}: {so_far} in {}{ready}", duration(passed))
    });
    work.log("all 'mirror' jobs are ready")
}

/// All copies are complete: the source stands still for a moment, so that they belong together.
fn release(work: Work, key: &str, agent: bool) -> Work {
    let (before, after) = if agent {
        (
            "issuing guest agent 'guest-fsfreeze-freeze' command",
            "issuing guest agent 'guest-fsfreeze-thaw' command",
        )
    } else {
        ("suspend vm", "resume vm")
    };
    work.log(before)
        .log(format!("drive-{key}: Cancelling block job"))
        .log(format!("drive-{key}: Done."))
        .log(after)
}

/// Writes the new config. Only now an id shows to be taken by a container or on another node.
fn create(world: &mut World, order: &Order) -> Result<(), String> {
    let (node, newid) = (order.node.as_str(), order.newid);
    let source = world.guest(Qemu, node, order.vmid);
    let source = source.ok_or_else(|| no_vm_on_node(node, order.vmid))?;
    source.check_lock()?;
    if world.guests.contains_key(&newid) {
        return Err(format!(
            "close (rename) atomic file '/etc/pve/nodes/{node}/qemu-server/{newid}.conf' failed: File exists"
        ));
    }
    let (inside, source_name) = (source.inside, source.config.get("name").map(str::to_owned));
    let old = order.source_config(source).map_err(|error| error.message)?;
    let kept = old.iter().filter(|(key, _)| {
        let unused = key.starts_with("unused");
        !unused && !NOT_COPIED.contains(key)
    });
    let disks = old
        .drives()
        .filter(|drive| !drive.is_cdrom() || is_cloudinit(drive));
    let disks: Vec<String> = disks.map(|drive| drive.key.to_owned()).collect();
    let mut config: Config = kept.collect();
    for key in disks {
        config.remove(&key);
    }
    renew(world, &mut config);
    let name = order.name.clone().unwrap_or_else(|| {
        let old = source_name.unwrap_or_else(|| order.vmid.to_string());
        format!("Copy-of-VM-{old}")
    });
    config.set("name", name);
    if let Some(description) = &order.description {
        config.set("description", description);
    }
    config.set("lock", "clone");
    let mut guest = Guest::new(newid, Qemu, node, config);
    guest.inside = inside;
    order.add(world, guest);
    Ok(())
}

/// Gives the clone MAC addresses and ids of its own.
fn renew(world: &mut World, config: &mut Config) {
    let devices: Vec<(String, String)> = config
        .iter()
        .filter(|(key, _)| is_network_device(key))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    for (key, value) in devices {
        let mac = world.new_mac();
        config.set(key, with_mac(&value, &mac));
    }
    let uuid = format!("uuid={}", world.new_uuid());
    let smbios = config.get("smbios1").unwrap_or_default();
    let others = smbios
        .split(',')
        .filter(|part| !part.is_empty() && !part.starts_with("uuid="));
    let smbios: Vec<&str> = others.chain([uuid.as_str()]).collect();
    config.set("smbios1", smbios.join(","));
    if config.get("vmgenid").is_some() {
        config.set("vmgenid", world.new_uuid());
    }
}

/// A network device with another MAC address: `virtio=BC:24:11:00:00:01,bridge=vmbr0`.
fn with_mac(device: &str, mac: &str) -> String {
    let explicit = device.split(',').any(|part| part.starts_with("macaddr="));
    let part = |(at, part): (usize, &str)| match part.split_once('=') {
        Some(("macaddr", _)) => format!("macaddr={mac}"),
        Some((model, _)) if at == 0 && !explicit => format!("{model}={mac}"),
        None if at == 0 && !explicit => format!("{part}={mac}"),
        _ => part.to_owned(),
    };
    let parts: Vec<String> = device.split(',').enumerate().map(part).collect();
    parts.join(",")
}

/// Makes the image of one disk, and answers the drive's value and what the log says.
fn make(world: &mut World, order: &Order, source: &Disk) -> Result<(String, Vec<String>), String> {
    let (node, newid) = (order.node.as_str(), order.newid);
    let (volid, lines) = if source.full {
        let new = NewDisk {
            kind: Qemu,
            vmid: newid,
            storage: order
                .storage
                .clone()
                .unwrap_or_else(|| source.storage().to_owned()),
            format: Some(
                order
                    .format
                    .clone()
                    .unwrap_or_else(|| source.format.clone()),
            ),
            size: source.size,
            used: source.used,
            stem: source.cloudinit.then(|| format!("vm-{newid}-cloudinit")),
        };
        let (volid, line) = disk::allocate(world, node, &new)?;
        let done = format!("allocated target volume '{volid}'");
        let lines = line.into_iter().chain([done]).collect();
        (volid, lines)
    } else {
        disk::link(
            world,
            node,
            Qemu,
            newid,
            &source.volume,
            order.snapshot.is_some(),
        )?
    };
    Ok((disk::on_volume(&source.options, &volid, source.size), lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_mac_address_of_a_device_changes() {
        let changed = |device| with_mac(device, "BC:24:11:00:00:01");
        assert_eq!(
            changed("virtio=AA:BB:CC:DD:EE:FF,bridge=vmbr0,tag=5"),
            "virtio=BC:24:11:00:00:01,bridge=vmbr0,tag=5"
        );
        assert_eq!(
            changed("e1000,bridge=vmbr0"),
            "e1000=BC:24:11:00:00:01,bridge=vmbr0"
        );
        assert_eq!(
            changed("model=virtio,macaddr=AA:BB:CC:DD:EE:FF"),
            "model=virtio,macaddr=BC:24:11:00:00:01"
        );
    }
}
