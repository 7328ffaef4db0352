//! The guests that volumes belong to, as part of a plan that deletes these.

use std::collections::BTreeSet;
use std::sync::Arc;

use pve::Vmid;

use crate::claim::Claim;
use crate::context::{Cluster, Context};
use crate::fault::{Fault, Kind};
use crate::plan::{Needs, Plan};

/// Makes them part of the plan, so that rules about them and what protects them count. One that is gone has left its
/// volumes behind; one that cannot be read may be protected, and is a fault. Answers what reading them takes.
pub(super) async fn bind(
    cx: &Context,
    cluster: &Arc<Cluster>,
    vmids: BTreeSet<Vmid>,
    plan: &mut Plan,
) -> Result<Vec<Needs>, Fault> {
    let here = Context {
        clusters: vec![cluster.clone()],
        // The caller's claim is about something else.
        claim: Claim::default(),
        ..cx.clone()
    };
    let mut needs = Vec::new();
    for vmid in vmids {
        match here.guest(vmid, None, None).await {
            Ok(guest) => {
                let config = guest.config().await?;
                guest.bind_once(plan, &config);
                needs.push(Needs::on(guest.at.acl_path(), "VM.Audit"));
            }
            Err(fault) if fault.kind == Kind::NotFound => plan
                .warnings
                .push(format!("no guest has the id {vmid} any more")),
            Err(fault) => return Err(fault),
        }
    }
    Ok(needs)
}
