//! delete_proxmox_vm and delete_proxmox_vm_preview

use pve::{GuestConfig, GuestKind, Request, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dependents::Dependents;
use super::power::{State, locked, stop_step};
use super::users::{self, Users};
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Check, Effect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::preview::{self, Preview};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Changes, Reads};
use crate::words;

/// Deletes a VM or container with all its disks and snapshots, for good.
///
/// Look at delete_proxmox_vm_preview first; to only end it use stop_proxmox_vm. Refused: a running guest unless stop is
/// true; always one with PVE's protection flag or the tag `protected`, and a template with linked clones. Backups stay,
/// and so do disks that the configuration does not name. A person confirms. Needs VM.Allocate. Waits until the id is
/// free. It cannot be undone; a backup can be restored.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DeleteVm {
    /// The guest's id.
    vmid: Vmid,
    /// Also remove it from backup jobs, replication and HA. PVE requires it for a guest under HA or replication.
    #[serde(default)]
    purge: bool,
    /// Switch it off first.
    #[serde(default)]
    stop: bool,
}

impl Changes for DeleteVm {
    const SPEC: Spec = Spec {
        name: "delete_proxmox_vm",
        title: "Delete a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special {
            always: true,
            ..Special::OF_GUEST
        },
        needs: Need::All(&[
            need::SEES_GUEST,
            need::guest("VM.Allocate"),
            Need::If("stop", &need::guest("VM.PowerMgmt")),
        ]),
        examples: &[
            Example {
                ask: "Delete staging and take it out of the backup jobs",
                args: r#"{"vmid": 105, "purge": true}"#,
            },
            Example {
                ask: "Delete the running VPN container",
                args: r#"{"vmid": 204, "stop": true}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::delete("/nodes/{}/{guest}")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx.guest(self.vmid, None, None).await?;
        guest.require_online()?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let dependents = Dependents::of(&guest, &config, self.purge).await;
        let bytes = words::total(dependents.lost_disks().filter_map(|disk| disk.bytes));
        let mut plan = Plan::new(
            &Self::SPEC,
            &guest.cluster.name,
            format!(
                "Delete {} on {} with {} ({}) and {}",
                guest.label(),
                guest.at.node,
                words::count(dependents.lost_disks().count(), "disk"),
                words::size(bytes),
                words::count(dependents.snapshots.len(), "snapshot"),
            ),
        );
        guest.bind(&mut plan, &config);
        plan.blockers = self.blockers(&guest, &config, &state, &dependents);
        plan.needs = needs(&guest, state.running && self.stop);
        plan.steps = self.steps(&guest, &state);
        plan.undo = undo(&dependents);
        plan.warnings.extend(warnings(&dependents));
        plan.impact = impact(&guest, dependents);
        let users = Users::of(&guest, users::lost(&plan)).await?;
        users.keep_theirs(&mut plan);
        Ok(plan)
    }
}

impl DeleteVm {
    fn blockers(
        &self,
        guest: &Guest,
        config: &GuestConfig,
        state: &State,
        dependents: &Dependents,
    ) -> Vec<Blocker> {
        let mut blockers = Vec::new();
        if state.running && !self.stop {
            blockers.push(Blocker::new(
                format!("{} is running", guest.label()),
                "send stop: true to switch it off first, or shut it down with stop_proxmox_vm",
            ));
        }
        if let Some(lock) = config.lock() {
            blockers.push(locked(guest, &lock));
        }
        if !dependents.linked_clones.is_empty() {
            let ids: Vec<_> = dependents
                .linked_clones
                .iter()
                .map(|clone| clone.id.as_str())
                .collect();
            blockers.push(Blocker::new(
                format!(
                    "{} is the template of the linked clones {}",
                    guest.label(),
                    words::list(&ids)
                ),
                "delete those first, or keep the template",
            ));
        }
        for because in &dependents.needs_purge {
            blockers.push(Blocker::new(
                format!(
                    "{} {because}, and PVE deletes it only with purge",
                    guest.label()
                ),
                "send purge: true",
            ));
        }
        blockers
    }

