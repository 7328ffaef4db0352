//! What all clusters tell in one request each.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pve::{Error, NodeName, Resource, ResourceKind};

use super::kind::{Source, Wanted};
use super::notes::{Notes, some_of};
use crate::context::{Cluster, ask_each};
use crate::fault::Fault;

/// Everything in every cluster that answered, in the order of the configuration.
#[derive(Debug)]
pub(super) struct Estate {
    pub(super) parts: Vec<Part>,
}

/// One cluster's `/cluster/resources`.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) cluster: Arc<Cluster>,
    pub(super) resources: Vec<Resource>,
}

impl Estate {
    /// Asks all clusters at the same time. One that does not answer becomes a note; all of them, a fault.
    pub(super) async fn gather(
        clusters: &[Arc<Cluster>],
        notes: &mut Notes,
    ) -> Result<Self, Fault> {
        let ask = async |cluster: Arc<Cluster>| cluster.pve.resources().await;
        let (mut parts, mut first_fault) = (Vec::new(), None);
        for (cluster, answer) in ask_each(clusters, ask).await {
            match answer {
                Ok(resources) => parts.push(Part { cluster, resources }),
                Err(error) => {
                    let mend = match &error {
                        Error::Secret { hint, .. } => format!("; {hint}"),
                        _ => String::new(),
                    };
                    let name = &cluster.name;
                    notes.say(format!("cluster {name} is left out: {error}{mend}"));
                    first_fault.get_or_insert(Fault::from(error));
                }
            }
        }
        match first_fault {
            Some(fault) if parts.is_empty() => Err(fault),
            _ => Ok(Self { parts }),
        }
    }

    /// Says what is down or hidden and matters for such a list.
    pub(super) fn tell_trouble(&self, wanted: Wanted, notes: &mut Notes) {
        for part in &self.parts {
            let offline: Vec<_> = part.nodes("offline").map(NodeName::as_str).collect();
            let effect = match wanted.source() {
                Source::Resources => "guests there are shown as last known",
                Source::Volumes(_) | Source::Snapshots => "what is only there is left out",
            };
            match offline.as_slice() {
                [] => {}
                [node] => notes.say(format!("node {node} is offline; {effect}")),
                several => notes.say(format!("nodes {} are offline; {effect}", some_of(several))),
            }
            if matches!(wanted, Wanted::Node | Wanted::All) && part.hides_figures() {
                notes.say(format!(
                    "{} hides figures of its nodes: the token needs Sys.Audit on /nodes",
                    part.cluster.name
                ));
            }
        }
    }
}

impl Part {
    fn nodes(&self, status: &str) -> impl Iterator<Item = &NodeName> {
        self.resources
            .iter()
            .filter(move |row| {
                row.kind == ResourceKind::Node && row.status.as_deref() == Some(status)
            })
            .filter_map(|row| row.node.as_ref())
    }

    /// The nodes that answer.
    pub(super) fn online(&self) -> HashSet<&NodeName> {
        self.nodes("online").collect()
    }

    /// How many guests each node or pool has.
    pub(super) fn guests_by(&self, owner: fn(&Resource) -> Option<&str>) -> HashMap<&str, u32> {
        let mut counts = HashMap::new();
        for row in self
            .resources
            .iter()
            .filter(|row| row.kind.guest_kind().is_some())
        {
            if let Some(name) = owner(row) {
                *counts.entry(name).or_default() += 1;
            }
        }
        counts
    }

    /// PVE shows every node to everybody, and its figures only to those who may see them.
    fn hides_figures(&self) -> bool {
        self.resources.iter().any(|row| {
            row.kind == ResourceKind::Node
                && row.status.as_deref() == Some("online")
                && row.maxmem.is_none()
        })
    }
}
