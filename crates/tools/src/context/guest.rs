//! A guest that a caller named, found.

use std::collections::BTreeSet;
use std::sync::Arc;

use pve::{GuestConfig, GuestRef, Identity, NodeName, Reader, Resource, ResourceKind, Vmid};

use super::Cluster;
use crate::fault::{Fault, Kind};
use crate::plan::{Fingerprints, Guard, Plan, Target};

/// A guest that was found.
#[derive(Debug, Clone)]
pub struct Guest {
    /// Where it was found.
    pub cluster: Arc<Cluster>,
    /// Which guest, on which node.
    pub at: GuestRef,
    /// Its row of `/cluster/resources`.
    pub row: pve::Guest,
    /// Whether its node answers.
    pub node_online: bool,
}

impl Guest {
    /// The one with that id, among the rows of its cluster.
    pub(crate) fn among(cluster: &Arc<Cluster>, rows: &[Resource], vmid: Vmid) -> Option<Self> {
        let row = rows
            .iter()
            .find(|row| row.vmid == Some(vmid))
            .and_then(pve::Guest::from_resource)?;
        let node_online = online(rows).any(|node| *node == row.at.node);
        Some(Self::found(cluster, row, node_online))
    }

    /// All of them, in one pass over the rows.
    pub(crate) fn all_among(cluster: &Arc<Cluster>, rows: &[Resource]) -> Vec<Self> {
        let online: BTreeSet<_> = online(rows).collect();
        rows.iter()
            .filter_map(pve::Guest::from_resource)
            .map(|row| {
                let node_online = online.contains(&row.at.node);
                Self::found(cluster, row, node_online)
            })
            .collect()
    }

    fn found(cluster: &Arc<Cluster>, row: pve::Guest, node_online: bool) -> Self {
        Self {
            cluster: cluster.clone(),
            at: row.at.clone(),
            row,
            node_online,
        }
    }

    /// The way to its cluster.
    pub fn pve(&self) -> &Reader {
        &self.cluster.pve
    }

    /// "VM 105 (staging)"
    pub fn label(&self) -> String {
        label(&self.at, self.name())
    }

    /// Its name, or nothing.
    pub fn name(&self) -> &str {
        self.row.name.as_deref().unwrap_or_default()
    }

    /// Whether it is a template.
    pub fn is_template(&self) -> bool {
        self.row.template
    }

    /// Refuses what cannot work because the node is down, before anything waits for it.
    pub fn require_online(&self) -> Result<(), Fault> {
        if self.node_online {
            return Ok(());
        }
        Err(Fault::new(
            Kind::Unreachable,
            format!("node {} of {} is offline", self.at.node, self.label()),
        )
        .hint("list_proxmox_resources with resource_type \"node\" shows the nodes; try again when it is back"))
    }

    /// Its current configuration.
    pub async fn config(&self) -> Result<GuestConfig, Fault> {
        Ok(self.pve().guest_config(&self.at).await?)
    }

    /// The same for a guest that may be part of the plan already.
    pub fn bind_once(&self, plan: &mut Plan, config: &GuestConfig) {
        if plan.targets.iter().all(|target| target.at != self.at) {
            self.bind(plan, config);
        }
    }

    /// The same for a guest that the plan only reads from.
    pub fn bind_as_source(&self, plan: &mut Plan, config: &GuestConfig) {
        let bound = plan.targets.len();
        self.bind_once(plan, config);
        for target in plan.targets.iter_mut().skip(bound) {
            target.only_read = true;
        }
    }

    /// Makes a plan one about this very guest: its identity and its configuration as they are now, not only its number.
    pub fn bind(&self, plan: &mut Plan, config: &GuestConfig) {
        let identity = Identity::of(self.at.kind, config);
        if !identity.is_known() {
            plan.warnings.push(format!(
                "{} bears no mark to know it by; only its number and settings are compared before it is changed",
                self.label()
            ));
        }
        plan.guards.push(Guard::SameGuest {
            at: self.at.clone(),
            identity,
            name: self.name().to_owned(),
            config: Fingerprints::of(config),
        });
        plan.targets.push(self.target(config));
    }

    /// What rules about it and what protects it go by.
    pub fn target(&self, config: &GuestConfig) -> Target {
        Target {
            at: self.at.clone(),
            name: self.name().to_owned(),
            pool: self.row.pool.clone(),
            tags: config.tags(),
            protection: config.protection(),
            only_read: false,
        }
    }
}

/// The nodes that answer.
fn online(rows: &[Resource]) -> impl Iterator<Item = &NodeName> {
    rows.iter()
        .filter(|row| row.kind == ResourceKind::Node && row.status.as_deref() == Some("online"))
        .filter_map(|row| row.node.as_ref())
}

/// "VM 105 (staging)"
pub fn label(at: &GuestRef, name: &str) -> String {
    let name = crate::clean::line(name);
    if name.is_empty() {
        format!("{} {}", at.kind.noun(), at.vmid)
    } else {
        format!("{} {} ({name})", at.kind.noun(), at.vmid)
    }
}
