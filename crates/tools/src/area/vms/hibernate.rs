//! suspend_vm

use pve::{GuestConfig, Request, StorageStatus, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::vm;
use crate::area::power::{State, StopVm, locked};
use crate::context::{Context, Guest, arguments};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::schema;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// What PVE reserves for the devices' state beside twice the memory.
const DEVICE_STATE: u64 = 500 << 20;
/// Storages that are directories, which PVE prefers for saved memory.
const DIRECTORIES: &[&str] = &["dir", "nfs", "cifs", "cephfs", "glusterfs", "btrfs"];

/// Pauses one running VM in memory; with todisk hibernates it: its memory is saved, it is switched off, and the next
/// start goes on there.
///
/// Paused, it keeps its memory and serves nobody; shutdown_vm ends it. Not hibernated: VMs under HA or with PCI
/// devices. It asks for a confirmation. Needs VM.PowerMgmt and VM.Audit on /vms/VMID; todisk also VM.Config.Disk there
/// and Datastore.AllocateSpace on the storage. Undo: resume_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct SuspendVm {
    /// The VM's id.
    vmid: Vmid,
    /// Save its memory and switch it off.
    #[serde(default)]
    todisk: bool,
}

impl Changes for SuspendVm {
    const SPEC: Spec = Spec {
        name: "suspend_vm",
        title: "Pause or hibernate a VM",
        toolset: Toolset::Qemu,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[
            need::POWER,
            Need::If(
                "todisk",
                &Need::All(&[
                    need::guest("VM.Config.Disk"),
                    need::storage("Datastore.AllocateSpace"),
                ]),
            ),
        ]),
        examples: &[
            Example {
                ask: "Pause the build VM",
                args: r#"{"vmid": 106}"#,
            },
            Example {
                ask: "Hibernate the desktop",
                args: r#"{"vmid": 110, "todisk": true}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/qemu/{}/status/suspend")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = vm(cx, self.vmid, Self::SPEC.name).await?;
        if self.todisk {
            return hibernation(&guest).await;
        }
        let pause = arguments([("vmid", json!(self.vmid)), ("action", json!("suspend"))]);
        let plan = schema::parse::<StopVm>(pause)?.plan(cx).await?;
        Ok(plan.called(Self::SPEC.name))
    }
}

async fn hibernation(guest: &Guest) -> Result<Plan, Fault> {
    let config = guest.config().await?;
    let state = State::of(guest).await?;
    let storages = guest.pve().storages(&guest.at.node).await?;
    let storage = state_storage(&config, &storages);
    let mut plan = Plan::new(
        &SuspendVm::SPEC,
        &guest.cluster.name,
        format!("Hibernate {} on {}", guest.label(), guest.at.node),
    );
    guest.bind(&mut plan, &config);
    plan.blockers = blockers(guest, &config, &state);
    plan.needs = needs(guest, &storage);
    let memory = guest.row.resource.maxmem;
    plan.impact = vec![
        Impact::new(Effect::Interrupted, "VM", guest.at.vmid.to_string()).note(guest.name()),
        Impact::new(Effect::Created, "memory state", format!("on {storage}"))
            .bytes(memory.map(|bytes| bytes.saturating_mul(2).saturating_add(DEVICE_STATE)))
            .note("reserved: twice the memory"),
    ];
    plan.undo = Undo::Call {
        tool: "start_proxmox_vm".to_owned(),
        arguments: arguments([("vmid", json!(guest.at.vmid))]),
    };
    plan.steps.push(step(guest, &storage));
    Ok(plan)
}

/// Where the memory goes: where the settings say, or else where a disk is, as PVE itself would choose: on a storage that
/// other nodes see if there is one, and on a directory rather than on anything else.
fn state_storage(config: &GuestConfig, storages: &[StorageStatus]) -> String {
    if let Some(chosen) = config.text("vmstatestorage") {
        return chosen;
    }
    let mut used: Vec<String> = config
        .disks()
        .into_iter()
        .filter(|disk| !disk.is_unused())
        .filter_map(|disk| disk.storage)
        .collect();
    used.sort();
    let rank = |name: &String| {
        let status = storages.iter().find(|status| status.storage == *name);
        let is_directory = |status: &StorageStatus| {
            let kind = status.kind.as_deref();
            kind.is_some_and(|kind| DIRECTORIES.contains(&kind))
        };
        (
            !status.is_some_and(|status| status.shared),
            !status.is_some_and(is_directory),
        )
    };
    let best = used.into_iter().min_by_key(rank);
    best.unwrap_or_else(|| "local".to_owned())
}

/// What PVE refuses.
fn blockers(guest: &Guest, config: &GuestConfig, state: &State) -> Vec<Blocker> {
    let label = guest.label();
    let mut blockers = Vec::new();
    if !state.running {
        blockers.push(Blocker::new(
            format!("{label} is not running"),
            "there is nothing to save; start_vm starts it",
        ));
    }
    if let Some(lock) = config.lock() {
        blockers.push(locked(guest, &lock));
    }
    if state.managed {
        blockers.push(Blocker::new(
            format!("{label} is under HA, and PVE hibernates no such VM"),
            "leave todisk out to pause it, or shut it down with shutdown_vm",
        ));
    }
    if config.values().keys().any(|key| key.starts_with("hostpci")) {
        blockers.push(Blocker::new(
            format!("{label} has PCI devices of its node, whose state cannot be saved"),
            "leave todisk out to pause it, or shut it down with shutdown_vm",
        ));
    }
    blockers
}

fn needs(guest: &Guest, storage: &str) -> Needs {
    let on_guest = ["VM.Audit", "VM.PowerMgmt", "VM.Config.Disk"];
    let mut all: Vec<_> = on_guest
        .iter()
        .map(|privilege| Needs::on(guest.at.acl_path(), privilege))
        .collect();
    all.push(Needs::on(
        format!("/storage/{storage}"),
        "Datastore.AllocateSpace",
    ));
    Needs::All(all)
}

fn step(guest: &Guest, storage: &str) -> Step {
    let (at, label) = (&guest.at, guest.label());
    let request = Request::post(at.path("status/suspend"))
        .with("todisk", true)
        .with("statestorage", storage);
    let is = |part: &str, says: String, field: &str, value: &str| {
        let expect = vec![Expect::Is(field.to_owned(), json!(value))];
        Check::guest(at, part, says, expect)
    };
    let saved = is(
        "config",
        format!("{label} is locked as suspended"),
        "lock",
        "suspended",
    );
    let off = is(
        "status/current",
        "it is off".to_owned(),
        "status",
        "stopped",
    );
    Step::request(format!("Hibernate {label}"), request)
        .task(Trace::of(at, "suspend"))
        .after(saved.and(off))
}
