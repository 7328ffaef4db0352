//! delete_proxmox_vm_snapshot

use pve::{GuestConfig, Request, SnapName, Vmid, Volume};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::found::{Found, taken};
use super::needs;
use crate::area::power::locked;
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Deletes one snapshot of a VM or container for good; the guest runs on, its present state stays.
///
/// Use it to free space or to undo snapshot_proxmox_vm; to go back to one use rollback_proxmox_vm. Later snapshots
/// stay. Locked and protected guests are refused. Needs VM.Snapshot. Waits until it is gone; merging large
/// disks takes long. It cannot be undone.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in super::super) struct DeleteSnapshot {
    /// The guest's id.
    vmid: Vmid,
    /// The snapshot's name.
    snapshot: SnapName,
    /// Forget a broken one even if parts stay on disk.
    #[serde(default)]
    force: bool,
}

impl Changes for DeleteSnapshot {
    const SPEC: Spec = Spec {
        name: "delete_proxmox_vm_snapshot",
        title: "Delete a snapshot",
        toolset: Toolset::Core,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::ALWAYS,
        needs: Need::All(&[need::SEES_GUEST, need::guest("VM.Snapshot")]),
        examples: &[
            Example {
                ask: "The upgrade of web went well, drop the snapshot before it",
                args: r#"{"vmid": 100, "snapshot": "before-upgrade"}"#,
            },
            Example {
                ask: "Remove last night's snapshot of git",
                args: r#"{"vmid": 202, "snapshot": "nightly"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::delete("/nodes/{}/{guest}/snapshot/{}")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx.guest(self.vmid, None, None).await?;
        guest.require_online()?;
        let found = Found::named(&guest, &self.snapshot).await?;
        let config = guest.config().await?;
        let mut plan = Plan::new(
            &Self::SPEC,
            &guest.cluster.name,
            format!(
                "Delete the snapshot {} of {} ({})",
                self.snapshot,
                guest.label(),
                taken(&found.entry)
            ),
        );
        guest.bind(&mut plan, &config);
        plan.needs = needs(&guest, "VM.Snapshot");
        plan.blockers = blockers(&guest, &config);
        if let Some(state) = &found.entry.snapstate {
            plan.warnings.push(format!(
                "the snapshot is incomplete (PVE marks it {state}); without force its removal may fail again"
            ));
        }
        if self.force {
            plan.warnings.push(
                "with force the entry goes even if a disk's part of it cannot be removed; that part then stays on the storage"
                    .to_owned(),
            );
        }
        plan.impact = impact(&guest, &config, &found).await;
        plan.steps.push(self.step(&guest));
        plan.undo = Undo::Impossible {
            because: "the state that the snapshot held is gone".to_owned(),
        };
        Ok(plan)
    }
}

impl DeleteSnapshot {
    fn step(&self, guest: &Guest) -> Step {
        let name = &self.snapshot;
        let request = Request::delete(guest.at.path(&format!("snapshot/{name}")))
            .maybe("force", self.force.then_some(true));
        let gone = Check::list(
            Request::get(guest.at.path("snapshot")),
            format!("{} has no snapshot {name}", guest.label()),
            Expect::Unlisted("name".to_owned(), json!(name)),
        );
        Step::request(
            format!("Delete the snapshot {name} of {}", guest.label()),
            request,
        )
        .task(Trace::of(&guest.at, "delsnapshot"))
        .after(gone)
    }
}

fn blockers(guest: &Guest, config: &GuestConfig) -> Vec<Blocker> {
    let mut blockers = Vec::new();
    if config.template() {
        blockers.push(Blocker::new(
            format!("{} is a template; PVE keeps its snapshots", guest.label()),
            "there is nothing to send instead",
        ));
    }
    match config.lock().as_deref() {
        // What broke off half-way keeps its lock, and PVE takes it off for nobody but root on the node.
        Some(lock @ ("snapshot" | "snapshot-delete")) => blockers.push(Blocker::new(
            format!("{} is locked ({lock}): a snapshot is being made or removed, or that broke off", guest.label()),
            "wait; if get_proxmox_vm_status shows no such task, a person has to unlock it on its node (qm unlock, pct unlock)",
        )),
        Some(lock) => blockers.push(locked(guest, lock)),
        None => {}
    }
    blockers
}

async fn impact(guest: &Guest, config: &GuestConfig, found: &Found) -> Vec<Impact> {
    let own = found.entry.name.as_str();
    let mut note = taken(&found.entry);
    if let Some(words) = found
        .entry
        .description
        .as_deref()
        .filter(|words| !words.is_empty())
    {
        note = format!("{note}: {}", crate::words::clip(words, 60));
    }
    let mut impact = vec![Impact::new(Effect::Destroyed, "snapshot", own).note(note)];
    if let Some(volume) = found.config.text("vmstate") {
        let bytes = volume_size(guest, &volume).await;
        impact.push(Impact::new(Effect::Destroyed, "memory state", volume).bytes(bytes));
    }
    let onto = match &found.entry.parent {
        Some(parent) => format!("then builds on {parent}"),
        None => "then builds on no other".to_owned(),
    };
    let children = found
        .others
        .iter()
        .filter(|other| other.parent.as_deref() == Some(own));
    impact.extend(
        children
            .map(|child| Impact::new(Effect::Changed, "snapshot", &child.name).note(onto.clone())),
    );
    if config.parent().as_deref() == Some(own) {
        let label = guest.label();
        impact.push(Impact::new(Effect::Kept, "present state", label).note(onto));
    }
    impact
}

/// The size of a volume, where the token may look.
async fn volume_size(guest: &Guest, volid: &str) -> Option<u64> {
    let (storage, _) = volid.split_once(':')?;
    let request = Request::get(format!(
        "/nodes/{}/storage/{storage}/content",
        guest.at.node
    ))
    .with("vmid", guest.at.vmid);
    let volumes = guest.pve().list::<Volume>(request).await.ok()?;
    volumes
        .into_iter()
        .find(|volume| volume.volid == volid)?
        .size
}
