//! The task that makes a machine: its disks, then its config, then a start if that was asked for.

use super::{Order, restore};
use crate::api::nodes::guest::progress::seconds_to_copy;
use crate::api::nodes::qemu::change::images::{Place, bytes_to_import, make};
use crate::api::nodes::qemu::drive::is_drive;
use crate::api::nodes::qemu::{one_line, power};
use crate::call::{Call, Given, Params};
use crate::world::config::Config;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Qemu;
use crate::world::work::{Job, Work};
use crate::world::{Section, World};

/// The QEMU that new machines say they were made with, and the machine version that Windows is pinned to.
const QEMU: (&str, &str) = ("10.1.2", "10.1");
/// The order in which buses are searched for a disk to boot from.
const BUSES: [(&str, u8); 4] = [("ide", 4), ("scsi", 31), ("virtio", 16), ("sata", 6)];

pub(super) fn plan(order: Order) -> Work {
    let vmid = order.call.vmid();
    let kind = match order.archive {
        Some(_) => "qmrestore",
        None => "qmcreate",
    };
    let undo = order.clone();
    Work::new(kind, vmid)
        .lock(Qemu, vmid)
        .undo("interrupted by signal", move |world| give_up(world, &undo))
        .run(move |world, job| {
            let mut log = Vec::new();
            let node = order.call.node();
            let made = match &order.archive {
                Some(archive) => restore::run(world, &order, archive, &mut log),
                None => create(world, &order, &mut log)
                    .map(|config| (config, bytes_to_import(world, node, &order.options))),
            };
            for line in log {
                job.log(line);
            }
            let (config, bytes) = made?;
            if bytes > 0 {
                job.wait(seconds_to_copy(bytes));
            }
            job.then(move |world, job| {
                finish(world, &order, config, job);
                Ok(())
            });
            Ok(())
        })
}

fn create(world: &mut World, order: &Order, log: &mut Vec<String>) -> Result<Config, String> {
    let (node, vmid) = (order.call.node(), order.call.vmid());
    let mut config = Config::default();
    let made_now = format!("creation-qemu={},ctime={}", QEMU.0, world.now.secs());
    config.set("meta", made_now);
    let place = Place {
        node,
        vmid,
        template: false,
    };
    let failed = |text: String| format!("unable to create VM {vmid} - {text}");
    for (key, value) in &order.options {
        let value = if is_drive(key) {
            let made = make(world, place, key, value, log).map_err(failed)?;
            remember(world, vmid, key, &made);
            made
        } else {
            value.clone()
        };
        config.store(key, &value);
    }
    complete(world, &mut config);
    for (key, value) in config.iter() {
        one_line(key, value).map_err(failed)?;
    }
    Ok(config)
}

/// Lets the disks made so far be found if the task fails.
pub(super) fn remember(world: &mut World, vmid: u32, key: &str, value: &str) {
    if let Some(guest) = world.guests.get_mut(&vmid) {
        guest.config.set(key, value);
    }
}

/// Adds what every machine has.
fn complete(world: &mut World, config: &mut Config) {
    if config.get("boot").is_none() {
        config.set("boot", default_boot_order(config));
    }
    if config.get("smbios1").is_none() {
        config.set("smbios1", format!("uuid={}", world.new_uuid()));
    }
    if config.get("vmgenid").is_none_or(|id| id == "1") && config.get("arch") != Some("aarch64") {
        config.set("vmgenid", world.new_uuid());
    }
    if let Some(machine) = pinned_machine(config) {
        config.set("machine", machine);
    }
}

/// The first disk, the first CD-ROM drive, the first network card.
fn default_boot_order(config: &Config) -> String {
    let keys = || {
        BUSES
            .iter()
            .flat_map(|(bus, count)| (0..*count).map(move |n| format!("{bus}{n}")))
    };
    let first = |cdrom: bool| {
        keys().find(|key| {
            config
                .drive(key)
                .is_some_and(|drive| drive.is_cdrom() == cdrom)
        })
    };
    let card = (0..32)
        .map(|number| format!("net{number}"))
        .find(|key| config.get(key).is_some());
    let devices: Vec<String> = [first(false), first(true), card]
        .into_iter()
        .flatten()
        .collect();
    if devices.is_empty() {
        " ".to_owned()
    } else {
        format!("order={}", devices.join(";"))
    }
}

/// Windows does not bear another machine version after an upgrade, so it keeps the one it was made with.
fn pinned_machine(config: &Config) -> Option<String> {
    config
        .get("ostype")
        .filter(|system| system.starts_with('w'))?;
    let version = QEMU.1;
    match config.get("machine") {
        None | Some("pc") => Some(format!("pc-i440fx-{version}")),
        Some("q35") => Some(format!("pc-q35-{version}")),
        Some(_) => None,
    }
}

fn finish(world: &mut World, order: &Order, config: Config, job: &mut Job) {
    let call = &order.call;
    let (node, vmid) = (call.node(), call.vmid());
    let mut guest = Guest::new(vmid, Qemu, node, config);
    if let Some(archive) = &order.archive {
        (guest.inside, guest.agent) = restore::system_in(world, archive);
    }
    world.guests.insert(vmid, guest);
    if let Some(pool) = call.text("pool").and_then(|pool| world.pools.get_mut(pool)) {
        pool.guests.insert(vmid);
    }
    let starts = call.flag("start");
    if call.flag("ha-managed") {
        job.log("Add as HA resource");
        let state = if starts { "started" } else { "stopped" };
        let props = [("state".to_owned(), state.to_owned())].into();
        let resource = Section {
            kind: "vm".to_owned(),
            props,
        };
        world.ha_resources.insert(format!("vm:{vmid}"), resource);
    }
    if starts {
        job.log("Execute autostart");
        start_machine(world, call);
    }
}

/// The start is a task of its own; whether it succeeds is its own matter.
fn start_machine(world: &mut World, call: &Call) {
    let mut params = Params::default();
    params.set("node", Given::from(call.node()));
    params.set("vmid", Given::from(call.vmid().to_string().as_str()));
    let _ = power::start(
        world,
        &Call {
            params,
            ..call.clone()
        },
    );
}

/// A failed attempt leaves nothing behind, or the machine that was to be replaced.
fn give_up(world: &mut World, order: &Order) {
    let vmid = order.call.vmid();
    if order.replaces || order.archive.is_some() {
        if let Some(guest) = world.guests.get_mut(&vmid) {
            guest.config.remove("lock");
        }
        return;
    }
    if let Some(guest) = world.guests.remove(&vmid) {
        for volid in guest.volumes() {
            // Nothing is based on what was made a moment ago.
            let _ = world.free_volume(order.call.node(), volid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_boot_from_disk_cdrom_and_network() {
        let config = |pairs: &[(&str, &str)]| pairs.iter().copied().collect::<Config>();
        let full = config(&[
            ("ide2", "none,media=cdrom"),
            ("net1", "virtio"),
            ("scsi1", "a:vm-1-disk-0"),
        ]);
        assert_eq!(default_boot_order(&full), "order=scsi1;ide2;net1");
        assert_eq!(default_boot_order(&config(&[])), " ");
    }

    #[test]
    fn only_windows_is_pinned() {
        let config = |system: &str, machine: &str| {
            let pairs = [("ostype", system), ("machine", machine)];
            pinned_machine(&pairs.into_iter().collect())
        };
        assert_eq!(config("win11", "q35").as_deref(), Some("pc-q35-10.1"));
        assert_eq!(config("l26", "q35"), None);
        assert_eq!(config("win11", "pc-q35-9.2"), None);
    }
}
