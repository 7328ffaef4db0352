//! Snapshots of a guest.

use serde_json::{Value, json};

use crate::api::bit;
use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::guest::Kind::{self, Qemu};
use crate::world::guest::Snapshot;

/// `GET snapshot`: all snapshots, and the present as `current`.
pub(super) fn list(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let guest = world.need_guest(kind, call.node(), call.vmid())?;
    let entry = |snapshot: &Snapshot| {
        let mut entry = json!({
            "name": snapshot.name,
            "snaptime": snapshot.time.secs(),
            "description": snapshot.description,
        });
        if kind == Qemu {
            entry["vmstate"] = bit(snapshot.vmstate.is_some());
        }
        if let Some(parent) = &snapshot.parent {
            entry["parent"] = json!(parent);
        }
        entry
    };
    let mut current = json!({
        "name": "current",
        "description": "You are here!",
        "digest": guest.digest(),
        "running": bit(guest.is_running()),
    });
    if let Some(parent) = guest.config.get("parent") {
        current["parent"] = json!(parent);
    }
    let entries = guest.snapshots.iter().map(entry).chain([current]);
    Ok(entries.collect::<Value>().into())
}
