//! Parts of a node that the simulated clusters do not use, and questions to a world outside that is not there.

use serde_json::{Value, json};

use crate::api::{REPOID, index};
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::schema::{flag, text};
use crate::world::World;

/// Their routes.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/scan", scan)
        .allow(Perm::User)
        .params(&[NODE]),
    get("/nodes/{node}/scan/nfs", exports)
        .allow(Perm::On("/storage", &["Datastore.Allocate"]))
        .params(&[NODE, text("server")])
        .proxied(),
    get("/nodes/{node}/scan/lvm", volume_groups)
        .allow(Perm::On("/storage", &["Datastore.Allocate"]))
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/sdn", sdn)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/sdn/zones", zones)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/subscription", subscription)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/report", report)
        .allow(Perm::On("/nodes/{node}", &["Sys.Audit"]))
        .params(&[NODE])
        .proxied(),
    get("/nodes/{node}/query-url-metadata", url_metadata)
        .allow(Perm::Either(&[
            Perm::On("/", &["Sys.Audit", "Sys.Modify"]),
            Perm::On("/nodes/{node}", &["Sys.AccessNetwork"]),
        ]))
        .params(&[
            NODE,
            text("url").matching(is_url),
            flag("verify-certificates").optional(),
        ])
        .proxied(),
];

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn scan(_: &mut World, _: &Call) -> Reply {
    index("method", &["cifs", "iscsi", "lvm", "nfs", "pbs", "zfs"])
}

/// The volume groups that storages lie on here; there are no others.
fn volume_groups(world: &mut World, call: &Call) -> Reply {
    let here = world.storages.values();
    let here = here.filter(|storage| storage.is_on(call.node()));
    let mut names: Vec<_> = here.filter_map(|it| it.props.get("vgname")).collect();
    names.sort();
    names.dedup();
    let found = names.into_iter().map(|name| json!({ "vg": name }));
    Ok(found.collect::<Value>().into())
}

/// The exports of the servers that storages are on; nobody else answers.
fn exports(world: &mut World, call: &Call) -> Reply {
    let server = call.text("server").unwrap_or_default();
    let on_server = world.storages.values().filter(|storage| {
        storage.kind == "nfs"
            && storage
                .props
                .get("server")
                .is_some_and(|name| name == server)
    });
    let found: Vec<Value> = on_server
        .filter_map(|storage| storage.props.get("export"))
        .map(|path| json!({ "path": path, "options": "" }))
        .collect();
    if found.is_empty() {
        return Err(ApiError::fail(format!(
            "command '/sbin/showmount --no-headers --exports {server}' failed: exit code 1"
        )));
    }
    Ok(Value::from(found).into())
}

fn sdn(_: &mut World, _: &Call) -> Reply {
    index("name", &["fabrics", "vnets", "zones"])
}

/// The zones that run, as far as the caller may use them.
fn zones(world: &mut World, call: &Call) -> Reply {
    let all = world.sdn_zones.keys().map(String::as_str);
    let all = std::iter::once("localnetwork").chain(all);
    let visible = all.filter(|id| {
        let path = format!("/sdn/zones/{id}");
        ["SDN.Audit", "SDN.Use"]
            .iter()
            .any(|name| world.may(&call.who, &path, name))
    });
    let entries = visible.map(|id| json!({ "zone": id, "status": "available" }));
    Ok(entries.collect::<Value>().into())
}

fn subscription(_: &mut World, _: &Call) -> Reply {
    Ok(json!({
        "status": "notfound",
        "message": "There is no subscription key",
        "serverid": "0000000000000000000000000000AAAA",
        "url": "https://www.proxmox.com/en/proxmox-virtual-environment/pricing",
    })
    .into())
}

fn report(world: &mut World, call: &Call) -> Reply {
    let name = call.node();
    let release = &world.version;
    let guests = world
        .guests
        .values()
        .filter(|guest| guest.node == name)
        .count();
    let text = format!(
        "==== general system info ====\n\n# hostname\n{name}\n\n# pveversion --verbose\npve-manager: {release} ({REPOID})\n\n==== overall configuration ====\n\nguests on this node: {guests}\n"
    );
    Ok(json!(text).into())
}

/// There is no network to ask.
fn url_metadata(_: &mut World, call: &Call) -> Reply {
    let url = call.text("url").unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let port = if scheme == "https" { 443 } else { 80 };
    let address = if host.contains(':') {
        host.to_owned()
    } else {
        format!("{host}:{port}")
    };
    Err(ApiError::fail(format!(
        "invalid server response: '500 Can't connect to {address} (Name or service not known)'"
    )))
}
