//! The disks in Ceph's service, and one more.

use serde_json::{Value, json};

use super::status::{FILLED, is_up};
use super::{long_version, of};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::world::World;
use crate::world::ceph::{Ceph, Osd};
use crate::world::host::Disk;
use crate::world::work::Work;

/// What Ceph sets by itself.
const USUAL_FLAGS: &str = "sortbitwise,recovery_deletes,purged_snapdirs,pglog_hardlimit";

fn disk<'w>(world: &'w World, host: &str, device: &str) -> Option<&'w Disk> {
    let disks = &world.nodes.get(host)?.disks;
    disks.iter().find(|disk| disk.device == device)
}

/// Bytes of a disk in service.
pub(super) fn size(world: &World, osd: &Osd) -> u64 {
    disk(world, &osd.host, &osd.device).map_or(0, |disk| disk.size)
}

/// `GET osd`: a tree of the root, the hosts and their disks.
pub(super) fn tree(world: &mut World, _: &Call) -> Reply {
    let ceph = of(world)?;
    let hosts = (0..).zip(world.nodes.keys()).map(|(at, host)| {
        let at: i32 = at;
        let mine = ceph.osds.iter().filter(|(_, osd)| osd.host == *host);
        let leaves: Vec<Value> = mine.map(|(id, osd)| leaf(world, ceph, *id, osd)).collect();
        let mut bucket = json!({
            "id": -3 - 2 * at,
            "name": host,
            "type": "host",
            "version": ceph.version,
            "leaf": 0,
        });
        if !leaves.is_empty() {
            bucket["children"] = json!(leaves);
        }
        bucket
    });
    let root = json!({
        "id": -1,
        "name": "default",
        "type": "root",
        "leaf": 0,
        "children": hosts.collect::<Value>(),
    });
    let usual = USUAL_FLAGS.split(',');
    let flags: Vec<&str> = usual.chain(ceph.flags.iter().map(String::as_str)).collect();
    Ok(json!({
        "root": { "leaf": 0, "children": [root] },
        "flags": flags.join(","),
    })
    .into())
}

fn leaf(world: &World, ceph: &Ceph, id: u32, osd: &Osd) -> Value {
    let size = size(world, osd);
    let class = disk(world, &osd.host, &osd.device).map_or("ssd", |disk| disk.kind.name());
    // In tebibytes.
    let weight = f64::from(u32::try_from(size >> 20).unwrap_or(u32::MAX)) / f64::from(1_u32 << 20);
    json!({
        "id": id,
        "name": format!("osd.{id}"),
        "type": "osd",
        "host": osd.host,
        "status": if is_up(world, &osd.host) { "up" } else { "down" },
        "in": 1,
        "reweight": 1,
        "crush_weight": weight,
        "device_class": class,
        "pgs": ceph.pools.values().map(|pool| pool.pg_num).sum::<u64>(),
        "total_space": size,
        "bytes_used": size * u64::from(FILLED) / 100,
        "percent_used": FILLED,
        "commit_latency_ms": 0,
        "apply_latency_ms": 0,
        "osdtype": "bluestore",
        "blfsdev": format!("/dev/dm-{id}"),
        "dbdev": null,
        "waldev": null,
        "ceph_version": long_version(ceph),
        "ceph_version_short": ceph.version,
        "leaf": 1,
    })
}

/// `POST osd`: for root@pam alone. What was on the disk is gone.
pub(super) fn create(world: &mut World, call: &Call) -> Reply {
    let ceph = of(world)?;
    let node = call.node().to_owned();
    let mut taken: Vec<String> = Vec::new();
    for key in ["dev", "db_dev", "wal_dev"] {
        let Some(path) = call.text(key) else { continue };
        let mut disks = world.nodes.get(&node).into_iter().flat_map(|it| &it.disks);
        let Some(disk) = disks.find(|disk| disk.is_at(path)) else {
            return Err(ApiError::fail("not a valid block device"));
        };
        let device = disk.device.clone();
        if taken.contains(&device) {
            let text = format!("cannot chose '{path}' for more than one type.");
            return Err(ApiError::param(key, text));
        }
        check_use(disk, ceph, &node, key).map_err(ApiError::fail)?;
        taken.push(device);
    }
    let device = taken.remove(0);
    let work = Work::new("cephcreateosd", &device).wait(8).run({
        let node = node.clone();
        move |world, job| {
            job.log(format!("create OSD on /dev/{device} (bluestore)"));
            let host = world.nodes.get_mut(&node);
            let disks = host.into_iter().flat_map(|node| &mut node.disks);
            for disk in disks.filter(|it| it.device == device || taken.contains(&it.device)) {
                disk.used = Some("LVM".to_owned());
            }
            if let Some(ceph) = &mut world.ceph {
                let mut ids = 0..u32::MAX;
                let id = ids.find(|id| !ceph.osds.contains_key(id)).unwrap_or(0);
                let osd = Osd {
                    host: node,
                    device,
                    beside: taken,
                };
                ceph.osds.insert(id, osd);
                job.log(format!(
                    "--> ceph-volume lvm create successful for: osd.{id}"
                ));
            }
            Ok(())
        }
    });
    Ok(json!(world.start_task(&call.who, &node, work)).into())
}

/// Data takes an unused disk; database and log also go beside those of other disks in service.
fn check_use(disk: &Disk, ceph: &Ceph, node: &str, key: &str) -> Result<(), String> {
    let path = format!("/dev/{}", disk.device);
    match disk.used.as_deref() {
        None => Ok(()),
        Some(_) if key == "dev" => Err(format!("device '{path}' is already in use")),
        Some("LVM") if ceph.has_device(node, &disk.device) => Ok(()),
        Some("LVM") => Err(format!("no ceph vg found on '{path}'")),
        Some(_) => Err(format!(
            "device '{path}' is already in use and has no LVM on it"
        )),
    }
}
