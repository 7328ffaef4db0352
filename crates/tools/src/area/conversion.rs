//! Turning a guest into a template, which convert_vm_to_template and convert_container_to_template do.

use pve::{GuestConfig, Request};
use serde_json::json;

use super::power::{State, locked};
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::Spec;
use crate::words;

/// The plan of it.
pub(super) async fn conversion(spec: &Spec, guest: &Guest) -> Result<Plan, Fault> {
    guest.require_online()?;
    let config = guest.config().await?;
    let state = State::of(guest).await?;
    let summary = format!(
        "Turn {} on {} into a template",
        guest.label(),
        guest.at.node
    );
    let mut plan = Plan::new(spec, &guest.cluster.name, summary);
    guest.bind(&mut plan, &config);
    plan.blockers = blockers(guest, &config, &state).await?;
    let path = guest.at.acl_path();
    plan.needs = Needs::All(vec![
        Needs::on(&path, "VM.Audit"),
        Needs::on(&path, "VM.Allocate"),
    ]);
    plan.impact = impact(guest, &config);
    plan.undo = Undo::Impossible {
        because:
            "PVE turns no template back; a full clone of it, clone_proxmox_vm, is a guest again"
                .to_owned(),
    };
    plan.steps.push(step(guest));
    Ok(plan)
}

/// What PVE refuses.
async fn blockers(
    guest: &Guest,
    config: &GuestConfig,
    state: &State,
) -> Result<Vec<Blocker>, Fault> {
    let label = guest.label();
    let mut blockers = Vec::new();
    if config.template() {
        blockers.push(Blocker::new(
            format!("{label} is a template already"),
            "there is nothing to send; clone_proxmox_vm clones it",
        ));
    }
    if state.running {
        blockers.push(Blocker::new(
            format!("{label} is running"),
            "shut it down with stop_proxmox_vm first",
        ));
    }
    if let Some(lock) = config.lock() {
        blockers.push(locked(guest, &lock));
    }
    let snapshots = guest.pve().snapshots(&guest.at).await?;
    if !snapshots.is_empty() {
        let names: Vec<_> = snapshots.iter().map(|it| it.name.as_str()).collect();
        blockers.push(Blocker::new(
            format!("{label} has the snapshots {}", words::list(&names)),
            "a template has none: delete them with delete_proxmox_vm_snapshot first",
        ));
    }
    Ok(blockers)
}

fn impact(guest: &Guest, config: &GuestConfig) -> Vec<Impact> {
    let own = Impact::new(
        Effect::Changed,
        guest.at.kind.noun(),
        guest.at.vmid.to_string(),
    );
    let own = own.note("becomes a template and never starts again");
    let disks = config.disks().into_iter().filter(|disk| !disk.is_unused());
    let bases = disks.map(|disk| {
        Impact::new(Effect::Changed, "disk", disk.volume)
            .bytes(disk.size_bytes)
            .note(format!("{}: becomes a read-only base", disk.key))
    });
    std::iter::once(own).chain(bases).collect()
}

/// PVE names no task of a container's in its answer, and starts one all the same.
fn step(guest: &Guest) -> Step {
    let (at, label) = (&guest.at, guest.label());
    let done = Check::guest(
        at,
        "config",
        format!("{label} is a template"),
        vec![Expect::Is("template".to_owned(), json!(1))],
    );
    let request = Request::post(at.path("template"));
    Step::request(format!("Turn {label} into a template"), request)
        .task(Trace::of(at, "template"))
        .after(done)
}
