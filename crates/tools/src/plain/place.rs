//! Where a call goes: the cluster, and the guest or node that its path names.

use std::sync::Arc;

use pve::{GuestKind, NodeName, Vmid};
use serde_json::{Value, json};

use super::{Plain, word};
use crate::context::{Cluster, Context, Guest};
use crate::fault::Fault;
use crate::tool::Object;

/// Where a call goes.
pub(super) struct Place {
    pub(super) cluster: Arc<Cluster>,
    pub(super) guest: Option<Guest>,
}

impl Plain {
    /// Finds what the path names. A guest's node becomes one of the values.
    pub(super) async fn place(&self, values: &mut Object, cx: &Context) -> Result<Place, Fault> {
        if self.path.contains("/{vmid}") {
            let guest = self.guest(values, cx).await?;
            values.insert("node".to_owned(), json!(guest.at.node));
            return Ok(Place {
                cluster: guest.cluster.clone(),
                guest: Some(guest),
            });
        }
        let cluster = if self.path.contains("/{node}") {
            let node: NodeName = argument(values, "node")?;
            if self.even_offline {
                cx.node(&node).await?.0
            } else {
                cx.online_node(&node).await?
            }
        } else {
            self.only_cluster(cx)?
        };
        Ok(Place {
            cluster,
            guest: None,
        })
    }

    fn only_cluster(&self, cx: &Context) -> Result<Arc<Cluster>, Fault> {
        match cx.clusters.as_slice() {
            [only] => Ok(only.clone()),
            several => {
                let names: Vec<_> = several
                    .iter()
                    .map(|cluster| cluster.name.as_str())
                    .collect();
                let message = format!("{} needs to know which cluster is meant", self.spec.name);
                Err(Fault::bad_input(message).hint(format!(
                    "send cluster: one of {}",
                    crate::words::list(&names)
                )))
            }
        }
    }

    async fn guest(&self, values: &Object, cx: &Context) -> Result<Guest, Fault> {
        let vmid: Vmid = argument(values, "vmid")?;
        let node: Option<NodeName> = match values.get("node") {
            Some(_) => Some(argument(values, "node")?),
            None => None,
        };
        let guest = cx.guest(vmid, node.as_ref(), None).await?;
        let kind = if self.path.contains("/lxc/") {
            GuestKind::Lxc
        } else {
            GuestKind::Qemu
        };
        if guest.at.kind != kind {
            let is = format!("{} is no {}", guest.label(), kind.noun());
            let fault = Fault::bad_input(is);
            return Err(match self.twin() {
                Some(twin) => fault.hint(format!("{twin} is the tool for it")),
                None => fault.hint("get_proxmox_vm_status tells what it is"),
            });
        }
        guest.require_online()?;
        Ok(guest)
    }

    /// The tool that does the same to the other kind of guest.
    fn twin(&self) -> Option<String> {
        let name = self.spec.name;
        let other = if name.contains("container") {
            name.replace("container", "vm")
        } else {
            name.replace("vm", "container")
        };
        crate::registry::all()
            .any(|tool| tool.spec().name == other && other != name)
            .then_some(other)
    }
}

/// An argument as one of our own types, which say what they take.
fn argument<T: std::str::FromStr<Err: std::fmt::Display>>(
    values: &Object,
    name: &str,
) -> Result<T, Fault> {
    word(values.get(name)).parse().map_err(|error| {
        Fault::bad_input(format!("argument `{name}`: {error}"))
            .hint("list_proxmox_resources shows what there is")
    })
}

/// A value in a sentence, bounded.
pub(super) fn shown(value: &Value) -> String {
    let text = pve::lenient::as_text(value).unwrap_or_else(|| value.to_string());
    crate::words::clip(&text, 60)
}