    fn steps(&self, guest: &Guest, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        if state.running && self.stop {
            steps.push(stop_step(guest, state));
        }
        let task = match guest.at.kind {
            GuestKind::Qemu => "qmdestroy",
            GuestKind::Lxc => "vzdestroy",
        };
        // Said outright, so that no version's default decides about disks.
        let request = Request::delete(guest.at.path(""))
            .with("purge", self.purge)
            .with("destroy-unreferenced-disks", false);
        let trace = Trace {
            node: guest.at.node.clone(),
            vmid: Some(guest.at.vmid),
            types: vec![task.to_owned()],
        };
        steps.push(
            Step::request(format!("Delete {}", guest.label()), request)
                .task(trace)
                .after(Check::free(guest.at.vmid))
                .group(1),
        );
        steps
    }
}

fn needs(guest: &Guest, stops: bool) -> Needs {
    let path = guest.at.acl_path();
    let mut all = vec![
        Needs::on(&path, "VM.Audit"),
        Needs::on(&path, "VM.Allocate"),
    ];
    if stops {
        all.push(Needs::on(&path, "VM.PowerMgmt"));
    }
    Needs::All(all)
}

fn undo(dependents: &Dependents) -> Undo {
    let because = match dependents.backups.first() {
        Some(backup) => {
            let taken = backup.note.as_deref().unwrap_or("of unknown date");
            format!(
                "the disks are gone; rollback_proxmox_vm could restore the backup {} ({taken})",
                backup.id
            )
        }
        None if dependents.backups_known => "the disks are gone, and there is no backup".to_owned(),
        None => "the disks are gone, and whether there is a backup is not known".to_owned(),
    };
    Undo::Impossible { because }
}

fn warnings(dependents: &Dependents) -> Vec<String> {
    dependents
        .unchecked
        .iter()
        .map(|what| format!("could not be checked: {what}"))
        .collect()
}

fn impact(guest: &Guest, dependents: Dependents) -> Vec<Impact> {
    let mut all = vec![
        Impact::new(
            Effect::Destroyed,
            guest.at.kind.noun(),
            guest.at.vmid.to_string(),
        )
        .note(guest.name()),
    ];
    all.extend(dependents.disks);
    all.extend(dependents.snapshots);
    all.extend(dependents.linked_clones);
    all.extend(dependents.jobs);
    all.extend(dependents.backups);
    all
}

/// Shows what delete_proxmox_vm would destroy, change and leave behind, and what stands in its way.
///
/// Use it before every delete, or to learn what depends on a guest; for other changes preview_proxmox_change. Names
/// disks with sizes, snapshots, linked clones, backup, replication and HA jobs, backups that stay, locks, protection,
/// missing privileges. Changes nothing. Needs VM.Audit; Sys.Audit for jobs, VM.Backup with Datastore.AllocateSpace for
/// backups: what cannot be seen is said.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DeleteVmPreview {
    /// The guest's id.
    vmid: Vmid,
    /// Preview a delete with purge: also removed from backup jobs, replication and HA.
    #[serde(default)]
    purge: bool,
    /// Preview a delete with stop: a running guest is switched off first.
    #[serde(default)]
    stop: bool,
}

/// A dry-run report with what a person needs to decide; its fields are those that other Proxmox MCP servers answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DryRun {
    /// Always "dry_run".
    mode: &'static str,
    /// The tool that would do it.
    tool: String,
    /// What would be affected, with sizes.
    would_affect: Vec<Impact>,
    /// Always "high": a delete destroys disks.
    risk_level: &'static str,
    /// Whether it can be taken back.
    reversible: bool,
    /// Whether it would be refused as things are.
    blocked: bool,
    /// The plan, as preview_proxmox_change shows it.
    #[schemars(with = "crate::tool::Object")]
    preview: Preview,
}

impl Reads for DeleteVmPreview {
    const SPEC: Spec = Spec {
        name: "delete_proxmox_vm_preview",
        title: "Preview deleting a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Read,
        idempotent: true,
        special: Special::OF_GUEST,
        needs: need::SEES_GUEST,
        examples: &[
            Example {
                ask: "What would deleting staging destroy?",
                args: r#"{"vmid": 105}"#,
            },
            Example {
                ask: "Can the Debian template go?",
                args: r#"{"vmid": 900, "purge": true}"#,
            },
        ],
    };

    type Answer = DryRun;

    async fn read(self, cx: &Context) -> Result<DryRun, Fault> {
        let Self { vmid, purge, stop } = self;
        let mut plan = DeleteVm { vmid, purge, stop }.plan(cx).await?;
        cx.settle(&mut plan).await?;
        let preview = preview::of(&plan, cx).await;
        Ok(DryRun {
            mode: "dry_run",
            tool: plan.tool,
            would_affect: plan.impact,
            risk_level: "high",
            reversible: matches!(plan.undo, Undo::Call { .. }),
            blocked: !preview.blockers.is_empty(),
            preview,
        })
    }
}

impl Answer for DryRun {
    fn text(&self) -> String {
        self.preview.text()
    }
}
