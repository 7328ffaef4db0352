//! Everything that a migration depends on, read once.

use std::collections::{BTreeMap, BTreeSet};

use pve::{GuestConfig, GuestKind, MigratePreconditions, NodeName, Resource, ResourceKind};
use serde_json::Value;
use tokio::join;

use super::super::power::State;
use super::ha::{self, Affinity};
use crate::context::Guest;
use crate::fault::{Fault, explain};

/// The guest, what PVE says of its way, and where it could go.
pub(super) struct Scene {
    pub(super) guest: Guest,
    pub(super) config: GuestConfig,
    pub(super) state: State,
    /// PVE's own view; empty where the guest is locked or PVE is too old to have one.
    pub(super) says: MigratePreconditions,
    /// The other nodes, by name.
    pub(super) nodes: Vec<Node>,
    /// The storages of the guest's own node that the token may see.
    pub(super) storages: BTreeMap<String, Resource>,
    /// A container's snapshots; of a VM PVE says itself which volume is part of one.
    pub(super) snapshots: Vec<String>,
    /// The replication jobs of the guest with the nodes that they copy to.
    pub(super) replicas: Vec<(String, String)>,
    /// The guests that HA moves along, of those that the token may see.
    pub(super) along: Vec<pve::Guest>,
    /// The HA rules that say where it shall run.
    pub(super) rules: Vec<Affinity>,
    /// What could not be looked at.
    pub(super) unchecked: Vec<String>,
}

/// A node that the guest could go to.
pub(super) struct Node {
    pub(super) name: NodeName,
    pub(super) online: bool,
    /// Bytes of memory that nobody uses; hidden from a token without Sys.Audit.
    pub(super) free: Option<u64>,
    /// The storages that it has, of those that the token may see.
    pub(super) storages: BTreeSet<String>,
}

impl Scene {
    /// Reads it all.
    pub(super) async fn of(guest: Guest) -> Result<Self, Fault> {
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let pve = guest.pve();
        let says = async {
            // PVE says nothing of a locked guest but that it is locked.
            match config.lock() {
                Some(_) => Ok(None),
                None => pve.migrate_preconditions(&guest.at).await,
            }
        };
        let snapshots = async {
            match guest.at.kind {
                GuestKind::Lxc => pve.snapshots(&guest.at).await,
                GuestKind::Qemu => Ok(Vec::new()),
            }
        };
        let rules = async {
            if state.managed {
                ha::rules(&guest).await
            } else {
                Ok(Vec::new())
            }
        };
        let (says, rows, snapshots, replicas, rules) = join!(
            says,
            pve.resources(),
            snapshots,
            pve.list::<Value>("/cluster/replication"),
            rules
        );
        let (says, rows) = (says?.unwrap_or_default(), rows?);
        let mut unchecked = Vec::new();
        let mut skip = |what: &str, error: pve::Error| {
            unchecked.push(format!("{what} ({})", explain(&error)));
        };
        let snapshots = snapshots.map_err(|error| skip("snapshots", error));
        let replicas = replicas.map_err(|error| skip("replication", error));
        let rules = rules.map_err(|error| skip("HA rules", error));
        let names = |entries: Vec<pve::SnapshotEntry>| entries.into_iter().map(|it| it.name);
        Ok(Self {
            nodes: nodes(&rows, &guest.at.node),
            storages: storages_of(&rows, &guest.at.node)
                .map(|(name, row)| (name.to_owned(), row.clone()))
                .collect(),
            snapshots: names(snapshots.unwrap_or_default()).collect(),
            replicas: replicas_of(&guest, &replicas.unwrap_or_default()),
            along: ha::along(&says, &rows),
            rules: rules.unwrap_or_default(),
            guest,
            config,
            state,
            says,
            unchecked,
        })
    }

    /// What PVE holds against a node.
    pub(super) fn obstacles(&self, node: &NodeName) -> Option<&pve::NodeObstacles> {
        self.says.not_allowed_nodes.as_ref()?.get(node.as_str())
    }

    /// The storages of the guest that a node does not have.
    pub(super) fn missing_storages(&self, node: &Node) -> Vec<String> {
        if let Some(told) = self
            .obstacles(&node.name)
            .and_then(|obstacles| obstacles.unavailable_storages.clone())
        {
            return told;
        }
        let used: BTreeSet<_> = self
            .config
            .disks()
            .into_iter()
            .filter(|disk| !disk.is_unused())
            .filter_map(|disk| disk.storage)
            .collect();
        // What is hidden from the token is hidden on both nodes, and says nothing.
        used.into_iter()
            .filter(|name| self.storages.contains_key(name) && !node.storages.contains(name))
            .collect()
    }
}

fn nodes(rows: &[Resource], own: &NodeName) -> Vec<Node> {
    let others = rows
        .iter()
        .filter(|row| row.kind == ResourceKind::Node && row.node.as_ref() != Some(own));
    let mut nodes: Vec<_> = others
        .filter_map(|row| {
            let name = row.node.clone()?;
            Some(Node {
                online: row.status.as_deref() == Some("online"),
                free: row
                    .maxmem
                    .zip(row.mem)
                    .map(|(all, used)| all.saturating_sub(used)),
                storages: storages_of(rows, &name)
                    .map(|(name, _)| name.to_owned())
                    .collect(),
                name,
            })
        })
        .collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes
}

fn storages_of<'a>(
    rows: &'a [Resource],
    node: &NodeName,
) -> impl Iterator<Item = (&'a str, &'a Resource)> {
    rows.iter()
        .filter(move |row| row.kind == ResourceKind::Storage && row.node.as_ref() == Some(node))
        .filter_map(|row| Some((row.storage.as_deref()?, row)))
}

fn replicas_of(guest: &Guest, jobs: &[Value]) -> Vec<(String, String)> {
    let vmid = u64::from(guest.at.vmid.get());
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    jobs.iter()
        .filter(|job| pve::lenient::as_u64(&job["guest"]) == Some(vmid))
        .map(|job| (text(&job["id"]), text(&job["target"])))
        .collect()
}
