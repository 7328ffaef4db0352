//! Whether each node reaches its storages, and whether there is room.

use std::collections::{BTreeMap, BTreeSet};

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
                let asked = format!("GET /nodes/{node}/storage");
                found.push(Finding::unanswered(CHECK, &asked, error, &hint));
            }
        }
    }
    if found.iter().all(|finding| finding.check != CHECK) {
        found.push(seen.all_well(online.len()));
    }
    found
}

/// Storages that work. A shared one is the same on every node, and its room is told once.
#[derive(Default)]
struct Seen {
    /// Each with the nodes that reach it; some are only for some nodes.
    works: BTreeMap<String, BTreeSet<String>>,
    /// The shared ones whose room was looked at.
    measured: BTreeSet<String>,
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
        let nodes = self.works.entry(name.clone()).or_default();
        nodes.insert(node.to_string());
        let used =
            u128::from(storage.used?) * 100 / u128::from(storage.total.filter(|all| *all > 0)?);
        let is_new = !storage.shared || self.measured.insert(name.clone());
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

    /// What is left to say of so many nodes.
    fn all_well(&self, nodes: usize) -> Finding {
        if self.works.is_empty() {
            return Finding::note(CHECK, "no storage is to be seen")
                .hint("if there are some, the token lacks Datastore.Audit on /storage");
        }
        let named = self.works.iter().map(|(name, by)| {
            if by.len() == nodes {
                return name.clone();
            }
            let by: Vec<_> = by.iter().map(String::as_str).collect();
            format!("{name} (for {})", by.join(", "))
        });
        let named: Vec<_> = named.collect();
        let text = format!("each node reaches its storages: {}", named.join(", "));
        Finding::ok(CHECK, text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn storage(name: &str, shared: u8) -> StorageStatus {
        serde_json::from_value(json!({
            "storage": name, "type": "dir", "content": "images", "enabled": 1, "active": 1, "shared": shared,
            "total": 100, "used": 95, "avail": 5,
        }))
        .unwrap()
    }

    #[test]
    fn a_storage_is_said_to_be_where_it_is() {
        let mut seen = Seen::default();
        let nodes: [NodeName; 2] = ["pve1", "pve2"].map(|name| name.parse().unwrap());
        let mut full = Vec::new();
        for node in &nodes {
            full.extend(seen.judge(node, &storage("nas", 1)));
        }
        full.extend(seen.judge(&nodes[0], &storage("tank", 0)));
        let says: Vec<_> = full.iter().map(|found| found.says.as_str()).collect();
        assert_eq!(says.len(), 2, "a shared one is told once: {says:?}");
        assert_eq!(
            seen.all_well(nodes.len()).says,
            "each node reaches its storages: nas, tank (for pve1)"
        );
    }
}
