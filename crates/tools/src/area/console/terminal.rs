//! Terminals: inside containers, and at the serial ports of VMs.

mod exec;
mod read;
mod send;

pub(in crate::area) use exec::exec_plan;
pub(in crate::area) use read::ReadTerminal;
pub(in crate::area) use send::SendTerminalLine;

use pve::{GuestConfig, GuestKind, NodeName, Vmid};

use super::target;
use crate::area::power::State;
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Needs, Plan};
use crate::spec::Spec;

/// A guest whose terminal could be opened, as far as our own credentials go.
async fn guest(cx: &Context, vmid: Vmid, node: Option<&NodeName>) -> Result<Guest, Fault> {
    let guest = cx.guest(vmid, node, None).await?;
    guest.require_online()?;
    require_login(&guest)?;
    Ok(guest)
}

/// PVE lets no token into a terminal: it answers the request for one, and hangs up.
fn require_login(guest: &Guest) -> Result<(), Fault> {
    if guest.pve().opens_terminals() {
        return Ok(());
    }
    let cluster = &guest.cluster.name;
    let without = match guest.at.kind {
        GuestKind::Qemu => "type_vm_text and capture_vm_screen work without that".to_owned(),
        GuestKind::Lxc => {
            let (node, vmid) = (&guest.at.node, guest.at.vmid);
            format!("or run it on node {node} themselves: pct exec {vmid} -- COMMAND")
        }
    };
    Err(Fault::refused(format!(
        "{} is reached through its terminal: PVE lets no API token in there, and cluster {cluster} is configured with one",
        guest.label()
    ))
    .hint(format!(
        "a person must configure {cluster} with user and password_file, password_env or password_command (or \
         PROXMOX_USER and PROXMOX_PASSWORD) instead of the token; {without}"
    )))
}

/// Why the terminal of a guest cannot be used as things are.
async fn obstacle(guest: &Guest, config: &GuestConfig) -> Result<Option<Blocker>, Fault> {
    let label = guest.label();
    let state = State::of(guest).await?;
    if !state.running {
        let stopped = format!("{label} is stopped: nothing runs on its terminal");
        return Ok(Some(target::off(guest, stopped)));
    }
    if state.paused {
        return Ok(Some(Blocker::new(
            format!("{label} is paused: nothing answers on its terminal"),
            "resume it with start_proxmox_vm",
        )));
    }
    let is_socket = |number: u8| {
        let port = config.text(&format!("serial{number}"));
        port.as_deref() == Some("socket")
    };
    if guest.at.kind == GuestKind::Qemu && !(0..4).any(is_socket) {
        return Ok(Some(Blocker::new(
            format!("{label} has no serial port that leads to a terminal"),
            "add one with update_proxmox_vm (set serial0=socket) and restart the VM; its system must ask for a login \
             there. capture_vm_screen and type_vm_text need none",
        )));
    }
    Ok(None)
}

/// A plan that types on a guest's terminal, without its step: what it is about, and what that does inside.
async fn frame(
    spec: &Spec,
    guest: &Guest,
    config: &GuestConfig,
    (summary, does): (String, &str),
) -> Result<Plan, Fault> {
    let mut plan = Plan::new(spec, &guest.cluster.name, summary);
    plan.blockers.extend(obstacle(guest, config).await?);
    guest.bind(&mut plan, config);
    plan.needs = needs(guest);
    let (kind, vmid) = (guest.at.kind.noun(), guest.at.vmid.to_string());
    plan.impact
        .push(Impact::new(Effect::Changed, kind, vmid).note(does));
    Ok(plan)
}

/// What opening a terminal takes.
fn needs(guest: &Guest) -> Needs {
    Needs::All(vec![
        Needs::on(guest.at.acl_path(), "VM.Audit"),
        Needs::on(guest.at.acl_path(), "VM.Console"),
    ])
}
