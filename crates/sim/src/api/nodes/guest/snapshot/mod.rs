//! Snapshots of a guest: what there are, and their texts. Making, removing and going back to one have files of their
//! own; all three lock the config while they work.

pub(super) mod create;
pub(super) mod remove;
pub(super) mod rollback;

pub(crate) use create::state_storage;

use serde_json::{Value, json};

use crate::api::bit;
use crate::api::index;
use crate::api::nodes::guest::config::{find_snapshot, of_snapshot};
use crate::api::nodes::guest::free_now;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::schema::Param;
use crate::world::World;
use crate::world::guest::Kind::{self, Qemu};
use crate::world::guest::Snapshot;

/// May take and remove snapshots.
pub(super) const SNAPSHOT: Perm = Perm::On("/vms/{vmid}", &["VM.Snapshot"]);
/// May go back to a snapshot.
pub(super) const ROLLBACK: Perm =
    Perm::AnyOn("/vms/{vmid}", &["VM.Snapshot", "VM.Snapshot.Rollback"]);
/// May look into a snapshot.
pub(crate) const LOOK: Perm = Perm::AnyOn(
    "/vms/{vmid}",
    &["VM.Snapshot", "VM.Snapshot.Rollback", "VM.Audit"],
);

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
        if let Some(state) = snapshot.state {
            entry["snapstate"] = json!(state);
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

/// What there is below a snapshot, also for one that does not exist.
pub(super) fn root(_: &mut World, _: &Call) -> Reply {
    index("cmd", &["rollback", "config"])
}

/// `GET snapshot/{snapname}/config`. Unlike the guest's own config it hides no password.
pub(crate) fn show(world: &mut World, call: &Call, kind: Kind, options: &[Param]) -> Reply {
    let guest = world.need_guest(kind, call.node(), call.vmid())?;
    let snapshot = find_snapshot(guest, call.text("snapname").unwrap_or_default())?;
    Ok(Value::Object(of_snapshot(snapshot, options)).into())
}

/// `PUT snapshot/{snapname}/config`: another description. Without one nothing is even looked at.
pub(super) fn describe(world: &mut World, call: &Call, kind: Kind) -> Reply {
    let Some(description) = call.text("description") else {
        return done();
    };
    let (node, vmid) = (call.node(), call.vmid());
    let guest = world.need_guest(kind, node, vmid)?;
    free_now(world, kind, vmid)?;
    guest.check_lock().map_err(ApiError::fail)?;
    let name = call.text("snapname").unwrap_or_default();
    find_snapshot(guest, name)?;
    world
        .may_write_config(kind, node, vmid)
        .map_err(ApiError::fail)?;
    let snapshots = world.guest_mut(kind, node, vmid).into_iter();
    let mut snapshots = snapshots.flat_map(|guest| &mut guest.snapshots);
    if let Some(snapshot) = snapshots.find(|snapshot| snapshot.name == name) {
        description.clone_into(&mut snapshot.description);
    }
    done()
}

/// The guest and the snapshot that a task is about.
#[derive(Clone)]
struct Order {
    kind: Kind,
    node: String,
    vmid: u32,
    name: String,
}

impl Order {
    fn read(call: &Call, kind: Kind) -> Self {
        Self {
            kind,
            node: call.node().to_owned(),
            vmid: call.vmid(),
            name: call.text("snapname").unwrap_or_default().to_owned(),
        }
    }

    fn missing(&self) -> String {
        format!("snapshot '{}' does not exist", self.name)
    }
}
