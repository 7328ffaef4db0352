//! snapshot_proxmox_vm and delete_proxmox_vm_snapshot

mod delete;
mod disks;
mod found;

pub(super) use delete::DeleteSnapshot;
pub(super) use disks::can_snapshot;
pub(super) use found::{Found, taken};

use pve::{GuestConfig, GuestKind, Request, SnapName, SnapshotEntry, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::power::{State, locked};
use super::quiesce::{self, By};
use crate::context::{Context, Guest, arguments};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// What PVE reserves for the driver's state beside twice the memory.
const DRIVER_STATE: u64 = 500 << 20;

/// Takes a snapshot of a VM or container, disks and settings, to go back to with rollback_proxmox_vm.
///
/// Use it before a risky change. It lies on the guest's own storage, so it is no backup: that is backup_proxmox_vm. The
/// guest runs on; PVE freezes file systems for a moment, in a VM only if its guest agent answers. Disks that cannot
/// have snapshots are named beforehand. Needs VM.Snapshot. Waits for it. Undo: delete_proxmox_vm_snapshot.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SnapshotVm {
    /// The guest's id.
    vmid: Vmid,
    /// Its name. Left out: made from the date.
    name: Option<SnapName>,
    /// Notes for it.
    description: Option<String>,
    /// Save a running VM's memory too; going back then resumes it.
    #[serde(default)]
    vmstate: bool,
}

