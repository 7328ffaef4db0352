//! The guests that a plain change is about beside the one in its path.

use std::sync::Arc;

use pve::GuestConfig;
use serde_json::Value;

use super::{Plain, word};
use crate::context::{Cluster, Context, Guest, stake};
use crate::fault::Fault;
use crate::plan::{Effect, Needs, Plan, parts};
use crate::spec::Risk;
use crate::tool::Object;

impl Plain {
    /// Makes the plan one about the guests that arguments name, too.
    pub(super) async fn bind_named(
        &self,
        values: &Object,
        cx: &Context,
        plan: &mut Plan,
    ) -> Result<(), Fault> {
        for arg in self.args.iter().filter(|arg| arg.guests) {
            for id in values.get(arg.name).map(parts).unwrap_or_default() {
                let vmid = id.parse().map_err(|error| {
                    Fault::bad_input(format!("argument `{}`: {error}", arg.name))
                        .hint("list_proxmox_resources shows the guests")
                })?;
                let guest = cx.guest(vmid, None, None).await?;
                let config = guest.config().await?;
                guest.bind_once(plan, &config);
            }
        }
        Ok(())
    }

    /// The same for the guests that have disks on a storage that is taken from them.
    pub(crate) async fn bind_stranded(
        &self,
        values: &Object,
        cluster: &Arc<Cluster>,
        risk: Risk,
        plan: &mut Plan,
    ) -> Result<(), Fault> {
        let Some((storage, with)) = self.strands else {
            return Ok(());
        };
        let is_on = |name: &&&str| {
            values
                .get(**name)
                .is_some_and(|it| *it != Value::Bool(false))
        };
        let reasons: Vec<_> = with.iter().filter(is_on).copied().collect();
        if reasons.is_empty() && !with.is_empty() {
            return Ok(());
        }
        // Where it stays on some nodes, the guests of those keep it.
        let keep = match reasons.as_slice() {
            ["nodes"] => values.get("nodes").map(parts).unwrap_or_default(),
            _ => Vec::new(),
        };
        let rows = cluster.pve.resources().await?;
        let mut guests = Guest::all_among(cluster, &rows);
        guests.retain(|guest| !keep.iter().any(|node| node == guest.at.node.as_str()));
        let storage = word(values.get(storage));
        let effect = match risk {
            Risk::Destroy => Effect::Destroyed,
            _ => Effect::Changed,
        };
        let note = "has a disk there and cannot be started without it";
        let uses = |config: &GuestConfig| stake::has_disk_on(config, &storage);
        stake::bind(guests, uses, (effect, note), plan).await;
        let sees_all = Needs::on("/vms", "VM.Audit");
        let missing = crate::preview::missing(&sees_all, &cluster.pve).await;
        if !missing.is_empty() {
            plan.warnings.push(format!(
                "the token lacks {}: guests that it cannot see may have disks there",
                missing.join(", ")
            ));
        }
        Ok(())
    }
}
