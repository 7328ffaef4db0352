//! The guests that a preview of a raw request shows beyond those that the engine finds in the request: the one in its path,
//! held to its identity, and those of a node or storage.

use std::sync::Arc;

use pve::apidoc::Found;
use pve::{GuestKind, NodeName, Request, Resource, Vmid};

use super::sent::Sent;
use super::{declared, wide};
use crate::context::{Cluster, Context, Guest};
use crate::fault::Fault;
use crate::plan::{Needs, Plan};

/// A request and where it goes.
pub(super) struct Subject<'a> {
    pub(super) cx: &'a Context,
    pub(super) cluster: &'a Arc<Cluster>,
    pub(super) found: &'a Found<'a>,
    pub(super) sent: &'a Sent,
    rows: Vec<Resource>,
}

impl<'a> Subject<'a> {
    pub(super) async fn of(
        cx: &'a Context,
        cluster: &'a Arc<Cluster>,
        found: &'a Found<'a>,
        sent: &'a Sent,
    ) -> Result<Self, Fault> {
        let rows = cluster.pve.resources().await?;
        Ok(Self {
            cx,
            cluster,
            found,
            sent,
            rows,
        })
    }

    /// The node in the path.
    pub(super) fn node(&self) -> Option<NodeName> {
        NodeName::new(self.found.capture("node")?).ok()
    }

    /// Makes the plan one about all of them. Gives the privileges for reading them.
    pub(super) async fn bind(
        &self,
        request: &Request,
        plan: &mut Plan,
    ) -> Result<Vec<Needs>, Fault> {
        let mut needs = Vec::new();
        if let Some(guest) = self.in_path().await? {
            take(&guest, plan, &mut needs).await?;
        }
        declared::bind_stranded(self.cluster, (self.found, request), plan).await?;
        wide::show(self, plan).await;
        Ok(needs)
    }

    /// The guest in the path, which must be there and on that node.
    async fn in_path(&self) -> Result<Option<Guest>, Fault> {
        let template = &self.found.method.path;
        let kind = if template.starts_with("/nodes/{node}/qemu/{vmid}") {
            GuestKind::Qemu
        } else if template.starts_with("/nodes/{node}/lxc/{vmid}") {
            GuestKind::Lxc
        } else {
            return Ok(None);
        };
        let vmid: Option<Vmid> = self.found.capture("vmid").and_then(|it| it.parse().ok());
        let vmid = vmid.ok_or_else(|| Fault::bad_input("the path has no guest's id in it"))?;
        let node = self.node();
        let guest = self.cx.guest(vmid, node.as_ref(), Some(kind)).await?;
        Ok(Some(guest))
    }

    /// The guests of a node, or all.
    pub(super) fn guests_on(&self, node: Option<&NodeName>) -> Vec<Guest> {
        let mut guests = Guest::all_among(self.cluster, &self.rows);
        guests.retain(|guest| node.is_none_or(|node| guest.at.node == *node));
        guests
    }
}

async fn take(guest: &Guest, plan: &mut Plan, needs: &mut Vec<Needs>) -> Result<(), Fault> {
    if plan.targets.iter().any(|target| target.at == guest.at) {
        return Ok(());
    }
    let config = guest.config().await?;
    guest.bind_once(plan, &config);
    needs.push(Needs::on(guest.at.acl_path(), "VM.Audit"));
    Ok(())
}