impl Changes for SnapshotVm {
    const SPEC: Spec = Spec {
        name: "snapshot_proxmox_vm",
        title: "Take a snapshot of a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Change,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[need::SEES_GUEST, need::guest("VM.Snapshot")]),
        examples: &[
            Example {
                ask: "Snapshot the web server before its upgrade",
                args: r#"{"vmid": 100, "name": "before-nginx", "description": "before nginx 1.29"}"#,
            },
            Example {
                ask: "Snapshot the build VM with its memory",
                args: r#"{"vmid": 106, "name": "mid-build", "vmstate": true}"#,
            },
            Example {
                ask: "Snapshot the git container",
                args: r#"{"vmid": 202}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/{guest}/snapshot")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx.guest(self.vmid, None, None).await?;
        guest.require_online()?;
        if self.vmstate && guest.at.kind == GuestKind::Lxc {
            return Err(Fault::bad_input(format!(
                "{} is a container, and a container's memory cannot be saved",
                guest.label()
            ))
            .hint("leave vmstate out"));
        }
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let others = guest.pve().snapshots(&guest.at).await?;
        let name = self.name_for(&guest, &others, cx.now)?;
        // PVE takes vmstate for a stopped VM without a word, and saves nothing.
        let ram = self.vmstate && state.running;
        let memory = if ram { " and its memory" } else { "" };
        let mut plan = Plan::new(
            &Self::SPEC,
            &guest.cluster.name,
            format!(
                "Take the snapshot {name} of {}{memory} on {}",
                guest.label(),
                guest.at.node
            ),
        );
        guest.bind(&mut plan, &config);
        plan.needs = needs(&guest, "VM.Snapshot");
        plan.blockers = blockers(&guest, &config, ram).await?;
        plan.blockers.extend(name_taken(&guest, &others, &name));
        if self.vmstate && !ram {
            plan.warnings.push(format!(
                "{} is not running: there is no memory to save",
                guest.label()
            ));
        }
        let note = consistency(&guest, &config, &state, ram).await;
        plan.impact = impact(&guest, &config, &name, ram, note);
        plan.steps.push(self.step(&guest, &name, ram));
        plan.undo = Undo::Call {
            tool: "delete_proxmox_vm_snapshot".to_owned(),
            arguments: arguments([("vmid", json!(self.vmid)), ("snapshot", json!(name))]),
        };
        Ok(plan)
    }
}

/// `at-20261115`, or the next free `at-20261115-2`: the same when it is planned again in a minute, since a plan that a
/// person looks at must not change under their eyes.
fn of_today(others: &[SnapshotEntry], now: i64) -> Result<SnapName, Fault> {
    let today = jiff::Timestamp::from_second(now).unwrap_or_default();
    let today = today.strftime("at-%Y%m%d").to_string();
    let names = std::iter::once(today.clone()).chain((2..).map(|n| format!("{today}-{n}")));
    let is_free = |name: &String| !others.iter().any(|other| other.name.as_str() == name);
    let free = names.into_iter().find(is_free).unwrap_or(today);
    SnapName::new(free).map_err(|error| Fault::bad_input(error.to_string()))
}

impl SnapshotVm {
    /// The name that was sent, unless PVE keeps it for itself, or one made from the date.
    fn name_for(
        &self,
        guest: &Guest,
        others: &[SnapshotEntry],
        now: i64,
    ) -> Result<SnapName, Fault> {
        let Some(name) = &self.name else {
            return of_today(others, now);
        };
        let reserved: &[&str] = match guest.at.kind {
            GuestKind::Qemu => &["current", "pending"],
            GuestKind::Lxc => &["current", "vzdump"],
        };
        if reserved.contains(&name.as_str().to_ascii_lowercase().as_str()) {
            return Err(
                Fault::bad_input(format!("PVE keeps the name {name} for itself"))
                    .hint("send another name, or none: then it is made from the date"),
            );
        }
        Ok(name.clone())
    }

    fn step(&self, guest: &Guest, name: &SnapName, ram: bool) -> Step {
        let request = Request::post(guest.at.path("snapshot"))
            .with("snapname", name.clone())
            .maybe("description", self.description.clone())
            .maybe("vmstate", ram.then_some(true));
        let listed = Check::list(
            Request::get(guest.at.path("snapshot")),
            format!("{} has the snapshot {name}", guest.label()),
            Expect::Listed("name".to_owned(), json!(name)),
        );
        Step::request(
            format!("Take the snapshot {name} of {}", guest.label()),
            request,
        )
        .task(Trace::of(&guest.at, "snapshot"))
        .after(listed.and(unlocked(guest)))
    }
}

/// PVE locks the configuration until a snapshot is complete.
pub(super) fn unlocked(guest: &Guest) -> Check {
    Check::guest(
        &guest.at,
        "config",
        format!("{} is unlocked", guest.label()),
        vec![Expect::Is("lock".to_owned(), json!(null))],
    )
}

fn needs(guest: &Guest, privilege: &str) -> Needs {
    let path = guest.at.acl_path();
    Needs::All(vec![
        Needs::on(&path, "VM.Audit"),
        Needs::on(&path, privilege),
    ])
}

/// What PVE would refuse, most of it only in its task.
async fn blockers(guest: &Guest, config: &GuestConfig, ram: bool) -> Result<Vec<Blocker>, Fault> {
    let mut blockers = Vec::new();
    if guest.is_template() {
        blockers.push(Blocker::new(
            format!("{} is a template, which has no snapshots", guest.label()),
            "a template does not change; clone it with clone_proxmox_vm",
        ));
    }
    if let Some(lock) = config.lock() {
        blockers.push(locked(guest, &lock));
    }
    if !disks::can_snapshot(guest).await? {
        blockers.push(disks::culprits(guest, config).await);
    }
    let in_the_way: Vec<_> = config
        .values()
        .keys()
        .filter(|key| {
            key.starts_with("virtiofs") || matches!(key.as_str(), "amd-sev" | "intel-tdx")
        })
        .map(String::as_str)
        .collect();
    if ram && !in_the_way.is_empty() {
        blockers.push(Blocker::new(
            format!(
                "the memory of {} cannot be saved with {}",
                guest.label(),
                words::list(&in_the_way)
            ),
            "leave vmstate out",
        ));
    }
    Ok(blockers)
}

fn name_taken(guest: &Guest, others: &[SnapshotEntry], name: &SnapName) -> Option<Blocker> {
    let other = others.iter().find(|other| other.name == name.as_str())?;
    Some(Blocker::new(
        format!(
            "{} has a snapshot {name} already ({})",
            guest.label(),
            taken(other)
        ),
        "send another name, or remove that one with delete_proxmox_vm_snapshot",
    ))
}

/// In what state the disks are caught.
async fn consistency(
    guest: &Guest,
    config: &GuestConfig,
    state: &State,
    ram: bool,
) -> &'static str {
    if !state.running {
        return "the guest is off";
    }
    if ram {
        return "with the memory; going back resumes it";
    }
    quiesce::file_systems(guest, config, state, By::Snapshot).await
}

fn impact(
    guest: &Guest,
    config: &GuestConfig,
    name: &SnapName,
    ram: bool,
    note: &str,
) -> Vec<Impact> {
    let mut impact = vec![Impact::new(Effect::Created, "snapshot", name.as_str()).note(note)];
    if ram {
        let memory = guest.row.resource.maxmem;
        let storage = config
            .text("vmstatestorage")
            .unwrap_or_else(|| "a storage of its disks".to_owned());
        impact.push(
            Impact::new(Effect::Created, "memory state", format!("on {storage}"))
                .bytes(memory.map(|memory| memory.saturating_mul(2).saturating_add(DRIVER_STATE)))
                .note("reserved: twice the memory"),
        );
    }
    impact.extend(
        config
            .disks()
            .into_iter()
            .filter(|disk| !disk.is_unused())
            .map(|disk| {
                Impact::new(Effect::Kept, "disk", disk.volume)
                    .bytes(disk.size_bytes)
                    .note(format!(
                        "{}; later writes take space of their own",
                        disk.key
                    ))
            }),
    );
    impact
}
