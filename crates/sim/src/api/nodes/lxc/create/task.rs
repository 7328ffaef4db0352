//! The task that makes a container: disks, then what is on them, then the config.

use super::{Order, restore};
use crate::api::nodes::guest::power::start_now;
use crate::api::nodes::guest::progress::seconds_to_copy;
use crate::api::nodes::lxc::options::OS_TYPES;
use crate::api::nodes::lxc::update::one_line;
use crate::api::nodes::lxc::volumes;
use crate::call::Call;
use crate::world::config::Config;
use crate::world::guest::Kind::Lxc;
use crate::world::guest::{Guest, Inside};
use crate::world::ha::service_id;
use crate::world::work::{Job, Work};
use crate::world::{Section, World};

/// Gibibytes of a root disk that nothing was said about.
const ROOT_SIZE: &str = "4";
/// Times that a template grows when it is unpacked.
const UNPACKED: u64 = 3;

pub(super) fn plan(order: Order) -> Work {
    let (vmid, node) = (order.vmid, order.node.clone());
    let kind = if order.restore {
        "vzrestore"
    } else {
        "vzcreate"
    };
    let undo = order.clone();
    Work::new(kind, vmid)
        .lock(Lxc, vmid)
        .undo("interrupted by signal", move |world| give_up(world, &undo))
        .run(move |world, job| {
            let label = if order.restore { "restore" } else { "create" };
            let failed = move |text: String| format!("unable to {label} CT {vmid} - {text}");
            let mut log = Vec::new();
            let made = make(world, &order, &mut log);
            for line in log {
                job.log(line);
            }
            let (config, bytes) = made.map_err(failed)?;
            job.wait(seconds_to_copy(bytes));
            job.then(move |world, job| {
                finish(world, &order, &node, config, job);
                Ok(())
            });
            Ok(())
        })
}

/// Makes disks and config; answers the config and how many bytes there are to unpack.
fn make(world: &mut World, order: &Order, log: &mut Vec<String>) -> Result<(Config, u64), String> {
    let mut config: Config = order
        .options
        .iter()
        .map(|(key, value)| (key, value))
        .collect();
    let mut mounts = order.mounts.clone();
    let mut unprivileged = order.unprivileged;
    if order.restore {
        log.push(format!(
            "recovering backed-up configuration from '{}'",
            order.archive
        ));
        let old = restore::saved_config(world, &order.node, &order.archive)?;
        unprivileged = unprivileged.or(Some(old.flag("unprivileged")));
        restore::check_rights(world, order, &old, unprivileged == Some(true))?;
        if mounts.is_empty() {
            mounts = restore::mounts(&old, &order.storage);
        }
        restore::merge(world, &old, order.call.flag("unique"), &mut config);
    } else if mounts.is_empty() {
        mounts = vec![(
            "rootfs".to_owned(),
            format!("{}:{ROOT_SIZE}", order.storage),
        )];
    }
    mounts.sort_by_key(|(key, _)| key != "rootfs");
    for (key, value) in &mounts {
        let pair = (key.as_str(), value.as_str());
        let value = volumes::realize(world, &order.node, order.vmid, pair, log)?;
        config.set(key, value);
        remember(world, order, &config);
    }
    let bytes = if order.restore {
        restore::unpack(world, order, log)?
    } else {
        unpack(world, order, &mut config, log)?
    };
    if unprivileged == Some(true) {
        config.set("unprivileged", "1");
    }
    for (key, value) in config.iter() {
        one_line(key, value)?;
    }
    Ok((config, bytes))
}

/// Lets the disks made so far be found if the task fails.
fn remember(world: &mut World, order: &Order, config: &Config) {
    if let Some(guest) = world
        .guests
        .get_mut(&order.vmid)
        .filter(|_| !order.replaces)
    {
        for drive in config.drives() {
            guest.config.set(drive.key, drive.volume);
        }
    }
}

