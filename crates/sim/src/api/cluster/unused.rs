//! Parts of PVE that the simulated clusters hardly use. They answer as on a cluster where nobody ever set them up, or as
//! the world's file says, and cannot be set up here.

use serde_json::{Value, json};

use crate::api::{index, section};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::{Param, flag, format, int, text};
use crate::world::World;

const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);
const CHECK_NODE: Param = text("check-node").is(format::node).optional();
const NOTIFICATIONS: Perm = Perm::Either(&[
    Perm::On("/mapping/notifications", &["Mapping.Modify"]),
    Perm::On("/mapping/notifications", &["Mapping.Audit"]),
    Perm::On("/mapping/notifications", &["Mapping.Use"]),
]);

/// What is a number in the settings of a metric server.
const NUMBERS: &[&str] = &["port", "disable", "mtu", "timeout"];

/// Their routes.
pub const ROUTES: &[Route] = &[
    get("/cluster/mapping", mapping).allow(Perm::User),
    get("/cluster/mapping/pci", nothing)
        .allow(Perm::User)
        .params(&[CHECK_NODE]),
    get("/cluster/mapping/usb", nothing)
        .allow(Perm::User)
        .params(&[CHECK_NODE]),
    get("/cluster/mapping/dir", nothing)
        .allow(Perm::User)
        .params(&[CHECK_NODE]),
    get("/cluster/metrics", metrics).allow(Perm::User),
    get("/cluster/metrics/server", servers).allow(AUDIT),
    get("/cluster/metrics/server/{id}", server)
        .allow(AUDIT)
        .params(&[text("id").is(format::config_id)]),
    get("/cluster/metrics/export", export)
        .allow(AUDIT)
        .params(&[
            flag("history").optional(),
            flag("local-only").optional(),
            text("node-list").optional(),
            int("start-time").optional(),
        ]),
    get("/cluster/notifications", notifications).allow(Perm::User),
    get("/cluster/notifications/endpoints", endpoints).allow(Perm::User),
    get("/cluster/notifications/targets", targets).allow(NOTIFICATIONS),
    get("/cluster/notifications/matchers", matchers).allow(NOTIFICATIONS),
    post("/cluster/notifications/targets/{name}/test", test_target)
        .allow(NOTIFICATIONS)
        .params(&[text("name").is(format::config_id)]),
    get("/cluster/jobs/realm-sync", nothing).allow(AUDIT),
];

fn nothing(_: &mut World, _: &Call) -> Reply {
    Ok(json!([]).into())
}

fn mapping(_: &mut World, _: &Call) -> Reply {
    index("name", &["pci", "usb", "dir"])
}

fn metrics(_: &mut World, _: &Call) -> Reply {
    index("name", &["server", "export"])
}

fn servers(world: &mut World, _: &Call) -> Reply {
    let entries = world.metric_servers.iter().map(|(id, server)| {
        let all = section::to_json(server, NUMBERS);
        let value = |key: &str| all.get(key).cloned().unwrap_or_default();
        json!({
            "id": id,
            "type": server.kind,
            "server": value("server"),
            "port": value("port"),
            "disable": all.get("disable").cloned().unwrap_or(json!(0)),
        })
    });
    Ok(entries.collect::<Value>().into())
}

fn server(world: &mut World, call: &Call) -> Reply {
    let id = call.text("id").unwrap_or_default();
    let Some(server) = world.metric_servers.get(id) else {
        return Err(ApiError::fail(format!(
            "status server entry '{id}' does not exist"
        )));
    };
    let mut shown = section::to_json(server, NUMBERS);
    shown.insert("id".to_owned(), json!(id));
    let digest = section::digest(&world.metric_servers);
    shown.insert("digest".to_owned(), json!(digest));
    Ok(Value::from(shown).into())
}

/// The figures of the nodes, the only part of this that is alive.
fn export(world: &mut World, _: &Call) -> Reply {
    let now = world.now.secs();
    let nodes = world.nodes.values().filter(|node| node.is_online());
    let points = nodes.flat_map(|node| {
        let point = |metric: &str, kind: &str, value: Value| {
            let id = format!("node/{}", node.name);
            json!({ "id": id, "metric": metric, "type": kind, "value": value, "timestamp": now })
        };
        [
            point("uptime", "gauge", json!(node.uptime(world.now))),
            point("cpu_current", "gauge", json!(0.05)),
            point("mem_total", "gauge", json!(node.memory)),
            point("mem_used", "gauge", json!(node.memory_used())),
            point("disk_total", "gauge", json!(node.disk)),
            point("disk_used", "gauge", json!(node.disk_used())),
        ]
    });
    Ok(json!({ "data": points.collect::<Value>() }).into())
}

fn notifications(_: &mut World, _: &Call) -> Reply {
    let names = [
        "endpoints",
        "matchers",
        "targets",
        "matcher-fields",
        "matcher-field-values",
    ];
    index("name", &names)
}

fn endpoints(_: &mut World, _: &Call) -> Reply {
    index("name", &["gotify", "sendmail", "smtp", "webhook"])
}

fn targets(_: &mut World, _: &Call) -> Reply {
    Ok(json!([{
        "name": "mail-to-root",
        "type": "sendmail",
        "origin": "builtin",
        "comment": "Send mails to root@pam's email address",
    }])
    .into())
}

fn matchers(_: &mut World, _: &Call) -> Reply {
    Ok(json!([{
        "name": "default-matcher",
        "mode": "all",
        "target": ["mail-to-root"],
        "origin": "builtin",
        "comment": "Route all notifications to mail-to-root",
    }])
    .into())
}

/// The mail goes nowhere.
fn test_target(_: &mut World, call: &Call) -> Reply {
    match call.text("name").unwrap_or_default() {
        "mail-to-root" => done(),
        name => Err(ApiError {
            status: 404,
            ..ApiError::fail(format!("endpoint '{name}' does not exist"))
        }),
    }
}
