//! Flags and pools.

use serde_json::json;

use super::missing;
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::require;
use crate::world::World;
use crate::world::ceph::CephPool;
use crate::world::work::Work;

/// `PUT flags/{flag}`, which waits for no task.
pub(super) fn set_flag(world: &mut World, call: &Call) -> Reply {
    let ceph = world.ceph.as_mut().ok_or_else(missing)?;
    ceph.flag(call.text("flag").unwrap_or_default(), call.flag("value"));
    done()
}

/// `POST pool`. One of this name that is there already gets the settings.
pub(super) fn create_pool(world: &mut World, call: &Call) -> Reply {
    world.require_quorum()?;
    super::of(world)?;
    if call.flag("add_storages") {
        require(world, &call.who, "/storage", &["Datastore.Allocate"])?;
    }
    if call.text("erasure-coding").is_some() {
        return Err(ApiError::fail("erasure coding is not simulated"));
    }
    let name = call.text("name").unwrap_or_default().to_owned();
    let said = |key: &str, otherwise: &str| call.text(key).unwrap_or(otherwise).to_owned();
    let pool = CephPool {
        id: 0,
        size: call.int("size").unwrap_or(3),
        min_size: call.int("min_size").unwrap_or(2),
        pg_num: call.int("pg_num").unwrap_or(128),
        application: said("application", "rbd"),
        autoscale: said("pg_autoscale_mode", "warn"),
    };
    let work = Work::new("cephcreatepool", &name)
        .wait(2)
        .run(move |world, job| {
            let Some(ceph) = &mut world.ceph else {
                return Err("binary not installed: /usr/bin/ceph-mon".to_owned());
            };
            let there = ceph.pools.get(&name).map(|pool| pool.id);
            let next = 1 + ceph.pools.values().map(|pool| pool.id).max().unwrap_or(0);
            job.log(format!("pool {name}: applying size = {}", pool.size));
            let id = there.unwrap_or(next);
            ceph.pools.insert(name, CephPool { id, ..pool });
            Ok(())
        });
    Ok(json!(world.start_task(&call.who, call.node(), work)).into())
}
