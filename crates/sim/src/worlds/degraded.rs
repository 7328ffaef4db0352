//! The demo on a bad day.

use std::time::Duration;

use super::homelab;
use crate::call::Identity;
use crate::world::World;
use crate::world::task::End;
use crate::world::upid::Upid;

/// `homelab` with `pve3` gone for ten minutes, the storage `nas` silent, and last night's backup failed.
pub fn degraded() -> World {
    let mut world = homelab();
    let lost = world.now - Duration::from_mins(10);
    if let Some(node) = world.nodes.get_mut("pve3") {
        node.down_since = Some(lost);
    }
    world.silent_storages.insert("nas".to_owned());
    let start = world.now - Duration::from_hours(4);
    let upid = Upid {
        node: "pve2".to_owned(),
        pid: world.new_pid(),
        pstart: 100_000,
        start: start.secs(),
        kind: "vzdump".to_owned(),
        id: String::new(),
        user: Identity::user("root@pam"),
    };
    let log = [
        "INFO: starting new backup job: vzdump 105 200 --storage nas --mode snapshot --compress zstd",
        "ERROR: could not activate storage 'nas': storage 'nas' is not online",
    ];
    let end = End {
        at: start + Duration::from_secs(12),
        status: "could not activate storage 'nas': storage 'nas' is not online".to_owned(),
    };
    let log = log.iter().map(|line| (*line).to_owned()).collect();
    world.tasks.add_past(upid, log, Some(end));
    world
}
