//! What every press on a VM's keyboard needs to know about the VM.

use pve::{GuestConfig, GuestKind, Vmid};

use crate::area::power::State;
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Needs, Plan, Undo};
use crate::spec::Spec;

/// The VM; a container has neither keyboard nor screen.
pub(super) async fn vm(cx: &Context, vmid: Vmid) -> Result<Guest, Fault> {
    let guest = cx.guest(vmid, None, None).await?;
    if guest.at.kind == GuestKind::Lxc {
        return Err(Fault::bad_input(format!(
            "{} is a container: it has no keyboard and no screen",
            guest.label()
        ))
        .hint("run_proxmox_vm_command runs a command in it"));
    }
    guest.require_online()?;
    Ok(guest)
}

/// How keys get to a VM.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// One stroke, which QEMU's monitor takes.
    Monitor,
    /// Many, over the connection that shows its screen.
    Screen,
}

/// A plan that presses something on a VM's keyboard, without its steps.
pub(super) async fn press_plan(
    spec: &Spec,
    guest: &Guest,
    way: Way,
    summary: String,
) -> Result<Plan, Fault> {
    let config = guest.config().await?;
    let state = State::of(guest).await?;
    let mut plan = Plan::new(spec, &guest.cluster.name, summary);
    if !state.running {
        plan.blockers.push(stopped(guest));
    }
    if state.paused {
        plan.blockers.push(Blocker::new(
            format!(
                "{} is paused, and keys that are pressed now are lost",
                guest.label()
            ),
            "resume it with start_proxmox_vm",
        ));
    }
    match (serial_display(&config), way) {
        (Some(port), Way::Screen) => plan.blockers.push(Blocker::new(
            format!(
                "{} has the serial port {port} in place of a screen, and with that no keyboard that PVE passes on",
                guest.label()
            ),
            "send_vm_terminal_line types on that port (toolset console); send_vm_key presses one key at a time",
        )),
        (Some(port), Way::Monitor) => plan.warnings.push(format!(
            "its display is the serial port {port}, and its system may read no keyboard; send_vm_terminal_line types on that port (toolset console)"
        )),
        (None, _) => {}
    }
    guest.bind(&mut plan, &config);
    plan.needs = Needs::All(vec![
        Needs::on(guest.at.acl_path(), "VM.Audit"),
        Needs::on(guest.at.acl_path(), "VM.Console"),
    ]);
    plan.impact.push(
        Impact::new(Effect::Interrupted, "VM", guest.at.vmid.to_string())
            .note("its console receives the keys"),
    );
    plan.undo = Undo::Impossible {
        because: "a key press cannot be undone".to_owned(),
    };
    Ok(plan)
}

/// The serial port that takes the place of a VM's display, as in many cloud images.
pub(super) fn serial_display(config: &GuestConfig) -> Option<String> {
    let display = config.text("vga")?;
    let display = display.split(',').next()?;
    let display = display.strip_prefix("type=").unwrap_or(display);
    display.starts_with("serial").then(|| display.to_owned())
}

/// Why a stopped VM is left alone.
pub(super) fn stopped(guest: &Guest) -> Blocker {
    let because = format!(
        "{} is stopped: nobody reads its keyboard, and its screen is dark",
        guest.label()
    );
    off(guest, because)
}

/// A guest that must run for this, and the way there.
pub(super) fn off(guest: &Guest, because: String) -> Blocker {
    if guest.is_template() {
        return Blocker::new(
            format!("{} is a template and never runs", guest.label()),
            "clone it with clone_proxmox_vm and start the clone",
        );
    }
    Blocker::new(because, "start it with start_proxmox_vm")
}