/// Unpacks the template and sets up what is inside.
fn unpack(
    world: &mut World,
    order: &Order,
    config: &mut Config,
    log: &mut Vec<String>,
) -> Result<u64, String> {
    let archive = &order.archive;
    let Some(template) = world.volume(&order.node, archive) else {
        let text = format!("volume '{archive}' does not exist");
        log.push(text.clone());
        return Err(text);
    };
    let bytes = template.size * UNPACKED;
    let name = world.parse_volid(archive)?;
    let storage = archive
        .split(':')
        .next()
        .and_then(|id| world.storages.get(id));
    let path = storage
        .map(|storage| storage.path_of(&name))
        .unwrap_or_default();
    log.push(format!("extracting archive '{path}'"));
    log.push(extracted(bytes));
    log.push("Detected container architecture: amd64".to_owned());
    let distribution = name.file.split(['-', '_', '.']).next().unwrap_or_default();
    let known = OS_TYPES.iter().find(|os| **os == distribution);
    let os = known.ok_or("unable to detect OS distribution")?;
    if config.get("ostype").is_none() {
        config.set("ostype", *os);
    }
    if config.get("arch").is_none() {
        config.set("arch", "amd64");
    }
    let host = config.get("hostname").unwrap_or("localhost").to_owned();
    for kind in ["ecdsa", "rsa", "ed25519"] {
        let fingerprint = world.new_uuid().replace('-', "");
        log.push(format!(
            "Creating SSH host key 'ssh_host_{kind}_key' - this may take some time ..."
        ));
        log.push(format!("done: SHA256:{fingerprint} root@{host}"));
    }
    Ok(bytes)
}

/// What `tar` prints at its end.
pub(super) fn extracted(bytes: u64) -> String {
    format!("Total bytes read: {bytes} ({}MiB, 280MiB/s)", bytes >> 20)
}

/// The systemd of a template that wants nesting; distributions without systemd do not.
fn nesting_wanted(order: &Order, config: &Config) -> Option<u32> {
    let nesting = config
        .get("features")
        .is_some_and(|features| features.contains("nesting=1"));
    let plain = matches!(config.get("ostype"), Some("alpine" | "devuan" | "gentoo"));
    let version = match order.archive.as_str() {
        archive if archive.contains("debian-12") => 252,
        archive if archive.contains("ubuntu") => 255,
        _ => 257,
    };
    (!nesting && !plain && !order.restore).then_some(version)
}

/// Writes the config, and does what was asked for afterwards.
fn finish(world: &mut World, order: &Order, node: &str, mut config: Config, job: &mut Job) {
    let vmid = order.vmid;
    let defaults = [
        ("hostname", format!("CT{vmid}")),
        ("memory", "512".to_owned()),
        ("swap", "512".to_owned()),
    ];
    for (key, value) in defaults {
        if config.get(key).is_none() {
            config.set(key, value);
        }
    }
    if order.replaces {
        restore::remove_old_volumes(world, node, vmid);
    }
    if let Some(version) = nesting_wanted(order, &config) {
        job.warn(format!(
            "Systemd {version} detected. You may need to enable nesting."
        ));
    }
    let mut guest = Guest::new(vmid, Lxc, node, config);
    guest.inside = Inside {
        os: true,
        agent: false,
    };
    world.guests.insert(vmid, guest);
    let call = &order.call;
    if let Some(pool) = call.text("pool").and_then(|pool| world.pools.get_mut(pool)) {
        pool.guests.insert(vmid);
    }
    let starts = call.flag("start");
    if starts {
        start_container(world, call, node);
    }
    if call.flag("ha-managed") {
        job.log("Add as HA resource");
        let state = if starts { "started" } else { "stopped" };
        let props = [("state".to_owned(), state.to_owned())].into();
        let kind = "ct".to_owned();
        world
            .ha_resources
            .insert(service_id(Lxc, vmid), Section { kind, props });
    }
}

/// The start is a task of its own; this one ends without waiting for it, and lets go of the container by then.
fn start_container(world: &mut World, call: &Call, node: &str) {
    let (vmid, place) = (call.vmid(), node.to_owned());
    let start = Work::new("vzstart", vmid)
        .wait(1)
        .run(move |world, _| start_now(world, Lxc, &place, vmid));
    world.start_task(&call.who, node, start);
}

/// A failed attempt leaves nothing behind, or the container that was to be replaced.
fn give_up(world: &mut World, order: &Order) {
    if order.replaces {
        if let Some(guest) = world.guests.get_mut(&order.vmid) {
            guest.config.remove("lock");
        }
        return;
    }
    if let Some(guest) = world.guests.remove(&order.vmid) {
        for volid in guest.volumes() {
            // Nothing is based on what was made a moment ago.
            let _ = world.free_volume(&order.node, volid);
        }
    }
}
