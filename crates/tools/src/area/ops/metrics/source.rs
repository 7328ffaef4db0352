//! Where the history is that a caller named.

use std::sync::Arc;

use pve::{NodeName, ResourceKind, Vmid};

use super::figures::{Figures, GUEST, NODE, STORAGE};
use crate::context::{Cluster, Context};
use crate::fault::{Fault, Kind};
use crate::words;

/// Where a history is, and what is in it.
pub(super) struct Source {
    pub(super) cluster: Arc<Cluster>,
    pub(super) path: String,
    pub(super) object: String,
    pub(super) figures: Figures,
}

impl Source {
    /// The guest, the storage or the node, in this order; two of them only where they go together.
    pub(super) async fn find(
        cx: &Context,
        vmid: Option<Vmid>,
        storage: Option<&str>,
        node: Option<&NodeName>,
    ) -> Result<Self, Fault> {
        match (vmid, storage, node) {
            (Some(_), Some(_), _) => Err(Fault::bad_input("vmid and storage are two things")
                .hint("send one of vmid, node, storage")),
            (Some(vmid), None, node) => {
                let guest = cx.guest(vmid, node, None).await?;
                Ok(Source {
                    path: guest.at.path("rrddata"),
                    object: guest.label(),
                    figures: GUEST,
                    cluster: guest.cluster,
                })
            }
            (None, Some(storage), node) => of_storage(cx, storage, node).await,
            (None, None, Some(node)) => {
                let (cluster, _) = cx.node(node).await?;
                Ok(Source {
                    path: format!("/nodes/{node}/rrddata"),
                    object: format!("node {node}"),
                    figures: NODE,
                    cluster,
                })
            }
            (None, None, None) => Err(Fault::bad_input("nothing was named")
                .hint("send vmid, node or storage; list_proxmox_resources shows what there is")),
        }
    }
}

/// The storage on the node that was named, or on the first one that has it if that does not matter.
async fn of_storage(cx: &Context, storage: &str, node: Option<&NodeName>) -> Result<Source, Fault> {
    let mut places = Vec::new();
    for cluster in &cx.clusters {
        for row in cluster.pve.resources().await? {
            let here = row.kind == ResourceKind::Storage
                && row.storage.as_deref() == Some(storage)
                && node.is_none_or(|node| row.node.as_ref() == Some(node));
            if let (true, Some(node)) = (here, row.node) {
                places.push((cluster.clone(), node, row.shared));
            }
        }
    }
    let names: Vec<_> = places.iter().map(|(_, node, _)| node.to_string()).collect();
    let one_cluster = places.iter().all(|place| place.0.name == places[0].0.name);
    match places.into_iter().next() {
        None => Err(Fault::new(
            Kind::NotFound,
            format!(
                "no storage {} is to be seen{}",
                words::clip(storage, 40),
                node.map(|node| format!(" on {node}")).unwrap_or_default()
            ),
        )
        .hint("list_proxmox_resources with resource_type \"storage\" shows those there are; the token needs Datastore.Audit on /storage")),
        Some((cluster, node, shared)) if names.len() == 1 || (shared && one_cluster) => Ok(Source {
            path: format!("/nodes/{node}/storage/{}/rrddata", pve::encode_segment(storage)),
            object: if shared {
                format!("storage {storage}")
            } else {
                format!("storage {storage} on {node}")
            },
            figures: STORAGE,
            cluster,
        }),
        Some(_) => Err(Fault::bad_input(format!(
            "{storage} is a different storage on each of its nodes"
        ))
        .hint(format!("send node too: {}", words::list(&names)))),
    }
}
