//! `/nodes/{node}/disks`: physical disks and what is made of them.

mod create;
mod zfs;

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::NODE;
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;
use crate::world::host::{Disk, DiskKind};
use crate::world::storage::Storage;

const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);
const MODIFY: Perm = Perm::On("/", &["Sys.Modify"]);
const NAME: Param = text("name").is(format::storage_id);
const DEVICE: Param = text("device");
const ADD: Param = flag("add_storage").optional();

/// The routes of disks.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/disks", root)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/disks/list", list)
        .allow(Perm::Either(&[
            Perm::On("/", &["Sys.Audit"]),
            Perm::On("/nodes/{node}", &["Sys.Audit"]),
        ]))
        .params(&[
            NODE,
            flag("include-partitions").optional(),
            flag("skipsmart").optional(),
            text("type").one_of(&["unused", "journal_disks"]).optional(),
        ])
        .proxied(),
    get("/nodes/{node}/disks/smart", smart)
        .allow(AUDIT)
        .params(&[
            NODE,
            text("disk").matching(is_device),
            flag("healthonly").optional(),
        ])
        .proxied(),
    get("/nodes/{node}/disks/lvm", groups)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
    post("/nodes/{node}/disks/lvm", create::group)
        .allow(MODIFY)
        .params(&[NODE, NAME, DEVICE, ADD])
        .proxied(),
    post("/nodes/{node}/disks/lvmthin", create::thin_pool)
        .allow(MODIFY)
        .params(&[NODE, NAME, DEVICE, ADD])
        .proxied(),
    post("/nodes/{node}/disks/directory", create::directory)
        .allow(MODIFY)
        .params(&[
            NODE,
            NAME,
            DEVICE,
            ADD,
            text("filesystem").one_of(&["ext4", "xfs"]).optional(),
        ])
        .proxied(),
    post("/nodes/{node}/disks/zfs", create::zfs)
        .allow(MODIFY)
        .params(&[
            NODE,
            NAME,
            text("devices"),
            text("raidlevel").one_of(&[
                "single", "mirror", "raid10", "raidz", "raidz2", "raidz3", "draid", "draid2",
                "draid3",
            ]),
            ADD,
            int("ashift").min(9).max(16).optional(),
            text("compression")
                .one_of(&["on", "off", "gzip", "lz4", "lzjb", "zle", "zstd"])
                .optional(),
            text("draid-config").optional(),
        ])
        .proxied(),
    get("/nodes/{node}/disks/lvmthin", thin_pools)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/disks/zfs", zfs::list)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/disks/zfs/{name}", zfs::detail)
        .allow(AUDIT)
        .params(&[NODE, NAME])
        .proxied(),
    post("/nodes/{node}/disks/initgpt", create::partition_table)
        .allow(MODIFY)
        .params(&[
            NODE,
            text("disk").matching(is_device),
            text("uuid").longest(36).optional(),
        ])
        .proxied(),
    get("/nodes/{node}/disks/directory", no_directories)
        .allow(AUDIT)
        .params(&[NODE])
        .proxied(),
];

fn root(_: &mut World, _: &Call) -> Reply {
    let names = [
        "list",
        "initgpt",
        "smart",
        "lvm",
        "lvmthin",
        "directory",
        "wipedisk",
        "zfs",
    ];
    index("name", &names)
}

fn is_device(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '/';
    text.strip_prefix("/dev/")
        .is_some_and(|name| !name.is_empty() && name.chars().all(word))
}

fn list(world: &mut World, call: &Call) -> Reply {
    let disks = world.nodes.get(call.node()).map(|node| &node.disks);
    let wanted = |disk: &&Disk| match call.text("type") {
        Some("unused") => disk.used.is_none(),
        Some(_) => disk.used.as_deref().is_none_or(|used| used == "LVM"),
        None => true,
    };
    let found = disks.into_iter().flatten().filter(wanted);
    let entries = found.map(|disk| {
        let mut entry = to_json(disk, !call.flag("skipsmart"));
        let ceph = world.ceph.as_ref();
        if let Some(id) = ceph.and_then(|ceph| ceph.osd_on(call.node(), &disk.device)) {
            entry["osdid"] = json!(id);
            entry["osdid-list"] = json!([id]);
        }
        entry
    });
    Ok(entries.collect::<Value>().into())
}

