//! `PUT config` of a container: what takes effect at once, what waits for a restart, and what is refused.

use super::options::{NET, OPTIONS};
use super::rights::Change;
use super::volumes::{self, Source, is_mount_key, is_unused_key, source};
use crate::api::nodes::guest::access::is_network_device;
use crate::api::nodes::guest::{free_now, unique_tags};
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply, done};
use crate::world::World;
use crate::world::guest::Guest;
use crate::world::guest::Kind::Lxc;

/// What a running container takes over although nothing inside it changes.
const AT_ONCE: &[&str] = &[
    "description",
    "onboot",
    "startup",
    "protection",
    "hostname",
    "hookscript",
    "cores",
    "tags",
    "lock",
];
/// What can be changed in a running container.
const HOT: &[&str] = &["cpulimit", "cpuunits", "memory", "swap"];

/// `PUT config`.
pub(super) fn update(world: &mut World, call: &Call) -> Reply {
    let (vmid, node) = (call.vmid(), call.node().to_owned());
    let given: Vec<(&str, &str)> = given(call).collect();
    let (delete, revert) = (call.params.list("delete"), call.params.list("revert"));
    if given.is_empty() && !call.params.has("delete") && !call.params.has("revert") {
        return Err(ApiError::fail("no options specified"));
    }
    free_now(world, Lxc, vmid)?;
    let guest = world.need_guest(Lxc, &node, vmid)?;
    guest.check_lock().map_err(ApiError::fail)?;
    check_digest(guest, call)?;
    let change = Change {
        vmid,
        pool: None,
        old: &guest.config,
        unprivileged: guest.config.flag("unprivileged"),
    };
    change.check_removed(world, call, &delete)?;
    change.check_removed(world, call, &revert)?;
    check_names(call, &delete, &revert)?;
    change.check_set(world, call, given.iter().copied())?;
    let mut guest = guest.clone();
    for key in &revert {
        guest.pending.remove(*key);
    }
    plan_deletes(&mut guest, &delete)?;
    for (key, value) in &given {
        let value = accepted(world, &guest, key, value)?;
        guest.pending.insert((*key).to_owned(), Some(value));
    }
    let touched: Vec<&str> = delete
        .iter()
        .copied()
        .chain(given.iter().map(|(key, _)| *key))
        .collect();
    drop_needless(&mut guest);
    world
        .may_write_config(Lxc, &node, vmid)
        .map_err(ApiError::fail)?;
    apply(world, &mut guest, &touched)?;
    guest.config.forget_unused_in_use();
    world.guests.insert(vmid, guest);
    done()
}

/// The options that were sent, without what the call itself needs.
fn given(call: &Call) -> impl Iterator<Item = (&str, &str)> {
    let params = call.params.iter();
    let options = params.filter(|(name, _)| OPTIONS.iter().any(|option| option.covers(name)));
    options.filter_map(|(name, _)| Some((name, call.text(name)?)))
}

/// Fails if the config is not the one that the caller knew.
pub(super) fn check_digest(guest: &Guest, call: &Call) -> Result<(), ApiError> {
    match call.text("digest") {
        Some(digest) if digest != guest.digest() => Err(ApiError::fail(
            "detected modified configuration - file changed by other user? Try again.",
        )),
        _ => Ok(()),
    }
}

/// Names in `delete` and `revert` must be options, and must not be set in the same call.
fn check_names(call: &Call, delete: &[&str], revert: &[&str]) -> Result<(), ApiError> {
    let known = |key: &str| OPTIONS.iter().any(|option| option.covers(key));
    for key in revert {
        if !known(key) {
            return Err(ApiError::param("revert", format!("unknown option '{key}'")));
        }
        if call.params.has(key) {
            let text = format!("you can't use '-{key}' and '-revert {key}' at the same time");
            return Err(ApiError::param("revert", text));
        }
    }
    for key in delete {
        if !known(key) {
            return Err(ApiError::param("delete", format!("unknown option '{key}'")));
        }
        if call.params.has(key) {
            let text = format!("you can't use '-{key}' and -delete {key}' at the same time");
            return Err(ApiError::param("delete", text));
        }
        if revert.contains(key) {
            let text =
                format!("you can't use '-delete {key}' and '-revert {key}' at the same time");
            return Err(ApiError::param("delete", text));
        }
    }
    Ok(())
}

fn plan_deletes(guest: &mut Guest, keys: &[&str]) -> Result<(), ApiError> {
    for key in keys {
        if guest.config.get(key).is_none() && !guest.pending.contains_key(*key) {
            continue;
        }
        match *key {
            "memory" | "rootfs" | "ostype" => {
                let text = format!("unable to delete required option '{key}'");
                return Err(ApiError::fail(text));
            }
            "unprivileged" => {
                let text = "unable to delete read-only option: 'unprivileged'";
                return Err(ApiError::fail(text));
            }
            _ if is_mount_key(key) || is_unused_key(key) => {
                check_protection(
                    guest,
                    &format!("can't remove CT {} drive '{key}'", guest.vmid),
                )?;
            }
            _ => {}
        }
        guest.pending.insert((*key).to_owned(), None);
    }
    Ok(())
}

/// Fails if the container is protected; `action` says what is refused.
pub(super) fn check_protection(guest: &Guest, action: &str) -> Result<(), ApiError> {
    if guest.config.flag("protection") {
        return Err(ApiError::fail(format!(
            "{action} - protection mode enabled"
        )));
    }
    Ok(())
}

