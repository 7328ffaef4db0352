//! `/nodes/{node}/hardware` and `/nodes/{node}/capabilities`: what a node has and what its QEMU can do.

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::Reply;
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::schema::{Param, flag, text};
use crate::world::World;

const ARCH: Param = text("arch").one_of(&["x86_64", "aarch64"]).optional();

/// The routes of hardware and capabilities.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/hardware", hardware)
        .allow(Perm::User)
        .params(&[NODE]),
    get("/nodes/{node}/hardware/usb", nothing)
        .allow(Perm::On("/", &["Sys.Modify"]))
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/hardware/pci", pci)
        .allow(Perm::AnyOn("/", &["Sys.Audit", "Sys.Modify"]))
        .params(&[
            NODE,
            text("pci-class-blacklist").optional(),
            flag("verbose").optional(),
        ])
        .proxied(),
    get("/nodes/{node}/capabilities", capabilities)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/capabilities/qemu", qemu)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/capabilities/qemu/cpu", cpus)
        .allow(Perm::User)
        .params(&[NODE, ARCH]),
    get("/nodes/{node}/capabilities/qemu/machines", machines)
        .allow(Perm::User)
        .params(&[NODE, ARCH])
        .proxied(),
    get("/nodes/{node}/capabilities/qemu/migration", migration)
        .allow(Perm::On("/nodes/{node}", &["Sys.Audit"]))
        .params(&[NODE])
        .proxied(),
];

fn hardware(_: &mut World, _: &Call) -> Reply {
    index("type", &["pci", "usb"])
}

fn nothing(_: &mut World, _: &Call) -> Reply {
    Ok(json!([]).into())
}

/// The same network card and graphics in every node.
fn pci(_: &mut World, call: &Call) -> Reply {
    let devices = [
        ("0000:00:02.0", "0x030000", "0x4680", "AlderLake-S GT1"),
        (
            "0000:02:00.0",
            "0x020000",
            "0x15f3",
            "Ethernet Controller I225-V",
        ),
    ];
    // Without a list of its own, PVE leaves out memory, bridges and processors, which these are not.
    let hidden = call.params.list("pci-class-blacklist");
    let entries = devices.iter().zip(1..).filter_map(|((id, class, device, name), group)| {
        if hidden.iter().any(|prefix| class[2..].starts_with(prefix)) {
            return None;
        }
        let mut entry = json!({ "id": id, "class": class, "vendor": "0x8086", "device": device, "iommugroup": group });
        if call.text("verbose") != Some("0") {
            entry["vendor_name"] = json!("Intel Corporation");
            entry["device_name"] = json!(name);
        }
        Some(entry)
    });
    Ok(entries.collect::<Value>().into())
}

fn capabilities(_: &mut World, _: &Call) -> Reply {
    index("name", &["qemu"])
}

fn qemu(_: &mut World, _: &Call) -> Reply {
    index("name", &["cpu", "cpu-flags", "machines", "migration"])
}

fn cpus(_: &mut World, _: &Call) -> Reply {
    let models = [
        (
            "default",
            &[
                "kvm32",
                "kvm64",
                "max",
                "qemu32",
                "qemu64",
                "host",
                "x86-64-v2",
                "x86-64-v2-AES",
                "x86-64-v3",
                "x86-64-v4",
            ][..],
        ),
        (
            "GenuineIntel",
            &[
                "Broadwell",
                "Cascadelake-Server-v2",
                "Cooperlake",
                "GraniteRapids",
                "Haswell",
                "Icelake-Server",
                "IvyBridge",
                "Nehalem",
                "SandyBridge",
                "SapphireRapids",
                "Skylake-Client",
                "Skylake-Server",
                "Westmere",
            ][..],
        ),
        (
            "AuthenticAMD",
            &[
                "EPYC",
                "EPYC-Genoa",
                "EPYC-Milan",
                "EPYC-Rome",
                "EPYC-Turin",
                "Opteron_G5",
            ][..],
        ),
    ];
    let entries = models.iter().flat_map(|(vendor, names)| {
        let entry = move |name| json!({ "name": name, "vendor": vendor, "custom": 0 });
        names.iter().map(entry)
    });
    Ok(entries.collect::<Value>().into())
}

/// The machine types of the last releases of QEMU, newest first, each in both chipsets.
fn machines(_: &mut World, _: &Call) -> Reply {
    let changes = |version: &str| match version {
        "10.0+pve1" => {
            Some("Set host_mtu vNIC option even with default value for migration compat.")
        }
        "9.2+pve1" => Some("Disables S3/S4 power states by default."),
        _ => None,
    };
    let versions = [
        "10.1",
        "10.0+pve1",
        "10.0",
        "9.2+pve1",
        "9.2",
        "9.1",
        "9.0",
        "8.2",
        "8.1",
        "8.0",
    ];
    let entries = versions.iter().flat_map(|version| {
        ["i440fx", "q35"].map(|chipset| {
            let id = format!("pc-{chipset}-{version}");
            let mut entry = json!({ "id": id, "type": chipset, "version": version });
            if let Some(text) = changes(version) {
                entry["changes"] = json!(text);
            }
            entry
        })
    });
    Ok(entries.collect::<Value>().into())
}

fn migration(_: &mut World, _: &Call) -> Reply {
    Ok(json!({ "has-dbus-vmstate": true }).into())
}
