//! Ids for guests that are to be made: free on the cluster, and chosen by no other call at the same time.

use pve::{Request, Vmid};

use super::{Cluster, Context};
use crate::fault::{Fault, Kind};
use crate::hold::Thing;
use crate::plan::Guard;

/// How many ids are tried after the one that PVE proposes.
const TRIES: usize = 1_000;

impl Context {
    /// The id that the caller wants if it is free, or the next free one, and the guard that holds it to that. `argument` is
    /// where the caller names an id.
    pub async fn free_vmid(
        &self,
        cluster: &Cluster,
        wanted: Option<Vmid>,
        argument: &str,
    ) -> Result<(Vmid, Guard), Fault> {
        let Some(wanted) = wanted else {
            let vmid = self.next_vmid(cluster).await?;
            return Ok((vmid, Guard::NextVmid(vmid)));
        };
        if is_free(cluster, wanted).await? {
            return Ok((wanted, Guard::VmidFree(wanted)));
        }
        let fault = Fault::new(Kind::Conflict, format!("the vmid {wanted} is taken"));
        // Whoever was cut off and asks again must not make a second one.
        if let Some(begun) = &self.begun
            && let Some(plan) = begun.may_have_made(&cluster.name, wanted).await?
        {
            let message = format!(
                "{}: an earlier call of yours, of which it is not known how it ended (plan {}: {}), may have made it",
                fault.message, plan.id, plan.summary
            );
            return Err(Fault { message, ..fault }.hint(format!(
                "get_proxmox_task with upid \"{}\" tells what became of it; send another {argument} only if that is not the guest you want",
                plan.id
            )));
        }
        let free = self.next_vmid(cluster).await?;
        Err(fault.hint(format!(
            "{free} is free; send {argument}: {free}, or leave {argument} out"
        )))
    }

    /// The first free id that no other call has chosen; from now on this one has.
    async fn next_vmid(&self, cluster: &Cluster) -> Result<Vmid, Fault> {
        let first: Vmid = cluster.pve.get(Request::get("/cluster/nextid")).await?;
        if self.held.take(Thing::guest(&cluster.name, first)) {
            return Ok(first);
        }
        for number in (u64::from(first.get()) + 1..).take(TRIES) {
            let Ok(vmid) = Vmid::new(number) else { break };
            let thing = Thing::guest(&cluster.name, vmid);
            if self.held.take(thing.clone()) {
                if is_free(cluster, vmid).await? {
                    return Ok(vmid);
                }
                self.held.let_go(&thing);
            }
        }
        let message = "no free vmid was found: other calls have chosen all that PVE proposes";
        Err(Fault::new(Kind::Conflict, message).hint("make the call again when they have ended"))
    }
}

async fn is_free(cluster: &Cluster, vmid: Vmid) -> Result<bool, Fault> {
    let request = Request::get("/cluster/nextid").with("vmid", vmid);
    match cluster.pve.get::<serde_json::Value>(request).await {
        Ok(_) => Ok(true),
        Err(error) if error.status() == Some(400) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
