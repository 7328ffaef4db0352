//! migrate_proxmox_vm
//!
//! [`scene`] reads what a migration depends on, [`target`] chooses the node, [`disks`], [`devices`] and [`ha`] say what
//! stands in the way, [`route`] what becomes of what, [`steps`] what is sent.

mod devices;
mod disks;
mod ha;
mod route;
mod scene;
mod steps;
mod target;

use pve::{GuestKind, NodeName, StorageId, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use super::users::Users;
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Plan};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use route::Route;
use scene::Scene;

/// Moves a VM or container to another node.
///
/// A running VM moves online, with a short pause. A running container, and a VM that cannot, moves with
/// restart and is down meanwhile. Disks that only the old node sees are copied. preview_proxmox_change shows
/// PVE's preconditions: disks, devices, CD-ROM, snapshots, memory, HA, replication. Needs VM.Migrate; with
/// target_storage VM.Config.Disk and Datastore.AllocateSpace. Waits until it is seen there; HA only queues
/// it. Undo: migrate it back.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct MigrateVm {
    /// The guest's id.
    vmid: Vmid,
    /// The new node; the best if left out.
    target: Option<NodeName>,
    /// Keep a VM running; the default if it runs.
    online: Option<bool>,
    /// Stop it, move it, start it there.
    #[serde(default)]
    restart: bool,
    /// Copy local disks of a running VM too.
    #[serde(default)]
    with_local_disks: bool,
    /// Storage there for copied disks.
    target_storage: Option<StorageId>,
}

/// How the guest gets there.
struct How {
    /// It runs on meanwhile.
    live: bool,
    /// It runs, is taken down, and comes up there.
    restart: bool,
    local_disks: bool,
    storage: Option<StorageId>,
}

/// What moving a guest takes, alone or with others.
pub(crate) const NEEDS: Need = Need::All(&[
    need::SEES_GUEST,
    need::guest("VM.Migrate"),
    Need::May(&[
        need::guest("VM.PowerMgmt"),
        need::guest("VM.Config.Disk"),
        need::storage("Datastore.AllocateSpace"),
    ]),
]);

impl Changes for MigrateVm {
    const SPEC: Spec = Spec {
        name: "migrate_proxmox_vm",
        title: "Move a VM or container to another node",
        toolset: Toolset::Core,
        risk: Risk::Disrupt,
        idempotent: false,
        special: Special::NONE,
        needs: NEEDS,
        examples: &[
            Example {
                ask: "Move staging to pve2",
                args: r#"{"vmid": 105, "target": "pve2"}"#,
            },
            Example {
                ask: "Move the router to pve3 while it runs",
                args: r#"{"vmid": 109, "target": "pve3", "with_local_disks": true}"#,
            },
            Example {
                ask: "Move the DNS container, it may be down for a moment",
                args: r#"{"vmid": 200, "target": "pve3", "restart": true}"#,
            },
            Example {
                ask: "Put the CI runner where there is room",
                args: r#"{"vmid": 111}"#,
            },
            Example {
                ask: "Move staging to the ZFS pool of pve2",
                args: r#"{"vmid": 105, "target": "pve2", "target_storage": "tank"}"#,
            },
            Example {
                ask: "Shut the desktop down, move it to pve1, start it there",
                args: r#"{"vmid": 110, "target": "pve1", "restart": true}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[
        Deed::post("/nodes/{}/{guest}/migrate"),
        Deed::post("/nodes/{}/{guest}/remote_migrate"),
        Deed::post("/nodes/{}/migrateall"),
        Deed::post("/cluster/bulk-action/guest/migrate"),
        Deed::post("/cluster/ha/resources/{}/migrate"),
        Deed::post("/cluster/ha/resources/{}/relocate"),
    ];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = cx.guest(self.vmid, None, None).await?;
        guest.require_online()?;
        self.check(&guest)?;
        let scene = Box::pin(Scene::of(guest)).await?;
        let how = self.how(&scene);
        let (node, why) = target::choose(&scene, self.target.as_ref(), &how)?;
        let disks = disks::local(&scene);
        let route = Route {
            scene: &scene,
            node,
            how: &how,
            disks: &disks,
        };
        let mut warnings = route.warnings();
        if let Some(storage) = &how.storage {
            warnings.extend(route.check_storage(storage).await?);
        }
        let mut plan = Plan::new(&Self::SPEC, &scene.guest.cluster.name, route.summary(why));
        plan.blockers = self.blockers(&route);
        scene.guest.bind(&mut plan, &scene.config);
        plan.targets.extend(route.along());
        plan.needs = route.needs();
        plan.impact = route.impact();
        plan.warnings.extend(warnings);
        plan.steps = steps::of(&route);
        plan.undo = route.undo();
        let moved = disks::copied(&disks).map(|disk| disk.volume.clone());
        let users = Users::of(&scene.guest, moved.collect()).await?;
        users.keep_theirs(&mut plan);
        Ok(plan)
    }
}

impl MigrateVm {
    /// One of several guests that go to the same node.
    pub(super) fn one_of_several(
        vmid: Vmid,
        target: &NodeName,
        restart: bool,
        with_local_disks: bool,
    ) -> Self {
        Self {
            vmid,
            target: Some(target.clone()),
            online: None,
            restart,
            with_local_disks,
            target_storage: None,
        }
    }

    /// Arguments that no guest, or no guest of this kind, can be moved by.
    fn check(&self, guest: &Guest) -> Result<(), Fault> {
        let label = guest.label();
        if self.online == Some(true) && guest.at.kind == GuestKind::Lxc {
            return Err(Fault::bad_input(format!(
                "{label} is a container, and containers do not move online"
            ))
            .hint("leave online out; if it runs, send restart: true"));
        }
        if self.online == Some(true) && self.restart {
            return Err(
                Fault::bad_input("online keeps the guest running, restart takes it down")
                    .hint("send one of them"),
            );
        }
        Ok(())
    }

    fn how(&self, scene: &Scene) -> How {
        let running = scene.state.running;
        How {
            live: running && !self.restart && scene.guest.at.kind == GuestKind::Qemu,
            restart: running && self.restart,
            local_disks: self.with_local_disks,
            storage: self.target_storage.clone(),
        }
    }

    /// Everything that stands in the way, the guest's own first.
    fn blockers(&self, route: &Route<'_>) -> Vec<Blocker> {
        let (scene, how) = (route.scene, route.how);
        let label = scene.guest.label();
        let mut blockers = Vec::new();
        if let Some(lock) = scene.config.lock() {
            blockers.push(super::power::locked(&scene.guest, &lock));
        }
        let container = scene.guest.at.kind == GuestKind::Lxc;
        if container && scene.state.running && !how.restart {
            blockers.push(Blocker::new(
                format!("{label} runs, and a running container moves only with a restart"),
                "send restart: true, if it may be down meanwhile",
            ));
        }
        if how.live && self.online == Some(false) {
            blockers.push(Blocker::new(
                format!("{label} runs, and a running VM moves online or with a restart"),
                "leave online out, or send restart: true",
            ));
        }
        if how.storage.is_some() && scene.state.managed {
            blockers.push(Blocker::new(
                format!("HA moves {label}, and HA takes no target_storage"),
                "leave target_storage out, or have a person take the guest out of HA",
            ));
        }
        blockers.extend(devices::blockers(scene, how));
        blockers.extend(disks::blockers(route.disks, how, scene));
        blockers.extend(target::blockers(scene, route.node, how));
        blockers
    }
}
