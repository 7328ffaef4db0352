//! Where a clone goes: what is not there, or cannot take it, is said before anything is sent.

use pve::{GuestConfig, GuestKind, GuestRef, NodeName};

use super::CloneVm;
use crate::area::disk_moves::storage_for;
use crate::area::pools;
use crate::area::snapshot::Found;
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::Blocker;
use crate::words;

impl CloneVm {
    /// What was named is there. Answers what else speaks against it.
    pub(super) async fn check_place(
        &self,
        cx: &Context,
        source: &Guest,
        config: &GuestConfig,
    ) -> Result<Vec<Blocker>, Fault> {
        if let Some(pool) = &self.pool {
            pools::require(pool, source.pve()).await?;
        }
        if let Some(snapshot) = &self.snapshot {
            Found::named(source, snapshot).await?;
        }
        let elsewhere = self.target.as_ref().filter(|node| **node != source.at.node);
        if let Some(node) = elsewhere {
            cx.on(&source.cluster).online_node(node).await?;
        }
        let mut blockers = Vec::new();
        if let Some(storage) = &self.storage {
            let there = storage_for(source, storage, disks_of(&source.at)).await?;
            if let Some(node) = elsewhere.filter(|_| !there.shared) {
                blockers.push(only_on_shared(
                    node,
                    format!("storage {storage} is not shared"),
                ));
            }
        }
        if let Some(node) = elsewhere {
            blockers.extend(on_local(source, config, node).await?);
        }
        Ok(blockers)
    }
}

/// What a storage has to take: the word for disks of such guests.
fn disks_of(at: &GuestRef) -> &'static str {
    match at.kind {
        GuestKind::Qemu => "images",
        GuestKind::Lxc => "rootdir",
    }
}

/// PVE copies from what both nodes see.
async fn on_local(
    source: &Guest,
    config: &GuestConfig,
    node: &NodeName,
) -> Result<Option<Blocker>, Fault> {
    let storages = source.pve().storages(&source.at.node).await?;
    let is_local = |name: &String| {
        let known = storages.iter().find(|it| it.storage == *name);
        known.is_some_and(|it| !it.shared)
    };
    let disks = config.disks().into_iter();
    let mut local: Vec<_> = disks
        .filter_map(|disk| disk.storage)
        .filter(is_local)
        .collect();
    local.sort();
    local.dedup();
    Ok((!local.is_empty()).then(|| {
        let because = format!(
            "{} has disks on {}, which is not shared",
            source.label(),
            words::list(&local)
        );
        only_on_shared(node, because)
    }))
}

fn only_on_shared(node: &NodeName, because: String) -> Blocker {
    Blocker::new(
        because,
        format!(
            "leave target out, and send the clone to {node} with migrate_proxmox_vm afterwards"
        ),
    )
}
