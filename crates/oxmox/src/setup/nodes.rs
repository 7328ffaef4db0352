//! The cluster's other nodes: by which addresses they are reached, and how their certificates are trusted.
//!
//! Their fingerprints come from the cluster itself, over the connection that a person has already said yes to, and count
//! only if the node really presents them.

use std::time::Duration;

use futures_util::future::join_all;
use pve::{ClusterMember, Fingerprint, Host, Reader, Trust, lenient, look};
use serde::Deserialize;

/// How long another node may take: it is only wanted for the day when the first one is gone.
const LIMIT: Duration = Duration::from_secs(3);

/// The certificate of the cluster's own authority.
const AUTHORITY: &str = "pve-root-ca.pem";
/// What a node's web server presents: the first of these that is there.
const SERVED: [&str; 2] = ["pveproxy-ssl.pem", "pve-ssl.pem"];

#[derive(Deserialize)]
struct Info {
    filename: String,
    // One that cannot be read is one that was not told.
    #[serde(default, deserialize_with = "lenient::opt_parsed")]
    fingerprint: Option<Fingerprint>,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pem: Option<String>,
}

/// The certificate of the cluster's authority.
#[derive(Debug)]
pub struct Authority {
    /// In text form.
    pub pem: String,
    /// Its SHA-256.
    pub fingerprint: Option<Fingerprint>,
}

/// What became of another node.
#[derive(Debug)]
pub enum Other {
    /// It can stand in for the first.
    Reached(Host),
    /// It cannot, and why.
    Left(String),
}

/// Tries each of the other nodes under the address that it has in the cluster.
pub async fn others(reader: &Reader, first: &Host, members: &[ClusterMember]) -> Vec<Other> {
    let others = members.iter().filter(|member| !member.local);
    join_all(others.map(|member| one(reader, first, member))).await
}

async fn one(reader: &Reader, first: &Host, member: &ClusterMember) -> Other {
    let name = &member.name;
    let left = |why: &str| Other::Left(format!("{name}: {why}"));
    if !member.online {
        return left("it is offline");
    }
    let Some(ip) = member.ip.as_deref() else {
        return left("the cluster does not tell its address");
    };
    let Ok(certificates) = certificates(reader, name.as_str()).await else {
        return left("the cluster does not tell its certificate");
    };
    let mut served = SERVED.iter().filter_map(|file| {
        let found = certificates.iter().find(|info| info.filename == *file);
        found.and_then(|info| info.fingerprint)
    });
    let Some(told) = served.next() else {
        return left("the cluster does not tell its certificate");
    };
    let host = Host {
        name: ip.to_owned(),
        port: first.port,
        pin: None,
    };
    match look(&host, &Trust::System, LIMIT).await {
        Ok(seen) if seen.fingerprint == told => Other::Reached(host.with_pin(told)),
        Ok(seen) => left(&format!(
            "{host} presents {}, and not its certificate",
            seen.fingerprint
        )),
        Err(_) => left(&format!("this machine does not reach {host}")),
    }
}

/// The certificate of the cluster's authority.
pub(super) async fn authority(reader: &Reader, members: &[ClusterMember]) -> Option<Authority> {
    let local = members.iter().find(|member| member.local)?;
    let all = certificates(reader, local.name.as_str()).await.ok()?;
    let found = all.into_iter().find(|info| info.filename == AUTHORITY)?;
    let pem = found.pem.filter(|pem| pem.contains("BEGIN CERTIFICATE"))?;
    Some(Authority {
        pem,
        fingerprint: found.fingerprint,
    })
}

/// How this host is to be trusted where the authority is asked: by it, or by a pin if it does not vouch for the host under
/// this name. Whether it does.
pub(super) async fn by_authority(host: Host, authority: &Authority) -> (Host, bool) {
    let trust = Trust::CaText(authority.pem.clone());
    if let Ok(seen) = look(&host, &trust, LIMIT).await
        && seen.trusted
    {
        return (Host { pin: None, ..host }, true);
    }
    if host.pin.is_none()
        && let Ok(seen) = look(&host, &Trust::System, LIMIT).await
        && seen.trusted
    {
        // The system vouches for it, and will not be asked any more.
        return (host.with_pin(seen.fingerprint), false);
    }
    (host, false)
}

async fn certificates(reader: &Reader, node: &str) -> Result<Vec<Info>, pve::Error> {
    reader
        .list(format!("/nodes/{node}/certificates/info"))
        .await
}
