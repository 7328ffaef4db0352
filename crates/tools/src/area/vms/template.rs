//! convert_vm_to_template

use pve::{GuestConfig, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::vm;
use crate::area::power::{State, locked};
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::Changes;
use crate::words;

/// Turns one VM into a template for good: it never starts again, and its disks become the read-only base of clones.
///
/// clone_vm makes VMs of it, or a copy beforehand. Refused: a running VM (shutdown_vm), one with snapshots
/// (delete_vm_snapshot), locked and protected ones. It asks for a confirmation. Needs VM.Allocate and VM.Audit on
/// /vms/VMID. Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct ConvertVm {
    /// The VM's id.
    vmid: Vmid,
}

impl Changes for ConvertVm {
    const SPEC: Spec = Spec {
        name: "convert_vm_to_template",
        title: "Turn a VM into a template",
        toolset: Toolset::Qemu,
        risk: Risk::Destroy,
        idempotent: false,
        takes_host: false,
        leasable: false,
        looks_inside: false,
        examples: &[Example {
            ask: "Make staging a template",
            args: r#"{"vmid": 105}"#,
        }],
    };

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = vm(cx, self.vmid, Self::SPEC.name).await?;
        conversion(&Self::SPEC, &guest).await
    }
}

async fn conversion(spec: &Spec, guest: &Guest) -> Result<Plan, Fault> {
    let config = guest.config().await?;
    let state = State::of(guest).await?;
    let summary = format!(
        "Turn {} on {} into a template",
        guest.label(),
        guest.at.node
    );
    let mut plan = Plan::new(spec, &guest.cluster.name, Risk::Destroy, summary);
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
