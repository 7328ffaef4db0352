//! Where a call goes: the cluster, and the guest or node that its path names.

use std::sync::Arc;

use pve::{GuestKind, NodeName, Vmid};
use serde_json::{Value, json};

use super::{Plain, word};
use crate::context::{Cluster, Context, Guest};
use crate::fault::Fault;
use crate::spec::Wants;
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
        if let Some(name) = self.about {
            let guest = self.named(name, values, cx).await?;
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
            only_cluster(cx, self.spec.name)?
        };
        if self.spec.wants(Wants::Login) && !cluster.pve.opens_terminals() {
            return Err(login_only(self.spec.name, &cluster.name));
        }
        Ok(Place {
            cluster,
            guest: None,
        })
    }

    async fn guest(&self, values: &Object, cx: &Context) -> Result<Guest, Fault> {
        let vmid: Vmid = argument(values, "vmid")?;
        let node: Option<NodeName> = match values.get("node") {
            Some(_) => Some(argument(values, "node")?),
            None => None,
        };
        let kind = if self.path.contains("/lxc/") {
            GuestKind::Lxc
        } else {
            GuestKind::Qemu
        };
        let cx = cx.only(kind, self.spec.name);
        let guest = cx.guest(vmid, node.as_ref(), None).await?;
        guest.require_online()?;
        Ok(guest)
    }

    /// The guest of an argument such as `vm:105`.
    async fn named(&self, name: &str, values: &Object, cx: &Context) -> Result<Guest, Fault> {
        let text = word(values.get(name));
        let (kind, id) = text.split_once(':').unwrap_or(("", &text));
        let wrong = |error: &dyn std::fmt::Display| {
            Fault::bad_input(format!("argument `{name}`: {error}"))
                .hint("list_proxmox_resources shows the guests")
        };
        let vmid: Vmid = id.parse().map_err(|error| wrong(&error))?;
        let guest = cx.guest(vmid, None, None).await?;
        let right = match guest.at.kind {
            GuestKind::Qemu => "vm",
            GuestKind::Lxc => "ct",
        };
        if kind != right {
            return Err(wrong(&format!("{} is {right}:{vmid}", guest.label())));
        }
        Ok(guest)
    }
}

/// What is said of a tool that PVE lets no API token use.
pub(crate) fn login_only(tool: &str, cluster: &str) -> Fault {
    Fault::refused(format!(
        "PVE lets no API token in to do what {tool} does, and cluster {cluster} is configured with one"
    ))
    .hint(format!(
        "a person must configure {cluster} with user and password_file, password_env or password_command instead of \
         the token, or do it in PVE"
    ))
}

/// The one cluster that a call without a guest or node can mean.
pub(crate) fn only_cluster(cx: &Context, tool: &str) -> Result<Arc<Cluster>, Fault> {
    match cx.clusters.as_slice() {
        [only] => Ok(only.clone()),
        several => {
            let names: Vec<_> = several
                .iter()
                .map(|cluster| cluster.name.as_str())
                .collect();
            let message = format!("{tool} needs to know which cluster is meant");
            Err(Fault::bad_input(message).hint(format!(
                "send cluster: one of {}",
                crate::words::list(&names)
            )))
        }
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
    // Cut last: half a password is none that is known by its form.
    let value = match value {
        Value::String(text) => &Value::from(crate::clean::without_passwords(text)),
        other => other,
    };
    crate::words::value(value, 60)
}
