//! `/nodes/{node}/disks`: physical disks.

use serde_json::{Value, json};

use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::schema::{flag, text};
use crate::world::World;
use crate::world::host::{Disk, DiskKind};

/// The routes of disks.
pub const ROUTES: &[Route] = &[get("/nodes/{node}/disks/list", list)
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
    .proxied()];

fn list(world: &mut World, call: &Call) -> Reply {
    let disks = world.nodes.get(call.node()).map(|node| &node.disks);
    let wanted = |disk: &&Disk| match call.text("type") {
        Some("unused") => disk.used.is_none(),
        Some(_) => disk.used.as_deref().is_none_or(|used| used == "LVM"),
        None => true,
    };
    let found = disks.into_iter().flatten().filter(wanted);
    let entries = found.map(|disk| to_json(disk, !call.flag("skipsmart")));
    Ok(entries.collect::<Value>().into())
}

fn to_json(disk: &Disk, smart: bool) -> Value {
    let device = &disk.device;
    let id = format!("{}_{}", disk.model.replace(' ', "_"), disk.serial);
    let bus = match disk.kind {
        DiskKind::Nvme => "nvme",
        DiskKind::Ssd | DiskKind::Hdd => "ata",
    };
    let mut entry = json!({
        "devpath": format!("/dev/{device}"),
        "by_id_link": format!("/dev/disk/by-id/{bus}-{id}"),
        "model": disk.model,
        "vendor": disk.vendor,
        "serial": disk.serial,
        "wwn": "unknown",
        "size": disk.size,
        "type": disk.kind.name(),
        "rpm": if disk.kind == DiskKind::Hdd { 5400 } else { 0 },
        "gpt": u8::from(disk.used.is_some()),
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
