//! What Ceph consists of: daemons, pools, rules, flags, its configuration.

use serde_json::{Value, json};

use super::status::{FILLED, is_up};
use super::{BUILD, FLAGS, long_version, missing, of};
use crate::call::Call;
use crate::error::Reply;
use crate::world::World;
use crate::world::ceph::Ceph;
use crate::world::node::Node;

/// `GET flags`.
pub(super) fn flags(world: &mut World, _: &Call) -> Reply {
    let ceph = of(world)?;
    let rows = FLAGS.iter().map(|(name, description)| {
        json!({ "name": name, "description": description, "value": u8::from(ceph.is_set(name)) })
    });
    Ok(rows.collect::<Value>().into())
}

/// `GET metadata`. Which version each node has installed is told even where that is none.
pub(super) fn metadata(world: &mut World, call: &Call) -> Reply {
    let only_versions = call.text("scope") == Some("versions");
    let Some(ceph) = &world.ceph else {
        return if only_versions {
            Ok(json!({}).into())
        } else {
            Err(missing())
        };
    };
    let parts: Vec<&str> = ceph.version.split('.').collect();
    let version = json!({ "str": ceph.version, "parts": parts });
    let nodes: Value = world
        .nodes
        .keys()
        .map(|name| {
            (
                name.clone(),
                json!({ "buildcommit": BUILD, "version": version }),
            )
        })
        .collect();
    if only_versions {
        return Ok(json!({ "node": nodes }).into());
    }
    let daemons = |addresses: &str| -> Value {
        let each = world.nodes.values().map(|node| {
            let mut daemon = daemon(ceph, node);
            daemon[addresses] = json!(format!("[v2:{0}:3300/0,v1:{0}:6789/0]", node.ip));
            daemon["hostname"] = json!(node.name);
            daemon["mem_total_kb"] = json!(node.memory / 1024);
            (format!("{0}@{0}", node.name), daemon)
        });
        each.collect()
    };
    let osds = ceph.osds.iter().map(|(id, osd)| {
        json!({
            "id": id,
            "hostname": osd.host,
            "devices": osd.device,
            "ceph_release": ceph.release,
            "ceph_version": long_version(ceph),
            "ceph_version_short": ceph.version,
        })
    });
    Ok(json!({
        "node": nodes,
        "mon": daemons("addrs"),
        "mgr": daemons("addr"),
        "mds": {},
        "osd": osds.collect::<Value>(),
    })
    .into())
}

/// What is told of every daemon.
fn daemon(ceph: &Ceph, node: &Node) -> Value {
    json!({
        "name": node.name,
        "ceph_release": ceph.release,
        "ceph_version": long_version(ceph),
        "ceph_version_short": ceph.version,
        "direxists": 1,
        "service": 1,
    })
}

fn service(ceph: &Ceph, node: &Node) -> Value {
    json!({
        "name": node.name,
        "host": node.name,
        "ceph_version": long_version(ceph),
        "ceph_version_short": ceph.version,
        "direxists": 1,
        "service": 1,
    })
}

/// `GET mon`.
pub(super) fn monitors(world: &mut World, _: &Call) -> Reply {
    let ceph = of(world)?;
    let rows = (0..).zip(world.nodes.values()).map(|(rank, node)| {
        let rank: u32 = rank;
        let mut row = service(ceph, node);
        row["rank"] = json!(rank);
        row["addr"] = json!(format!("{}:6789/0", node.ip));
        row["state"] = json!("stopped");
        if node.is_online() {
            row["state"] = json!("running");
            row["quorum"] = json!(1);
        }
        row
    });
    Ok(rows.collect::<Value>().into())
}

/// `GET mgr`: one is active, the others wait.
pub(super) fn managers(world: &mut World, _: &Call) -> Reply {
    let ceph = of(world)?;
    let mut online = world.nodes.values().filter(|node| node.is_online());
    let active = online.next().map(|node| node.name.as_str());
    let rows = world.nodes.values().map(|node| {
        let mut row = service(ceph, node);
        row["addr"] = json!(node.ip);
        row["state"] = json!(match node.name.as_str() {
            name if Some(name) == active => "active",
            name if is_up(world, name) => "standby",
            _ => "stopped",
        });
        row
    });
    Ok(rows.collect::<Value>().into())
}

/// `GET mds` and `GET fs`: nobody has made a file system.
pub(super) fn nothing(world: &mut World, _: &Call) -> Reply {
    of(world)?;
    Ok(json!([]).into())
}

/// `GET pool`.
pub(super) fn pools(world: &mut World, _: &Call) -> Reply {
    let ceph = of(world)?;
    let total: u64 = ceph
        .osds
        .values()
        .map(|osd| super::osds::size(world, osd))
        .sum();
    let rows = ceph.pools.iter().map(|(name, pool)| {
        // The first one holds all that there is.
        let percent = if pool.id == 1 { FILLED } else { 0 };
        json!({
            "pool": pool.id,
            "pool_name": name,
            "type": "replicated",
            "size": pool.size,
            "min_size": pool.min_size,
            "pg_num": pool.pg_num,
            "pg_num_final": pool.pg_num,
            "pg_autoscale_mode": pool.autoscale,
            "crush_rule": 0,
            "crush_rule_name": "replicated_rule",
            "bytes_used": total * u64::from(percent) / 100,
            // A part of one, whatever it is called.
            "percent_used": f64::from(percent) / 100.0,
            "application_metadata": { pool.application.as_str(): {} },
        })
    });
    Ok(rows.collect::<Value>().into())
}

/// `GET rules`.
pub(super) fn rules(world: &mut World, _: &Call) -> Reply {
    of(world)?;
    Ok(json!([{ "name": "replicated_rule" }]).into())
}

/// `GET cfg/raw`: the file as it is.
pub(super) fn config(world: &mut World, _: &Call) -> Reply {
    let ceph = of(world)?;
    let addresses: Vec<&str> = world.nodes.values().map(|node| node.ip.as_str()).collect();
    let mut text = format!(
        "[global]\n\tauth_client_required = cephx\n\tauth_cluster_required = cephx\n\tauth_service_required = cephx\n\tfsid = {}\n\tmon_allow_pool_delete = true\n\tmon_host = {}\n\tosd_pool_default_min_size = 2\n\tosd_pool_default_size = 3\n\n[client]\n\tkeyring = /etc/pve/priv/$cluster.$name.keyring\n",
        ceph.fsid,
        addresses.join(" ")
    );
    for node in world.nodes.values() {
        let section = ["\n[mon.", &node.name, "]\n\tpublic_addr = ", &node.ip, "\n"];
        text.push_str(&section.concat());
    }
    Ok(json!(text).into())
}
