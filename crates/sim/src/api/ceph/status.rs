//! `status`: the health of the whole.

use serde_json::{Value, json};

use super::of;
use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::ceph::Ceph;
use crate::world::node::Node;

/// The part of a disk that is full in this simulation.
pub(super) const FILLED: u32 = 10;

/// `GET status`, the same for the cluster and for a node.
pub(super) fn show(world: &mut World, _: &Call) -> Reply {
    let ceph = of(world)?;
    let (up, all) = (up(world, ceph), ceph.osds.len());
    let names: Vec<&String> = world.nodes.keys().collect();
    let online: Vec<usize> = (0..)
        .zip(world.nodes.values())
        .filter(|(_, node)| node.is_online())
        .map(|(rank, _)| rank)
        .collect();
    let quorum: Vec<_> = online.iter().map(|rank| names[*rank]).collect();
    let groups: u64 = ceph.pools.values().map(|pool| pool.pg_num).sum();
    let total: u64 = ceph
        .osds
        .values()
        .map(|osd| super::osds::size(world, osd))
        .sum();
    let used = total * u64::from(FILLED) / 100;
    let state = if up == all {
        "active+clean"
    } else {
        "active+undersized+degraded"
    };
    Ok(json!({
        "fsid": ceph.fsid,
        "health": health(world, ceph),
        "election_epoch": 12,
        "quorum": online,
        "quorum_names": quorum,
        "monmap": { "epoch": 3, "fsid": ceph.fsid, "min_mon_release_name": ceph.release, "mons": monitors(world) },
        "osdmap": { "epoch": 87, "num_osds": all, "num_up_osds": up, "num_in_osds": all, "num_remapped_pgs": 0 },
        "pgmap": {
            "pgs_by_state": [{ "state_name": state, "count": groups }],
            "num_pgs": groups,
            "num_pools": ceph.pools.len(),
            "num_objects": used / (4 << 20),
            "data_bytes": used / 3,
            "bytes_used": used,
            "bytes_avail": total - used,
            "bytes_total": total,
        },
        "fsmap": { "epoch": 1, "by_rank": [], "up:standby": 0 },
        "mgrmap": { "available": true, "active_name": quorum.first(), "num_standbys": quorum.len().saturating_sub(1) },
        "progress_events": {},
    })
    .into())
}

/// How many disks are in service on nodes that answer.
fn up(world: &World, ceph: &Ceph) -> usize {
    let osds = ceph.osds.values();
    osds.filter(|osd| is_up(world, &osd.host)).count()
}

pub(super) fn is_up(world: &World, host: &str) -> bool {
    world.nodes.get(host).is_some_and(Node::is_online)
}

fn health(world: &World, ceph: &Ceph) -> Value {
    let mut checks = serde_json::Map::new();
    let mut warn = |code: &str, message: String, count: usize| {
        let check = json!({
            "severity": "HEALTH_WARN",
            "summary": { "message": message, "count": count },
            "detail": [],
            "muted": false,
        });
        checks.insert(code.to_owned(), check);
    };
    if !ceph.flags.is_empty() {
        let flags: Vec<&str> = ceph.flags.iter().map(String::as_str).collect();
        let message = format!("{} flag(s) set", flags.join(","));
        warn("OSDMAP_FLAGS", message, flags.len());
    }
    let down = ceph.osds.len() - up(world, ceph);
    if down > 0 {
        warn("OSD_DOWN", format!("{down} osds down"), down);
    }
    let status = if checks.is_empty() {
        "HEALTH_OK"
    } else {
        "HEALTH_WARN"
    };
    json!({ "status": status, "checks": checks, "mutes": [] })
}

fn monitors(world: &World) -> Value {
    let mons = (0..).zip(world.nodes.values()).map(|(rank, node)| {
        let rank: u32 = rank;
        json!({
            "rank": rank,
            "name": node.name,
            "addr": format!("{}:6789/0", node.ip),
            "public_addr": format!("{}:6789/0", node.ip),
        })
    });
    mons.collect()
}
