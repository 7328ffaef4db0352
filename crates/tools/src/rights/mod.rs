//! What the tokens of the clusters may do, as far as it is known, and which tools are therefore of no use to anybody.
//!
//! A list of tools must not wait for PVE, so it goes by what an earlier process has learnt and left on disk. Of a cluster of
//! which nothing is known anything may be allowed: then nothing is left out. What is left out of a list can be called all the
//! same, and PVE says no in its own words.

mod cache;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use pve::{Permissions, Reader};
use tokio::sync::watch;

use crate::fault::Fault;
use crate::need::Right;
use crate::registry;
use crate::tool::Tool;

pub use cache::Key;

/// The tools that no right on any path of any cluster is enough for, with what the token lacks that lacks least.
pub type Unlisted = BTreeMap<&'static str, Vec<Right>>;

/// What is known, and who waits for it to change.
pub struct Rights {
    keys: Vec<Key>,
    dir: Option<PathBuf>,
    known: Mutex<BTreeMap<String, Permissions>>,
    unlisted: watch::Sender<Arc<Unlisted>>,
}

impl Rights {
    /// What was left on disk about these, if there is a disk to look at.
    pub fn cached(keys: Vec<Key>, state_dir: Option<&Path>) -> Self {
        let dir = state_dir.map(cache::dir);
        let mut known = BTreeMap::new();
        for key in &keys {
            let read = dir.as_deref().and_then(|dir| cache::read(dir, key));
            known.extend(read.map(|held| (key.cluster.clone(), held)));
        }
        let unlisted = unlisted(&keys, &known);
        Self {
            keys,
            dir,
            known: Mutex::new(known),
            unlisted: watch::Sender::new(Arc::new(unlisted)),
        }
    }

    /// The tools that are of no use.
    pub fn unlisted(&self) -> Arc<Unlisted> {
        self.unlisted.borrow().clone()
    }

    /// Hears of every change of that.
    pub fn changes(&self) -> watch::Receiver<Arc<Unlisted>> {
        self.unlisted.subscribe()
    }

    /// Asks every cluster, and keeps what they say. Tells which did not answer, and why.
    pub async fn learn<'a>(
        &self,
        clusters: impl Iterator<Item = (&'a str, &'a Reader)>,
        now: i64,
    ) -> Vec<(String, Fault)> {
        let asked: Vec<_> = clusters.collect();
        let answers = join_all(asked.iter().map(|(_, pve)| pve.permissions())).await;
        let mut missing = Vec::new();
        for ((cluster, _), answer) in asked.into_iter().zip(answers) {
            match answer {
                Ok(held) => self.keep(cluster, held, now),
                Err(error) => missing.push((cluster.to_owned(), error.into())),
            }
        }
        let unlisted = unlisted(&self.keys, &self.known());
        self.unlisted.send_if_modified(|held| {
            let changed = **held != unlisted;
            *held = Arc::new(unlisted);
            changed
        });
        missing
    }

    fn keep(&self, cluster: &str, held: Permissions, now: i64) {
        let key = self.keys.iter().find(|key| key.cluster == cluster);
        if let (Some(dir), Some(key)) = (&self.dir, key) {
            // What cannot be kept is learnt again by the next process.
            let _ = cache::write(dir, key, &held, now);
        }
        self.known().insert(cluster.to_owned(), held);
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Permissions>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets what was left on disk about a cluster, for one that is gone.
pub fn forget(state_dir: &Path, cluster: &str) {
    cache::forget(&cache::dir(state_dir), cluster);
}

fn unlisted(keys: &[Key], known: &BTreeMap<String, Permissions>) -> Unlisted {
    if keys.is_empty() || keys.iter().any(|key| !known.contains_key(&key.cluster)) {
        return Unlisted::new();
    }
    let lacks = |tool: &'static dyn Tool| {
        let each = known.values();
        let each = each.map(|held| tool.needs().lacking(held, &|_| true));
        let least = each
            .min_by_key(Vec::len)
            .filter(|lacks| !lacks.is_empty())?;
        Some((tool.spec().name, least))
    };
    registry::all().filter_map(lacks).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn held(raw: serde_json::Value) -> Permissions {
        serde_json::from_value(raw).unwrap()
    }

    fn keys() -> Vec<Key> {
        ["lab", "prod"]
            .map(|name| Key::new(name, &["pve1:8006".to_owned()], "bob@pve!ci"))
            .into()
    }

    #[test]
    fn one_cluster_that_allows_it_is_enough() {
        let sees = held(json!({"/vms": {"VM.Audit": 1}}));
        let clones = held(json!({"/": {"VM.Audit": 1, "VM.Clone": 1, "VM.Allocate": 1}}));
        let known = BTreeMap::from([
            ("lab".to_owned(), sees.clone()),
            ("prod".to_owned(), clones),
        ]);
        let left_out = unlisted(&keys(), &known);
        assert!(!left_out.contains_key("clone_proxmox_vm"), "{left_out:?}");
        let lacks = &left_out["snapshot_proxmox_vm"];
        assert_eq!(lacks[0].to_string(), "VM.Snapshot on /vms/VMID");
        assert!(!left_out.contains_key("list_proxmox_resources"));
        // What the other one allows is not known any more.
        let known = BTreeMap::from([("lab".to_owned(), sees)]);
        assert!(unlisted(&keys(), &known).is_empty());
    }

    #[test]
    fn what_was_learnt_outlives_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let [lab, prod] = keys().try_into().unwrap();
        let sees = held(json!({"/vms": {"VM.Audit": 1}}));
        let first = Rights::cached(vec![lab.clone()], Some(dir.path()));
        assert!(first.unlisted().is_empty());
        first.keep("lab", sees, 0);
        let again = Rights::cached(vec![lab.clone()], Some(dir.path()));
        assert!(again.unlisted().contains_key("clone_proxmox_vm"));
        let other = Key::new("lab", &["pve1:8006".to_owned()], "bob@pve!other");
        for keys in [vec![other], vec![lab, prod]] {
            let rights = Rights::cached(keys, Some(dir.path()));
            assert!(
                rights.unlisted().is_empty(),
                "nothing is known of all of them"
            );
        }
    }
}
