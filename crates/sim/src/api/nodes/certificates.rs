//! `/nodes/{node}/certificates`: the cluster's own authority and what it signed.

use serde_json::json;

use crate::api::index;
use crate::call::Call;
use crate::clock::Time;
use crate::error::{Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get};
use crate::schema::common::NODE;
use crate::world::World;

/// The routes of certificates.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/certificates", root)
        .allow(Perm::User)
        .params(&[NODE]),
    get("/nodes/{node}/certificates/info", info)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
];

const YEAR: u64 = 365 * 86_400;
const PEM: &str = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";

fn root(_: &mut World, _: &Call) -> Reply {
    index("name", &["acme", "custom", "info"])
}

/// The fingerprint is that of the certificate which the simulator really shows; the rest only looks like one.
fn info(world: &mut World, call: &Call) -> Reply {
    let Some(node) = world.nodes.get(call.node()) else {
        return done();
    };
    let authority = "/CN=Proxmox Virtual Environment/O=PVE Cluster Manager CA";
    let made = node.boot.secs();
    let end = node.certificate_end.map_or(made + 2 * YEAR, Time::secs);
    Ok(json!([
        {
            "filename": "pve-root-ca.pem",
            "subject": authority,
            "issuer": authority,
            "san": [],
            "fingerprint": "00:".repeat(31) + "00",
            "public-key-type": "rsaEncryption",
            "public-key-bits": 4096,
            "notbefore": made,
            "notafter": made + 10 * YEAR,
            "pem": PEM,
        },
        {
            "filename": "pve-ssl.pem",
            "subject": format!("/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN={}", node.name),
            "issuer": authority,
            "san": ["127.0.0.1", "localhost", node.ip, node.name],
            "fingerprint": node.fingerprint,
            "public-key-type": "rsaEncryption",
            "public-key-bits": 2048,
            "notbefore": made,
            "notafter": end,
            "pem": PEM,
        },
    ])
    .into())
}
