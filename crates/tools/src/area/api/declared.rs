//! What declared tools say of a call. Where one is the very method that is called, the call is as grave as it would be by that
//! tool, and about the same guests: nobody gets round what a tool asks for by sending what it would send.

use std::sync::Arc;

use pve::apidoc::Found;

use super::sent::Sent;
use crate::context::Cluster;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::registry;
use crate::spec::Risk;
use crate::tool::{Object, Plain};

/// A tool that is the method, and what its arguments would be.
pub(super) struct Declared {
    tool: &'static Plain,
    values: Object,
}

impl Declared {
    /// All of them.
    pub(super) fn all(found: &Found<'_>, sent: &Sent) -> Vec<Self> {
        let tools = registry::all().filter_map(|tool| tool.plain());
        let called = tools.filter_map(|tool| {
            let values = tool.arguments_of(found, sent.judged())?;
            Some(Self { tool, values })
        });
        called.collect()
    }

    /// Makes the plan one about the guests from which it takes a storage.
    pub(super) async fn bind(&self, cluster: &Arc<Cluster>, plan: &mut Plan) -> Result<(), Fault> {
        let risk = Risk::Destroy;
        self.tool
            .bind_stranded(&self.values, cluster, risk, plan)
            .await
    }
}
