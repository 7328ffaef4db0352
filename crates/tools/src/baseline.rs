//! An estate as it was at one moment, to compare with later: which guests there were, and how they were set up.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use pve::{Guest, GuestConfig, GuestRef, Identity, Vmid};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::clean;
use crate::context::Cluster;
use crate::fault::Fault;
use crate::keys;

/// The baseline that is meant where none is named.
pub const DEFAULT: &str = "default";

/// How many configurations are read at a time.
const AT_ONCE: usize = 8;

/// Keys that say what happens to a guest, not what it is.
const PASSING: &[&str] = &[
    "digest",
    "lock",
    "parent",
    "pending",
    "snapstate",
    "vmstate",
];

/// Keys whose text is nobody's business, or long: only whether they changed is kept.
const SEALED: &[&str] = &["description", "sshkeys", "env", "args", "lxc"];

/// The baselines that are kept, to look at.
pub trait Baselines: Debug + Send + Sync {
    /// The one of that name.
    fn baseline<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Baseline>, Fault>>;
}

/// An estate at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// When it was taken, in Unix seconds.
    pub taken: i64,
    /// Guests by cluster and number.
    pub clusters: BTreeMap<String, BTreeMap<Vmid, Kept>>,
}

/// A guest as it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Which, and where.
    pub at: GuestRef,
    /// Its name.
    pub name: String,
    /// How it was set up; nothing if that could not be read.
    pub setup: Option<Setup>,
}

/// How a guest is set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// What makes it this guest.
    pub identity: Identity,
    /// Its settings, without secrets.
    pub settings: BTreeMap<String, String>,
}

impl Setup {
    /// Of a configuration.
    pub fn of(at: &GuestRef, config: &GuestConfig) -> Self {
        let settings = config
            .values()
            .iter()
            .filter(|(key, _)| {
                let sealed = SEALED.contains(&key.as_str());
                !PASSING.contains(&key.as_str()) && (sealed || !clean::is_secret(key))
            })
            .map(|(key, value)| {
                let text = config.text(key).unwrap_or_else(|| value.to_string());
                (key.clone(), setting(key, text))
            })
            .collect();
        Self {
            identity: Identity::of(at.kind, config),
            settings,
        }
    }
}

fn setting(key: &str, text: String) -> String {
    if SEALED.contains(&key) {
        let sum = keys::hex(&Sha256::digest(&text)[..6]);
        return format!("text of {} characters, sum {sum}", text.chars().count());
    }
    text
}

impl Baseline {
    /// Reads every guest of these clusters, a few at a time, and tells after each how many are done of how many. A
    /// guest that cannot be read is kept by its name and number only.
    pub async fn take(
        clusters: &[Arc<Cluster>],
        now: i64,
        progress: &(dyn Fn(usize, usize) + Send + Sync),
    ) -> Result<Self, Fault> {
        let mut found = Vec::new();
        for cluster in clusters {
            for guest in cluster.pve.guests().await? {
                found.push((cluster.clone(), guest));
            }
        }
        let total = found.len();
        let mut baseline = Self {
            taken: now,
            clusters: clusters
                .iter()
                .map(|cluster| (cluster.name.clone(), BTreeMap::new()))
                .collect(),
        };
        let mut kept =
            stream::iter(found)
                .map(|(cluster, guest)| async move {
                    (cluster.name.clone(), keep(&cluster, guest).await)
                })
                .buffer_unordered(AT_ONCE);
        let mut done = 0;
        while let Some((cluster, guest)) = kept.next().await {
            done += 1;
            progress(done, total);
            let guests = baseline.clusters.entry(cluster).or_default();
            guests.insert(guest.at.vmid, guest);
        }
        drop(kept);
        Ok(baseline)
    }

    /// How many guests are in it, and of how many more than name and number is known.
    pub fn size(&self) -> (usize, usize) {
        let guests = || self.clusters.values().flat_map(BTreeMap::values);
        let whole = guests().filter(|guest| guest.setup.is_some());
        (guests().count(), whole.count())
    }
}

async fn keep(cluster: &Cluster, guest: Guest) -> Kept {
    let config = cluster.pve.guest_config(&guest.at).await;
    Kept {
        setup: config.ok().map(|config| Setup::of(&guest.at, &config)),
        name: guest.name.unwrap_or_default(),
        at: guest.at,
    }
}
