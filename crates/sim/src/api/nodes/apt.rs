//! `/nodes/{node}/apt`: packages.

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::NODE;
use crate::schema::flag;
use crate::world::World;
use crate::world::host::Update;
use crate::world::work::Work;

/// The routes of packages.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/apt", root)
        .allow(Perm::User)
        .params(&[NODE]),
    get("/nodes/{node}/apt/update", updates)
        .allow(Perm::On("/nodes/{node}", &["Sys.Modify"]))
        .params(&[NODE])
        .proxied(),
    post("/nodes/{node}/apt/update", refresh)
        .allow(Perm::On("/nodes/{node}", &["Sys.Modify"]))
        .params(&[NODE, flag("notify").optional(), flag("quiet").optional()])
        .proxied(),
    get("/nodes/{node}/apt/versions", versions)
        .allow(Perm::On("/nodes/{node}", &["Sys.Audit"]))
        .params(&[NODE])
        .proxied(),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("id", &["changelog", "repositories", "update", "versions"])
}

fn updates(world: &mut World, call: &Call) -> Reply {
    let updates = world.nodes.get(call.node()).map(|node| &node.updates);
    let entry = |update: &Update| {
        json!({
            "Package": update.package,
            "Title": update.title,
            "Description": update.title,
            "Version": update.new,
            "OldVersion": update.old,
            "Origin": update.origin,
            "Section": "admin",
            "Priority": "optional",
            "Arch": "amd64",
        })
    };
    let entries = updates.into_iter().flatten().map(entry);
    Ok(entries.collect::<Value>().into())
}

/// Reads the package lists again. Nothing new appears.
fn refresh(world: &mut World, call: &Call) -> Reply {
    let work = Work::new("aptupdate", "")
        .log("starting apt-get update")
        .wait(4)
        .log("Reading package lists...");
    Ok(json!(world.start_task(&call.who, call.node(), work)).into())
}

/// The packages that matter to PVE, in the versions that are installed.
fn versions(world: &mut World, call: &Call) -> Reply {
    let kernel = "6.17.2-1-pve";
    let release = world.version.clone();
    let packages = [
        ("proxmox-ve", "9.1.0"),
        ("pve-manager", release.as_str()),
        ("proxmox-kernel-6.17", "6.17.2-1"),
        ("corosync", "3.1.9-pve2"),
        ("libpve-access-control", "9.0.6"),
        ("libpve-storage-perl", "9.1.1"),
        ("pve-container", "6.1.2"),
        ("pve-firewall", "6.0.4"),
        ("pve-ha-manager", "5.2.0"),
        ("pve-qemu-kvm", "10.1.2-5"),
        ("qemu-server", "9.1.6"),
    ];
    let updates = world.nodes.get(call.node()).map(|node| &node.updates);
    let newest = |name: &str, installed: &str| {
        let mut known = updates.into_iter().flatten();
        let update = known.find(|update| update.package == name);
        update.map_or(installed.to_owned(), |update| update.new.clone())
    };
    let entries = packages.map(|(name, installed)| {
        let mut entry = json!({
            "Package": name,
            "Title": name,
            "Description": name,
            "Version": newest(name, installed),
            "OldVersion": installed,
            "Origin": "Proxmox",
            "Section": "admin",
            "Priority": "optional",
            "Arch": "amd64",
            "CurrentState": "Installed",
        });
        match name {
            "proxmox-ve" => entry["RunningKernel"] = json!(kernel),
            "pve-manager" => entry["ManagerVersion"] = json!(installed),
            _ => {}
        }
        entry
    });
    Ok(Value::from(entries.to_vec()).into())
}
