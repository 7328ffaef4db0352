//! `feature` of a guest: whether its disks can be snapshotted, cloned or copied.

use serde_json::json;

use crate::api::bit;
use crate::api::nodes::guest::config::find_snapshot;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::config::Config;
use crate::world::feature::Feature;
use crate::world::guest::Kind::{self, Qemu};
use crate::world::guest::no_vm_on_node;

/// `GET feature`. Only a machine's answer names the nodes that see all its disks.
pub(super) fn show(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let (node, vmid) = (call.node(), call.vmid());
    if kind == Qemu && world.guest(kind, node, vmid).is_none() {
        return Err(ApiError::fail(no_vm_on_node(node, vmid)));
    }
    let guest = world.need_guest(kind, node, vmid)?;
    let snapshot = call.text("snapname");
    let config = match snapshot {
        Some(name) => &find_snapshot(guest, name)?.config,
        None => &guest.config,
    };
    let feature = call.text("feature").and_then(Feature::parse);
    let has = feature.is_some_and(|feature| world.guest_has_feature(feature, guest, snapshot));
    let mut answer = json!({ "hasFeature": bit(has) });
    if kind == Qemu {
        answer["nodes"] = json!(nodes_that_see(world, node, config));
    }
    Ok(answer.into())
}

/// The nodes that reach every volume of a config; of storages that are not shared only the guest's own does.
fn nodes_that_see<'a>(world: &'a World, home: &str, config: &Config) -> Vec<&'a str> {
    let storages: Vec<_> = config
        .drives()
        .filter(|drive| !drive.key.starts_with("unused"))
        .filter_map(|drive| world.storages.get(drive.storage()?))
        .collect();
    let nodes = world.nodes.keys().map(String::as_str);
    nodes
        .filter(|node| {
            storages.iter().all(|storage| {
                let limited = !storage.nodes.is_empty();
                let everywhere = limited || storage.shared || *node == home;
                !storage.is_disabled() && storage.is_on(node) && everywhere
            })
        })
        .collect()
}
