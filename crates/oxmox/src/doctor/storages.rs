//! Whether each node reaches its storages, and whether there is room.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use pve::{NodeName, Reader, Resource, ResourceKind, StorageStatus};
use tools::words;

use super::finding::Finding;

const CHECK: &str = "storage";
const AT_ONCE: usize = 8;
/// Percent in use from which on it is worth a word.
const FULL: u64 = 90;

pub(super) async fn check(pve: &Reader, resources: &[Resource]) -> Vec<Finding> {
    let (mut online, mut offline) = (Vec::new(), Vec::new());
    for row in resources
        .iter()
        .filter(|row| row.kind == ResourceKind::Node)
    {
        let Some(node) = &row.node else { continue };
        if row.status.as_deref() == Some("offline") {
            offline.push(node.to_string());
        } else {
            online.push(node.clone());
        }
    }
    let reads = online
        .iter()
        .map(async |node| (node, pve.storages(node).await));
    let read: Vec<_> = stream::iter(reads).buffered(AT_ONCE).collect().await;
    let mut found = Vec::new();
    if !offline.is_empty() {
        let what = format!(
            "offline, so that their storages are not seen: {}",
            words::list(&offline)
        );
        found.push(
            Finding::warning("nodes", what)
                .hint("`oxmox call list_proxmox_resources --resource-type node` shows the nodes"),
        );
    }
    let mut seen = Seen::default();
    for (node, storages) in read {
        match storages {
            Ok(storages) => found.extend(storages.iter().filter_map(|one| seen.judge(node, one))),
            Err(error) => {
                let hint = format!("`pvesm status` on {node} tells more");
                found.push(Finding::failed(CHECK, error.into(), &hint));
            }
        }
    }
    if found.iter().all(|finding| finding.check != CHECK) {
        found.push(seen.all_well());
    }
    found
}

/// Storages that work. A shared one is the same on every node, and its room is told once.
#[derive(Default)]
struct Seen {
    works: BTreeSet<String>,
    full: BTreeSet<String>,
}

impl Seen {
    fn judge(&mut self, node: &NodeName, storage: &StorageStatus) -> Option<Finding> {
        let name = &storage.storage;
        if !storage.enabled {
            return None;
        }
        if !storage.active {
            let what = format!("{node} does not reach {name}: it is switched on and not active");
            let hint = format!("`pvesm status --storage {name}` on {node} says why");
            return Some(Finding::problem(CHECK, what, hint));
        }
        self.works.insert(name.clone());
        let used =
            u128::from(storage.used?) * 100 / u128::from(storage.total.filter(|all| *all > 0)?);
        let is_new = !storage.shared || self.full.insert(name.clone());
        if used < u128::from(FULL) || !is_new {
            return None;
        }
        let place = if storage.shared {
            name.clone()
        } else {
            format!("{name} on {node}")
        };
        let left = storage.avail.map(words::size).unwrap_or_default();
        let what = format!("{place} is {used} % full, {left} are left");
        Some(Finding::warning(CHECK, what).hint(format!(
            "`oxmox --toolsets storage call list_storage_content --node {node} --storage {name}` shows what is on it"
        )))
    }

    fn all_well(&self) -> Finding {
        let names: Vec<_> = self.works.iter().map(String::as_str).collect();
        if names.is_empty() {
            return Finding::note(CHECK, "no storage is to be seen")
                .hint("if there are some, the token lacks Datastore.Audit on /storage");
        }
        Finding::ok(CHECK, format!("every node reaches {}", words::list(&names)))
    }
}
