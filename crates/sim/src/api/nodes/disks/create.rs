//! Putting unused disks to use: LVM, ZFS, a file system, and a storage on it if that is asked for.

use std::collections::BTreeMap;

use serde_json::json;

use super::Storage;
use crate::call::{Call, split_list};
use crate::error::{ApiError, Reply};
use crate::permission::require;
use crate::world::World;
use crate::world::work::Work;

/// What is made of the disks.
struct Plan {
    /// The type of the task.
    task: &'static str,
    /// What the disks are then used for.
    used: String,
    /// The type of the storage, what it holds and its properties.
    storage: (&'static str, &'static str, BTreeMap<String, String>),
}

fn props<const N: usize>(pairs: [(&str, String); N]) -> BTreeMap<String, String> {
    let owned = pairs.map(|(key, value)| (key.to_owned(), value));
    owned.into()
}

fn name(call: &Call) -> String {
    call.text("name").unwrap_or_default().to_owned()
}

pub(super) fn group(world: &mut World, call: &Call) -> Reply {
    let plan = Plan {
        task: "lvmcreate",
        used: "LVM".to_owned(),
        storage: ("lvm", "images,rootdir", props([("vgname", name(call))])),
    };
    create(world, call, "device", plan)
}

pub(super) fn thin_pool(world: &mut World, call: &Call) -> Reply {
    let storage = props([("vgname", name(call)), ("thinpool", name(call))]);
    let plan = Plan {
        task: "lvmthincreate",
        used: "LVM".to_owned(),
        storage: ("lvmthin", "images,rootdir", storage),
    };
    create(world, call, "device", plan)
}

pub(super) fn directory(world: &mut World, call: &Call) -> Reply {
    let path = format!("/mnt/pve/{}", name(call));
    let content = "images,rootdir,vztmpl,iso,backup,snippets";
    let plan = Plan {
        task: "dircreate",
        used: call.text("filesystem").unwrap_or("ext4").to_owned(),
        storage: ("dir", content, props([("path", path)])),
    };
    create(world, call, "device", plan)
}

pub(super) fn zfs(world: &mut World, call: &Call) -> Reply {
    let level = call.text("raidlevel").unwrap_or_default();
    let least = match level {
        "mirror" => 2,
        "raidz" | "draid" => 3,
        "raid10" | "raidz2" | "draid2" => 4,
        "raidz3" | "draid3" => 5,
        _ => 1,
    };
    let count = call.params.list("devices").len();
    let wrong = if level == "raid10" && !count.is_multiple_of(2) {
        Some("raid10 needs an even number of disks".to_owned())
    } else if level == "single" && count > 1 {
        Some("please give only one disk for single disk mode".to_owned())
    } else if count < least {
        Some(format!("{level} needs at least {least} disks"))
    } else {
        None
    };
    let plan = Plan {
        task: "zfscreate",
        used: "ZFS".to_owned(),
        storage: ("zfspool", "images,rootdir", props([("pool", name(call))])),
    };
    check(world, call, "devices")?;
    match wrong {
        Some(text) => Err(ApiError::fail(text)),
        None => create(world, call, "devices", plan),
    }
}

/// `POST disks/initgpt`: an empty partition table.
pub(super) fn partition_table(world: &mut World, call: &Call) -> Reply {
    let path = call.text("disk").unwrap_or_default();
    let device = path.trim_start_matches("/dev/").to_owned();
    let node = call.node().to_owned();
    let disks = world.nodes.get(&node).map(|node| &node.disks);
    match disks
        .into_iter()
        .flatten()
        .find(|disk| disk.device == device)
    {
        None => return Err(ApiError::fail("not a valid block device")),
        Some(disk) if disk.used.is_some() => {
            return Err(ApiError::fail(format!("disk {path} already in use")));
        }
        Some(_) => {}
    }
    let work = Work::new("diskinit", &device).wait(1).run({
        let node = node.clone();
        move |world, _| {
            let host = world.nodes.get_mut(&node);
            let mut disks = host.into_iter().flat_map(|node| &mut node.disks);
            if let Some(disk) = disks.find(|disk| disk.device == device) {
                disk.gpt = true;
            }
            Ok(())
        }
    });
    Ok(json!(world.start_task(&call.who, &node, work)).into())
}

/// The disks must be there and unused, and the name of the storage free.
fn check(world: &World, call: &Call, key: &str) -> Result<Vec<String>, ApiError> {
    let disks = world.nodes.get(call.node()).map(|node| &node.disks);
    let mut found = Vec::new();
    for path in split_list(call.text(key).unwrap_or_default()) {
        let mut known = disks.into_iter().flatten();
        match known.find(|disk| disk.is_at(path)) {
            None => return Err(ApiError::fail("not a valid block device")),
            Some(disk) if disk.used.is_some() => {
                return Err(ApiError::fail(format!("device '{path}' is already in use")));
            }
            Some(disk) => found.push(disk.device.clone()),
        }
    }
    if call.flag("add_storage") {
        require(world, &call.who, "/storage", &["Datastore.Allocate"])?;
        if world.storages.contains_key(&name(call)) {
            let text = format!("storage ID '{}' already defined", name(call));
            return Err(ApiError::fail(text));
        }
    }
    Ok(found)
}

fn create(world: &mut World, call: &Call, key: &str, plan: Plan) -> Reply {
    let devices = check(world, call, key)?;
    let (node, id) = (call.node().to_owned(), name(call));
    let add = call.flag("add_storage");
    let work = Work::new(plan.task, &id).wait(5).run({
        let node = node.clone();
        move |world, _| {
            let mut capacity = 0;
            let host = world.nodes.get_mut(&node);
            let disks = host.into_iter().flat_map(|node| &mut node.disks);
            for disk in disks.filter(|disk| devices.contains(&disk.device)) {
                disk.used = Some(plan.used.clone());
                capacity += disk.size;
            }
            if add {
                let (kind, content, props) = plan.storage;
                let storage = Storage {
                    kind: kind.to_owned(),
                    props,
                    content: content.split(',').map(str::to_owned).collect(),
                    nodes: vec![node],
                    shared: false,
                    capacity,
                };
                world.storages.insert(id, storage);
            }
            Ok(())
        }
    });
    Ok(json!(world.start_task(&call.who, &node, work)).into())
}
