//! `GET migrate`: where a guest could go, and what stands in the way.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::volumes::{self, Local};
use crate::api::bit;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::config::{Config, property};
use crate::world::guest::{Guest, Kind};
use crate::world::ha::service_id;

/// `GET migrate`. `target` changes nothing.
pub(in super::super) fn show(world: &mut World, call: &Call, kind: Kind) -> Reply {
    world.require_quorum()?;
    let guest = world.need_guest(kind, call.node(), call.vmid())?;
    guest.check_lock().map_err(ApiError::fail)?;
    let managed = world.ha_resource(kind, guest.vmid);
    let motion = managed.map(|_| world.ha_motion(&service_id(kind, guest.vmid)));
    let apart = motion.iter().flat_map(|motion| &motion.apart);
    let apart: BTreeMap<&String, Value> = apart
        .map(|(node, sids)| (node, sids.iter().map(|sid| blocking(sid)).collect()))
        .collect();
    let mut answer = match kind {
        Kind::Qemu => of_machine(world, guest, &apart),
        Kind::Lxc => of_container(world, guest, &apart),
    };
    answer["running"] = bit(guest.is_running());
    if let Some(motion) = &motion {
        answer["dependent-ha-resources"] = json!(motion.together);
    }
    Ok(answer.into())
}

fn blocking(sid: &str) -> Value {
    json!({ "sid": sid, "cause": "resource-affinity" })
}

/// Nodes without an obstacle are allowed; unlike a machine's answer, only the others are listed as not allowed.
fn of_container(world: &World, guest: &Guest, apart: &BTreeMap<&String, Value>) -> Value {
    let others = world.nodes.keys().filter(|node| **node != guest.node);
    let (kept_off, allowed): (Vec<&String>, Vec<&String>) =
        others.partition(|node| apart.contains_key(node));
    let kept_off = kept_off.into_iter().map(|node| {
        (
            node.clone(),
            json!({ "blocking-ha-resources": apart[node] }),
        )
    });
    json!({ "allowed-nodes": allowed, "not-allowed-nodes": kept_off.collect::<Map<_, _>>() })
}

fn of_machine(world: &World, guest: &Guest, apart: &BTreeMap<&String, Value>) -> Value {
    let mut allowed = Vec::new();
    let mut others = Map::new();
    for node in world.nodes.keys().filter(|node| **node != guest.node) {
        let mut obstacles = Map::new();
        let missing = missing_storages(world, &guest.config, node);
        if !missing.is_empty() {
            obstacles.insert("unavailable_storages".to_owned(), json!(missing));
        }
        if let Some(blocking) = apart.get(node) {
            obstacles.insert("blocking-ha-resources".to_owned(), blocking.clone());
        }
        if obstacles.is_empty() {
            allowed.push(node);
        }
        others.insert(node.clone(), Value::Object(obstacles));
    }
    let disks: Value = volumes::local(world, guest).iter().map(disk).collect();
    let mapped = mapped_devices(&guest.config);
    let names: Vec<&String> = mapped.keys().collect();
    json!({
        "allowed_nodes": allowed,
        "not_allowed_nodes": others,
        "local_disks": disks,
        "local_resources": local_devices(&guest.config, guest.is_running()),
        "mapped-resources": names,
        "mapped-resource-info": mapped.iter().map(|(key, name)| (key.clone(), json!({ "name": name }))).collect::<Map<_, _>>(),
        "has-dbus-vmstate": 1,
    })
}

fn missing_storages(world: &World, config: &Config, node: &str) -> Vec<String> {
    let drives = config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"));
    let ids = drives.filter_map(|drive| drive.storage().map(str::to_owned));
    let mut missing: Vec<String> = ids
        .filter(|id| {
            let storage = world.storages.get(id);
            storage.is_some_and(|storage| storage.is_disabled() || !storage.is_on(node))
        })
        .collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

fn disk(local: &Local) -> Value {
    let tpm = local.drive.as_deref() == Some("tpmstate0");
    let mut entry = json!({
        "volid": local.volid,
        "cdrom": bit(local.cdrom),
        "is_attached": bit(local.attached),
        "is_cloudinit": bit(local.cloudinit),
        "is_tpmstate": bit(tpm),
        "is_unused": bit(local.unused),
        "is_vmstate": bit(local.vmstate),
        "replicate": 1,
        "shared": 0,
    });
    if let Some(drive) = &local.drive {
        entry["drivename"] = json!(drive);
    }
    if let Some(size) = local.size {
        entry["size"] = json!(size);
    }
    if !local.snapshots.is_empty() {
        let names = local.snapshots.iter().map(|name| (name.clone(), json!(1)));
        entry["referenced_in_snapshot"] = Value::Object(names.collect());
    }
    entry
}

fn is_numbered(key: &str, families: &[&str]) -> bool {
    let family = key.trim_end_matches(|c: char| c.is_ascii_digit());
    family != key && families.contains(&family)
}

/// Devices of the node that a machine uses. Mapped ones do not count while it is stopped.
pub(super) fn local_devices(config: &Config, running: bool) -> Vec<String> {
    let families = ["usb", "hostpci", "serial", "parallel", "virtiofs"];
    let devices = config.iter().filter(|(key, value)| {
        let harmless = match key.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "serial" => *value == "socket",
            "usb" => value.starts_with("spice") || property(value, "host") == Some("spice"),
            "hostpci" => !running && property(value, "mapping").is_some(),
            _ => false,
        };
        is_numbered(key, &families) && !harmless
    });
    devices.map(|(key, _)| key.to_owned()).collect()
}

/// Devices that a mapping gives to a machine, with its name.
pub(super) fn mapped_devices(config: &Config) -> BTreeMap<String, String> {
    let mapping = |(key, value): (&str, &str)| {
        let name = if is_numbered(key, &["virtiofs"]) {
            property(value, "dirid").or_else(|| value.split(',').next())
        } else if is_numbered(key, &["usb", "hostpci"]) {
            property(value, "mapping")
        } else {
            None
        };
        Some((key.to_owned(), name?.to_owned()))
    };
    config.iter().filter_map(mapping).collect()
}
