//! One cluster as a few wide reads show it. Everything that a check can know without asking about single guests is here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pve::{NodeName, Permissions, Resource, ResourceKind, Vmid};
use serde::Deserialize;

use super::report::{Gap, Report};
use crate::area::ops::code::Code;
use crate::context::{Cluster, Context, ask_each};
use crate::fault::Fault;

/// A cluster's resources by kind, and what the token may see of them.
pub(super) struct Estate {
    /// The cluster.
    pub(super) cluster: Arc<Cluster>,
    /// Its name, shared by all that is found in it.
    pub(super) name: Arc<str>,
    /// The time by the cluster's own clock where it tells, else by ours.
    pub(super) now: i64,
    /// Its nodes.
    pub(super) nodes: Vec<Arc<Resource>>,
    /// Those of them that answer.
    online: BTreeSet<NodeName>,
    /// Its guests by number.
    pub(super) guests: BTreeMap<Vmid, Arc<Resource>>,
    /// Its storages, each once per node.
    pub(super) storages: Vec<Arc<Resource>>,
    /// What the token may do; nothing if even that could not be asked.
    pub(super) held: Permissions,
}

#[derive(Deserialize)]
struct Clock {
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    time: Option<u64>,
}

impl Estate {
    /// Every cluster of the call that answers; one that does not becomes a gap in the report. All of them silent is a
    /// fault.
    pub(super) async fn all(cx: &Context, report: &mut Report) -> Result<Vec<Self>, Fault> {
        let answers = ask_each(&cx.clusters, |cluster| Self::of(cluster, cx.now)).await;
        let (mut estates, mut first) = (Vec::new(), None);
        for (cluster, answer) in answers {
            match answer {
                Ok(estate) => estates.push(estate),
                Err(error) => {
                    let gap = Gap::of(&error, &format!("cluster {}", cluster.name));
                    report.missed(&Code::ALL, gap);
                    first.get_or_insert(Fault::from(error));
                }
            }
        }
        match first {
            Some(fault) if estates.is_empty() => Err(fault),
            _ => Ok(estates),
        }
    }

    async fn of(cluster: Arc<Cluster>, our_time: i64) -> Result<Self, pve::Error> {
        let mut estate = Self {
            now: our_time,
            nodes: Vec::new(),
            online: BTreeSet::new(),
            guests: BTreeMap::new(),
            storages: Vec::new(),
            held: cluster.pve.permissions().await.unwrap_or_default(),
            name: Arc::from(cluster.name.as_str()),
            cluster,
        };
        let mut guests = Vec::new();
        for resource in estate.cluster.pve.shared_resources().await? {
            match (&resource.kind, resource.vmid) {
                (ResourceKind::Node, _) => estate.nodes.push(resource),
                (ResourceKind::Storage, _) => estate.storages.push(resource),
                (ResourceKind::Qemu | ResourceKind::Lxc, Some(vmid)) => {
                    guests.push((vmid, resource));
                }
                _ => {}
            }
        }
        // At once: a tree that is built from rows in order looks for no place for each.
        estate.guests = guests.into_iter().collect();
        let online = estate.nodes.iter().filter(|node| is_online(node));
        estate.online = online.filter_map(|node| node.node.clone()).collect();
        if let Some(time) = estate.time().await {
            estate.now = time;
        }
        Ok(estate)
    }

    /// Ages are measured by the clock that wrote them.
    async fn time(&self) -> Option<i64> {
        let node = self.online().next()?;
        let clock: Clock = self
            .cluster
            .pve
            .get(format!("/nodes/{node}/time"))
            .await
            .ok()?;
        i64::try_from(clock.time?).ok()
    }

    /// The nodes that answer.
    pub(super) fn online(&self) -> impl Iterator<Item = &NodeName> {
        self.online.iter()
    }

    /// The nodes that do not.
    pub(super) fn offline(&self) -> impl Iterator<Item = &NodeName> {
        self.nodes
            .iter()
            .filter(|node| !is_online(node))
            .filter_map(|node| node.node.as_ref())
    }

    /// Whether a node answers.
    pub(super) fn is_online(&self, name: &NodeName) -> bool {
        self.online.contains(name)
    }

    /// Tells once, for checks that count guests, that PVE may be leaving some out.
    pub(super) fn note_hidden_guests(&self, codes: &[Code], report: &mut Report) {
        if !self.held.has("/vms", "VM.Audit") {
            report.missed(codes, Gap::lacks("VM.Audit", "/vms"));
        }
    }
}

/// Whether a node's row says that it answers.
pub(super) fn is_online(node: &Resource) -> bool {
    node.status.as_deref() == Some("online")
}

/// Whether a guest's row says that it runs; a paused one does.
pub(super) fn is_running(guest: &Resource) -> bool {
    matches!(guest.status.as_deref(), Some("running" | "paused"))
}
