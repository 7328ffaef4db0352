//! `/cluster/config`: how the nodes form a cluster.

mod join;

use serde_json::{Value, json};

use crate::api::index;
use crate::call::Call;
use crate::error::{ApiError, Reply};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::{flag, format, int, text};
use crate::world::node::Node;
use crate::world::{World, digest_of};

const AUDIT: Perm = Perm::On("/", &["Sys.Audit"]);

/// The routes of the cluster's own configuration.
pub const ROUTES: &[Route] = &[
    get("/cluster/config", root).allow(AUDIT),
    get("/cluster/config/nodes", nodes).allow(AUDIT),
    get("/cluster/config/join", join_info)
        .allow(AUDIT)
        .params(&[text("node").is(format::node).optional()]),
    post("/cluster/config/join", join::start).params(&[
        text("hostname"),
        text("fingerprint").matching(join::is_fingerprint),
        text("password").longest(128),
        int("nodeid").min(1).optional(),
        int("votes").min(0).optional(),
        text("link").times(8).optional(),
        flag("force").optional(),
    ]),
    get("/cluster/config/totem", show_totem).allow(AUDIT),
];

fn root(_: &mut World, _: &Call) -> Reply {
    index("name", &["nodes", "totem", "join", "qdevice", "apiversion"])
}

fn entry(node: &Node) -> Value {
    json!({
        "name": node.name,
        "nodeid": node.id.to_string(),
        "quorum_votes": "1",
        "ring0_addr": node.ip,
    })
}

fn nodes(world: &mut World, _: &Call) -> Reply {
    if world.alone.is_some() {
        return Ok(json!([]).into());
    }
    let entries = world.nodes.values().map(|node| {
        let mut entry = entry(node);
        entry["node"] = json!(node.name);
        entry
    });
    Ok(entries.collect::<Value>().into())
}

fn totem(world: &World) -> Value {
    json!({
        "version": "2",
        "cluster_name": world.name,
        "config_version": world.nodes.len().to_string(),
        "interface": { "0": { "linknumber": "0" } },
        "ip_version": "ipv4-6",
        "link_mode": "passive",
        "secauth": "on",
        "token_coefficient": "125",
    })
}

fn show_totem(world: &mut World, _: &Call) -> Reply {
    Ok(totem(world).into())
}

/// What another node needs to join.
fn join_info(world: &mut World, call: &Call) -> Reply {
    if world.alone.is_some() {
        let text = "node is not in a cluster, no join info available!";
        return Err(ApiError {
            status: 424,
            ..ApiError::fail(text)
        });
    }
    let list = world.nodes.values().map(|node| {
        let mut entry = entry(node);
        entry["pve_addr"] = json!(node.ip);
        entry["pve_fp"] = json!(node.fingerprint);
        entry
    });
    Ok(json!({
        "nodelist": list.collect::<Value>(),
        "totem": totem(world),
        "preferred_node": call.node(),
        "config_digest": digest_of(&totem(world).to_string()),
    })
    .into())
}