/// The value as it goes into the config.
fn accepted(world: &World, guest: &Guest, key: &str, value: &str) -> Result<String, ApiError> {
    match key {
        "unprivileged" => Err(ApiError::fail(
            "unable to modify read-only option: 'unprivileged'",
        )),
        _ if is_mount_key(key) => {
            check_protection(
                guest,
                &format!("can't update CT {} drive '{key}'", guest.vmid),
            )?;
            check_content(world, value)?;
            Ok(value.to_owned())
        }
        _ => {
            let value = normal(key, value);
            one_line(key, &value).map_err(ApiError::fail)?;
            Ok(value)
        }
    }
}

/// A configuration has one setting a line; PVE finds out when it writes one.
pub(super) fn one_line(key: &str, value: &str) -> Result<(), String> {
    if !matches!(key, "description" | "env") && value.contains('\n') {
        return Err(format!("detected invalid newline inside property '{key}'"));
    }
    Ok(())
}

/// The storage of a volume must be meant for containers.
fn check_content(world: &World, value: &str) -> Result<(), ApiError> {
    let id = match source(value) {
        Source::New(storage, _) => storage,
        Source::Volume(volid) => volid.split(':').next().unwrap_or_default(),
        Source::Device | Source::Bind => return Ok(()),
    };
    match world.storages.get(id) {
        None => Err(ApiError::fail(format!("storage '{id}' does not exist"))),
        Some(storage) if !storage.holds("rootdir") => Err(ApiError::fail(format!(
            "storage '{id}' does not allow content type 'rootdir' (Container)"
        ))),
        Some(_) => Ok(()),
    }
}

/// Lists are cleaned up, and a description ends with a newline, as the config file's comment lines do.
pub(in crate::api::nodes) fn normal(key: &str, value: &str) -> String {
    let words = |separator: &str| split_list(value).collect::<Vec<_>>().join(separator);
    match key {
        "nameserver" | "searchdomain" => words(" "),
        "tags" => unique_tags(value),
        "description" if !value.is_empty() && !value.ends_with('\n') => format!("{value}\n"),
        _ => value.to_owned(),
    }
}

/// The device with what PVE adds to it.
pub(super) fn network_device(world: &mut World, value: &str) -> String {
    let mac = world.new_mac();
    let mut pairs = NET.split(value).unwrap_or_default();
    pairs.retain(|(key, _)| *key != "type");
    pairs.push(("type", "veth"));
    if !pairs.iter().any(|(key, _)| *key == "hwaddr") {
        pairs.push(("hwaddr", &mac));
    }
    NET.join(&pairs)
}

/// Forgets changes that change nothing.
fn drop_needless(guest: &mut Guest) {
    let config = &guest.config;
    guest
        .pending
        .retain(|key, value| value.as_deref() != config.get(key));
}

/// Makes real what the container can take now.
fn apply(world: &mut World, guest: &mut Guest, touched: &[&str]) -> Result<(), ApiError> {
    let running = guest.is_running();
    let ready: Vec<(String, Option<String>)> = guest
        .pending
        .iter()
        .filter(|(key, _)| touched.contains(&key.as_str()))
        .filter(|(key, value)| !running || is_hot(guest, key, value.is_some()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let trouble = if running {
        |key: &str, text: &str| format!("unable to hotplug {key}: {text}\n")
    } else {
        |key: &str, text: &str| format!("unable to apply pending change {key} : {text}\n")
    };
    let mut errors = Vec::new();
    for (key, value) in ready {
        let applied = match value {
            Some(value) => set(world, guest, &key, &value),
            None => remove(world, guest, &key),
        };
        match applied {
            Ok(()) => drop(guest.pending.remove(&key)),
            Err(text) => errors.push((key.clone(), trouble(&key, &text))),
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiError::params(errors))
    }
}

/// Whether a running container takes the change at once. Mount points can be added, not changed or removed.
fn is_hot(guest: &Guest, key: &str, is_set: bool) -> bool {
    let plain = AT_ONCE.contains(&key) || HOT.contains(&key) && (is_set || key != "memory");
    plain
        || is_network_device(key)
        || (is_unused_key(key) && !is_set)
        || (key.starts_with("mp") && is_set && guest.config.get(key).is_none())
}

fn set(world: &mut World, guest: &mut Guest, key: &str, value: &str) -> Result<(), String> {
    let value = if is_network_device(key) {
        network_device(world, value)
    } else if key.starts_with("mp") {
        let mut log = Vec::new();
        let node = guest.node.clone();
        volumes::realize(world, &node, guest.vmid, (key, value), &mut log)?
    } else {
        value.to_owned()
    };
    let old = guest.config.get(key).map(str::to_owned);
    guest.config.set(key, value);
    if let Some(old) = old.filter(|_| key.starts_with("mp")) {
        keep_volume(guest, &old);
    }
    Ok(())
}

/// Removes a key. A mount point's volume is kept, an unused one is destroyed.
fn remove(world: &mut World, guest: &mut Guest, key: &str) -> Result<(), String> {
    let Some(old) = guest.config.remove(key) else {
        return Ok(());
    };
    if is_mount_key(key) {
        keep_volume(guest, &old);
    } else if is_unused_key(key) && !guest.volumes().contains(&old.as_str()) {
        let node = guest.node.clone();
        world.free_volume(&node, &old)?;
    }
    Ok(())
}

/// A volume that a mount point no longer uses stays as an unused one.
fn keep_volume(guest: &mut Guest, value: &str) {
    if let Source::Volume(volid) = source(value) {
        guest.config.add_unused(volid);
    }
}
