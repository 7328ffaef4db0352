//! ZFS pools of a node.

use serde_json::{Value, json};

use super::{storages, used_for};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::host::Disk;

/// `GET disks/zfs`.
pub(super) fn list(world: &mut World, call: &Call) -> Reply {
    if used_for(world, call, "ZFS").next().is_none() {
        return Err(ApiError::fail("zfsutils-linux not installed"));
    }
    let sick = used_for(world, call, "ZFS").any(|disk| disk.health != "PASSED");
    let entries = storages(world, call, "zfspool").map(|(id, storage)| {
        let used = world.used_space(call.node(), id);
        json!({
            "name": storage.props.get("pool"),
            "size": storage.capacity,
            "alloc": used,
            "free": storage.capacity.saturating_sub(used),
            "frag": 4,
            "dedup": 1.0,
            "health": if sick { "DEGRADED" } else { "ONLINE" },
        })
    });
    Ok(entries.collect::<Value>().into())
}

/// `GET disks/zfs/{name}`: one mirror of all disks that are used for ZFS.
pub(super) fn detail(world: &mut World, call: &Call) -> Reply {
    if used_for(world, call, "ZFS").next().is_none() {
        return Err(ApiError::fail("zfsutils-linux not installed"));
    }
    let name = call.text("name").unwrap_or_default();
    let has_name = |pool: &String| pool == name;
    let mut pools =
        storages(world, call, "zfspool").filter_map(|(_, storage)| storage.props.get("pool"));
    if !pools.any(has_name) {
        return Err(ApiError::fail(format!(
            "command '/sbin/zpool status -P {name}' failed: exit code 1"
        )));
    }
    let sick = used_for(world, call, "ZFS").any(|disk| disk.health != "PASSED");
    let state = if sick { "DEGRADED" } else { "ONLINE" };
    let leaf = |disk: &Disk| {
        let broken = disk.health != "PASSED";
        json!({
            "name": format!("/dev/{}1", disk.device),
            "state": if broken { "FAULTED" } else { "ONLINE" },
            "read": if broken { 14 } else { 0 }, "write": 0, "cksum": 0,
            "msg": if broken { "too many errors" } else { "" },
            "leaf": 1,
        })
    };
    let disks: Value = used_for(world, call, "ZFS").map(leaf).collect();
    let branch = |name: &str, children: Value| {
        json!({
            "name": name, "state": state, "read": 0, "write": 0, "cksum": 0, "msg": "",
            "leaf": 0, "children": children,
        })
    };
    let mut pool = json!({
        "name": name,
        "state": state,
        "scan": "scrub repaired 0B in 02:11:40 with 0 errors on Sun Nov  8 02:35:41 2026",
        "errors": "No known data errors",
        "leaf": 0,
        "children": [branch(name, json!([branch("mirror-0", disks)]))],
    });
    if sick {
        pool["status"] = json!(
            "One or more devices are faulted in response to persistent errors. Sufficient replicas exist for the pool to continue functioning in a degraded state."
        );
        pool["action"] =
            json!("Replace the faulted device, or use 'zpool clear' to mark the device repaired.");
    }
    Ok(pool.into())
}