fn to_json(disk: &Disk, smart: bool) -> Value {
    let device = &disk.device;
    let mut entry = json!({
        "devpath": format!("/dev/{device}"),
        "by_id_link": disk.link(),
        "model": disk.model,
        "vendor": disk.vendor,
        "serial": disk.serial,
        "wwn": "unknown",
        "size": disk.size,
        "type": disk.kind.name(),
        "rpm": if disk.kind == DiskKind::Hdd { 5400 } else { 0 },
        "gpt": u8::from(disk.used.is_some() || disk.gpt),
        "health": if smart { disk.health.as_str() } else { "UNKNOWN" },
        "wearout": disk.life_left.filter(|_| smart).map_or(json!("N/A"), |left| json!(left)),
        "osdid": -1,
        "osdid-list": null,
    });
    if let Some(used) = &disk.used {
        entry["used"] = json!(used);
    }
    entry
}

fn smart(world: &mut World, call: &Call) -> Reply {
    let path = call.text("disk").unwrap_or_default();
    let name = path.trim_start_matches("/dev/");
    let disks = world.nodes.get(call.node()).map(|node| &node.disks);
    let found = disks.into_iter().flatten().find(|disk| disk.device == name);
    let Some(disk) = found else {
        return Err(ApiError::fail("not a valid block device"));
    };
    if call.flag("healthonly") {
        return Ok(json!({ "health": disk.health }).into());
    }
    if disk.kind == DiskKind::Nvme {
        let used = 100 - disk.life_left.unwrap_or(100).min(100);
        let text = format!(
            "Critical Warning:                   0x00\nTemperature:                        38 Celsius\nPercentage Used:                    {used}%\n"
        );
        let left = disk.life_left;
        return Ok(
            json!({ "health": disk.health, "type": "text", "text": text, "wearout": left }).into(),
        );
    }
    let attribute = |id: &str, name: &str, value: u64, raw: &str| {
        json!({
            "id": id, "name": name, "flags": "-O--CK", "value": value, "normalized": value,
            "worst": value, "threshold": 0, "fail": "-", "raw": raw,
        })
    };
    let broken = if disk.health == "PASSED" { "0" } else { "1432" };
    let mut attributes = vec![
        attribute("  5", "Reallocated_Sector_Ct", 100, broken),
        attribute("  9", "Power_On_Hours", 80, "14321"),
        attribute("194", "Temperature_Celsius", 64, "36"),
    ];
    if let Some(left) = disk.life_left {
        attributes.push(attribute("233", "Media_Wearout_Indicator", left, "0"));
    }
    Ok(json!({ "health": disk.health, "type": "ata", "attributes": attributes }).into())
}

/// The disks of a node that are used for something.
fn used_for<'a>(world: &'a World, call: &'a Call, what: &'a str) -> impl Iterator<Item = &'a Disk> {
    let disks = world.nodes.get(call.node()).map(|node| &node.disks);
    let disks = disks.into_iter().flatten();
    disks.filter(move |disk| disk.used.as_deref() == Some(what))
}

/// The storages of a type that a node has.
fn storages<'a>(
    world: &'a World,
    call: &'a Call,
    kind: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Storage)> {
    world
        .storages
        .iter()
        .filter(move |(_, storage)| storage.kind == kind && storage.is_on(call.node()))
        .map(|(id, storage)| (id.as_str(), storage))
}

/// One volume group on every disk that is used for LVM.
fn groups(world: &mut World, call: &Call) -> Reply {
    let entries = used_for(world, call, "LVM").map(|disk| {
        let free = disk.size / 64;
        let device = format!("/dev/{}", disk.device);
        json!({
            "name": "pve", "size": disk.size, "free": free, "lvcount": 3, "leaf": 0,
            "children": [{ "name": device, "size": disk.size, "free": free, "leaf": 1 }],
        })
    });
    Ok(json!({ "leaf": 0, "children": entries.collect::<Value>() }).into())
}

fn thin_pools(world: &mut World, call: &Call) -> Reply {
    let entries = storages(world, call, "lvmthin").map(|(id, storage)| {
        let prop = |key: &str| storage.props.get(key);
        json!({
            "lv": prop("thinpool"),
            "vg": prop("vgname"),
            "lv_size": storage.capacity,
            "used": world.used_space(call.node(), id),
            "metadata_size": storage.capacity / 100,
            "metadata_used": storage.capacity / 1000,
        })
    });
    Ok(entries.collect::<Value>().into())
}

fn no_directories(_: &mut World, _: &Call) -> Reply {
    Ok(json!([]).into())
}
