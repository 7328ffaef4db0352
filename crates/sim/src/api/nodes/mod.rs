//! `/nodes`: the nodes themselves. What lies below a node has modules of its own.

pub mod appliances;
pub mod apt;
pub mod certificates;
pub mod console;
pub mod disks;
pub(crate) mod guest;
pub mod hardware;
pub mod journal;
pub mod lxc;
pub mod network;
pub mod qemu;
pub mod replication;
pub mod rrd;
pub mod services;
pub mod settings;
pub mod storage;
pub mod tasks;
pub mod unused;
pub mod vzdump;

use serde_json::{Value, json};

use crate::api::{REPOID, index, version};
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::world::World;
use crate::world::node::Node;

/// The routes of the nodes themselves.
pub const ROUTES: &[Route] = &[
    get("/nodes", list).allow(Perm::User),
    get("/nodes/{node}", root).allow(Perm::User).params(&[NODE]),
    get("/nodes/{node}/status", status)
        .allow(Perm::On("/nodes/{node}", &["Sys.Audit"]))
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/version", version)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
];

/// Answered by the node that was asked, and for nodes that do not exist too.
fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "aplinfo",
        "apt",
        "capabilities",
        "ceph",
        "certificates",
        "config",
        "disks",
        "dns",
        "firewall",
        "hardware",
        "hosts",
        "journal",
        "lxc",
        "migrateall",
        "netstat",
        "network",
        "qemu",
        "query-oci-repo-tags",
        "query-url-metadata",
        "replication",
        "report",
        "rrd",
        "rrddata",
        "scan",
        "sdn",
        "services",
        "spiceshell",
        "startall",
        "status",
        "stopall",
        "storage",
        "subscription",
        "suspendall",
        "syslog",
        "tasks",
        "termproxy",
        "time",
        "version",
        "vncshell",
        "vzdump",
        "wakeonlan",
    ];
    index("name", &names)
}

fn list(world: &mut World, call: &Call) -> Reply {
    let entry = |node: &Node| {
        let status = if node.is_online() {
            "online"
        } else {
            "offline"
        };
        let mut entry = json!({
            "type": "node",
            "id": format!("node/{}", node.name),
            "node": node.name,
            "status": status,
            "level": "",
            "ssl_fingerprint": node.fingerprint,
        });
        add_figures(world, call, node, &mut entry);
        entry
    };
    Ok(world.nodes.values().map(entry).collect::<Value>().into())
}

/// Adds a node's figures for those who may see them. Of a lost node only the sizes are left.
pub(crate) fn add_figures(world: &World, call: &Call, node: &Node, entry: &mut Value) {
    if !world.may(&call.who, &format!("/nodes/{}", node.name), "Sys.Audit") {
        return;
    }
    entry["maxcpu"] = json!(node.cpus);
    entry["maxmem"] = json!(node.memory);
    entry["maxdisk"] = json!(node.disk);
    if node.is_online() {
        entry["cpu"] = json!(0.05);
        entry["mem"] = json!(node.memory_used());
        entry["disk"] = json!(node.disk_used());
        entry["uptime"] = json!(node.uptime(world.now));
    }
}

fn status(world: &mut World, call: &Call) -> Reply {
    let Some(node) = world.nodes.get(call.node()) else {
        return Ok(Value::Null.into());
    };
    let (memory, disk) = (node.memory_used(), node.disk_used());
    let (kernel, build) = ("6.17.2-1-pve", "#1 SMP PREEMPT_DYNAMIC PMX 6.17.2-1");
    Ok(json!({
        "uptime": node.uptime(world.now),
        "cpu": 0.05,
        "wait": 0,
        "idle": 0,
        "loadavg": ["0.20", "0.25", "0.30"],
        "pveversion": format!("pve-manager/{}/{REPOID}", world.version),
        "kversion": format!("Linux {kernel} {build}"),
        "current-kernel": { "sysname": "Linux", "release": kernel, "version": build, "machine": "x86_64" },
        "boot-info": { "mode": "legacy-bios" },
        "ksm": { "shared": 0 },
        "cpuinfo": {
            "model": "Simulated CPU", "vendor": "GenuineIntel", "family": "6", "flags": "fpu vmx", "hvm": "1",
            "mhz": "2800.000", "user_hz": 100, "cpus": node.cpus, "cores": node.cpus, "sockets": 1,
        },
        "memory": {
            "total": node.memory, "used": memory, "free": node.memory - memory, "available": node.memory - memory,
        },
        "swap": { "total": 0, "used": 0, "free": 0 },
        "rootfs": { "total": node.disk, "used": disk, "free": node.disk - disk, "avail": node.disk - disk },
    })
    .into())
}
