//! `/nodes/{node}/certificates`: the cluster's own authority and what it signed.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::api::index;
use crate::call::{Call, split_list};
use crate::clock::Time;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, get, post};
use crate::schema::common::NODE;
use crate::schema::flag;
use crate::world::World;
use crate::world::acme::Certificate;
use crate::world::work::Work;

/// The routes of certificates.
pub const ROUTES: &[Route] = &[
    get("/nodes/{node}/certificates", root)
        .allow(Perm::User)
        .params(&[NODE]),
    get("/nodes/{node}/certificates/info", info)
        .allow(Perm::User)
        .params(&[NODE])
        .proxied(),
    post("/nodes/{node}/certificates/acme/certificate", order)
        .allow(Perm::On("/nodes/{node}", &["Sys.Modify"]))
        .params(&[NODE, flag("force").optional()])
        .proxied(),
];

const DAY: u64 = 86_400;
const YEAR: u64 = 365 * DAY;
const PEM: &str = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n";

fn root(_: &mut World, _: &Call) -> Reply {
    index("name", &["acme", "custom", "info"])
}

/// Fingerprint and text are those of the certificate which the simulator really shows, and of its authority; the rest only
/// looks like it.
fn info(world: &mut World, call: &Call) -> Reply {
    let Some(node) = world.nodes.get(call.node()) else {
        return done();
    };
    let authority = "/CN=Proxmox Virtual Environment/O=PVE Cluster Manager CA";
    let made = node.boot.secs();
    let end = node.certificate_end.map_or(made + 2 * YEAR, Time::secs);
    let mut certificates = vec![
        json!({
            "filename": "pve-root-ca.pem",
            "subject": authority,
            "issuer": authority,
            "san": [],
            "fingerprint": fingerprint_of(&world.certificate),
            "public-key-type": "rsaEncryption",
            "public-key-bits": 4096,
            "notbefore": made,
            "notafter": made + 10 * YEAR,
            "pem": world.certificate,
        }),
        json!({
            "filename": "pve-ssl.pem",
            "subject": format!("/OU=PVE Cluster Node/O=Proxmox Virtual Environment/CN={}", node.name),
            "issuer": authority,
            "san": ["127.0.0.1", "localhost", node.ip, node.name],
            "fingerprint": node.fingerprint,
            "public-key-type": "rsaEncryption",
            "public-key-bits": 2048,
            "notbefore": made,
            "notafter": end,
            "pem": node.certificate,
        }),
    ];
    certificates.extend(node.ordered.as_ref().map(shown));
    Ok(Value::from(certificates).into())
}

/// The SHA-256 of a certificate in text form.
fn fingerprint_of(pem: &str) -> String {
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    let der = STANDARD.decode(body).unwrap_or_default();
    let bytes = Sha256::digest(der);
    let pairs: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    pairs.join(":")
}

/// A certificate from outside. PVE lists it last.
fn shown(certificate: &Certificate) -> Value {
    let made = certificate.made.secs();
    json!({
        "filename": "pveproxy-ssl.pem",
        "subject": format!("/CN={}", certificate.domains.first().map_or("", String::as_str)),
        "issuer": "/C=US/O=Let's Encrypt/CN=R12",
        "san": certificate.domains,
        "fingerprint": certificate.fingerprint(),
        "public-key-type": "rsaEncryption",
        "public-key-bits": 4096,
        "notbefore": made,
        "notafter": made + 90 * DAY,
        "pem": PEM,
    })
}

/// Orders a certificate for the domains of the node's configuration.
fn order(world: &mut World, call: &Call) -> Reply {
    let Some(node) = world.nodes.get(call.node()) else {
        return done();
    };
    if node.ordered.is_some() && !call.flag("force") {
        let text = "Custom certificate exists but 'force' is not set.";
        return Err(ApiError::param("force", text));
    }
    let (account, domains) = wanted(&node.settings.config);
    if domains.is_empty() {
        let text = "ACME domain list in node configuration is missing!";
        return Err(ApiError {
            status: 400,
            ..ApiError::fail(text)
        });
    }
    let name = node.name.clone();
    let work = Work::new("acmenewcert", "").run(move |world, job| {
        if !world.acme_accounts.contains_key(&account) {
            return Err(format!(
                "ACME account config file '{account}' does not exist."
            ));
        }
        job.log("Loading ACME account details");
        job.log("Placing ACME order");
        for domain in &domains {
            job.log(format!("The validation for {domain} is pending!"));
            job.log("Triggering validation");
            job.log("Sleeping for 5 seconds");
            job.wait(5);
            job.log(format!("Status is 'valid', domain '{domain}' OK!"));
        }
        job.log("All domains validated!");
        job.log("Downloading certificate");
        job.then(move |world, job| {
            let made = world.now;
            if let Some(node) = world.nodes.get_mut(&name) {
                job.log("Setting pveproxy certificate and key");
                node.ordered = Some(Certificate { domains, made });
                job.log("Restarting pveproxy");
            }
            Ok(())
        });
        Ok(())
    });
    Ok(json!(world.start_task(&call.who, call.node(), work)).into())
}

/// The account and the domains that a node's configuration names.
fn wanted(config: &BTreeMap<String, String>) -> (String, Vec<String>) {
    let parts: Vec<(&str, &str)> = config
        .get("acme")
        .map(|text| text.split(',').filter_map(|part| part.split_once('=')))
        .into_iter()
        .flatten()
        .collect();
    let part = |key: &str| {
        parts
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, text)| *text)
    };
    let mut domains: Vec<String> = split_list(part("domains").unwrap_or_default())
        .map(str::to_lowercase)
        .collect();
    for (_, text) in config
        .iter()
        .filter(|(key, _)| key.starts_with("acmedomain"))
    {
        let first = text.split(',').next().unwrap_or_default();
        domains.push(first.trim_start_matches("domain=").to_lowercase());
    }
    (part("account").unwrap_or("default").to_owned(), domains)
}
