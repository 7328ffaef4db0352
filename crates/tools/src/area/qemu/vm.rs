//! The VM whose agent is asked.

use pve::{Error, GuestConfig, GuestKind, NodeName, Vmid};

use crate::agent::{Obstacle, Right};
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::spec::Spec;

/// The VM; a container has no guest agent.
pub(super) async fn vm(cx: &Context, vmid: Vmid, node: Option<&NodeName>) -> Result<Guest, Fault> {
    let guest = cx.guest(vmid, node, None).await?;
    if guest.at.kind == GuestKind::Lxc {
        return Err(Fault::bad_input(format!(
            "{} is a container: only VMs have a guest agent",
            guest.label()
        ))
        .hint("get_proxmox_vm_status shows what can be seen of it from outside"));
    }
    guest.require_online()?;
    Ok(guest)
}

/// A plan of this tool for the VM's agent, without its steps. `command` is what the agent is asked to do.
pub(super) async fn plan(
    spec: &Spec,
    (guest, config): (&Guest, &GuestConfig),
    (right, command): (Right, &'static str),
    summary: String,
) -> Result<Plan, Fault> {
    let mut plan = Plan::new(spec, &guest.cluster.name, summary);
    if let Some(obstacle) = Obstacle::to(command, guest, config).await? {
        plan.blockers.push(obstacle.blocker(guest));
    }
    guest.bind(&mut plan, config);
    plan.needs = right.needs(guest).await?;
    Ok(plan)
}

/// An agent that could not be asked, with what to do about it.
pub(super) fn unasked(error: Error) -> Fault {
    let advice = crate::agent::advice(&error);
    let fault = Fault::from(error);
    match advice {
        Some(remedy) => fault.hint(remedy),
        None => fault,
    }
}
