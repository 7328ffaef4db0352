//! clone_proxmox_vm

mod place;

use pve::{
    DnsName, GuestConfig, GuestKind, GuestRef, NodeName, PoolId, Request, SnapName, StorageId, Vmid,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::sdn::Networks;
use crate::context::{Context, Guest, label};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Blocker, Check, Effect, Impact, Needs, Plan, Step, Target, Trace};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;

/// Clones a VM or container into a new guest; the source runs on, unchanged.
///
/// For a guest from a template, or a copy to try something on; for an empty one use create_proxmox_vm. A full clone
/// copies every disk and stands alone; a linked one is instant and keeps its template undeletable. A running container
/// is cloned from a snapshot only. The clone has the source's hostname and addresses inside: start it where they cannot
/// clash. Needs VM.Clone on the source, VM.Allocate on the new id or pool, Datastore.AllocateSpace, SDN.Use. Waits for
/// the copy. Undo: delete_proxmox_vm.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CloneVm {
    /// The source's id.
    vmid: Vmid,
    /// The clone's id; next free if left out.
    new_vmid: Option<Vmid>,
    /// The clone's name or hostname.
    name: Option<DnsName>,
    /// False makes a linked clone, of a template only.
    #[serde(default = "yes")]
    full: bool,
    /// The clone's node; another needs shared storage.
    target: Option<NodeName>,
    /// For a full clone's disks; the source's if left out.
    storage: Option<StorageId>,
    /// The clone's pool.
    pool: Option<PoolId>,
    /// Clone from this snapshot.
    snapshot: Option<SnapName>,
    /// Notes for the clone.
    description: Option<String>,
    /// Start the clone.
    #[serde(default)]
    start: bool,
}

fn yes() -> bool {
    true
}

impl Changes for CloneVm {
    const SPEC: Spec = Spec {
        name: "clone_proxmox_vm",
        title: "Clone a VM or container",
        toolset: Toolset::Core,
        risk: Risk::Change,
        idempotent: false,
        special: Special::OF_GUEST,
        needs: Need::All(&[
            need::SEES_GUEST,
            need::guest("VM.Clone"),
            need::guest("VM.Allocate"),
            Need::If("start", &need::guest("VM.PowerMgmt")),
            Need::May(&[need::storage("Datastore.AllocateSpace"), need::NETWORK]),
        ]),
        examples: &[
            Example {
                ask: "Make a full copy of staging as 300",
                args: r#"{"vmid": 105, "new_vmid": 300, "name": "staging-copy"}"#,
            },
            Example {
                ask: "A linked clone of the Debian template, started",
                args: r#"{"vmid": 900, "new_vmid": 301, "name": "scratch", "full": false, "start": true}"#,
            },
            Example {
                ask: "Copy the media container",
                args: r#"{"vmid": 203, "new_vmid": 302, "name": "media-copy"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/{guest}/clone")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let source = cx.guest(self.vmid, None, None).await?;
        source.require_online()?;
        let config = source.config().await?;
        let against = self.check_place(cx, &source, &config).await?;
        let (mut plan, _) = self.plan_from(cx, &source, &config, "new_vmid").await?;
        plan.blockers.extend(against);
        Ok(plan)
    }
}

impl CloneVm {
    /// A full clone of a template, as the first step of creating a VM.
    pub(super) fn of_template(
        template: Vmid,
        (new_vmid, name): (Option<Vmid>, &DnsName),
        target: Option<NodeName>,
        storage: Option<StorageId>,
        pool: Option<PoolId>,
    ) -> Self {
        Self {
            vmid: template,
            new_vmid,
            name: Some(name.to_owned()),
            full: true,
            target,
            storage,
            pool,
            snapshot: None,
            description: None,
            start: false,
        }
    }

    /// The plan for a source that was looked at already, and where the clone will be. `argument` is where the caller names
    /// the id of the clone.
    pub(super) async fn plan_from(
        &self,
        cx: &Context,
        source: &Guest,
        config: &GuestConfig,
        argument: &str,
    ) -> Result<(Plan, GuestRef), Fault> {
        let (vmid, free) = cx
            .free_vmid(&source.cluster, self.new_vmid, argument)
            .await?;
        let clone = self.clone_at(source, vmid);
        let name = self.name_from(source, config);
        let kind = if self.full { "full" } else { "linked" };
        let mut plan = Plan::new(
            &Self::SPEC,
            &source.cluster.name,
            format!(
                "Clone {} to {} on {}, as a {kind} clone",
                source.label(),
                named(&clone, &name),
                clone.node
            ),
        );
        plan.blockers = self.blockers(source, config);
        source.bind(&mut plan, config);
        plan.guards.push(free);
        let made = Target {
            at: clone.clone(),
            name: name.clone(),
            pool: self.pool.as_ref().map(ToString::to_string),
            // PVE copies them with the other settings.
            tags: config.tags(),
            protection: config.protection(),
            only_read: false,
        };
        plan.makes(made, self.start);
        plan.needs = self.needs(source, config, &clone).await?;
        plan.impact = self.impact(config, &clone);
        plan.steps = self.steps(source, &clone, &name);
        if self.start && self.full {
            plan.warnings.push(
                "the clone starts with the source's hostname and addresses inside; they can clash"
                    .to_owned(),
            );
        }
        Ok((plan, clone))
    }

    fn clone_at(&self, source: &Guest, vmid: Vmid) -> GuestRef {
        let node = self.target.as_ref().unwrap_or(&source.at.node);
        GuestRef {
            vmid,
            node: node.clone(),
            kind: source.at.kind,
        }
    }

    /// The name of the clone. Without one PVE would choose; it is sent all the same, to know the clone by.
    fn name_from(&self, source: &Guest, config: &GuestConfig) -> String {
        let vmid = source.at.vmid;
        let own = config.name();
        let given = self.name.as_ref().map(ToString::to_string);
        given.unwrap_or_else(|| match source.at.kind {
            GuestKind::Qemu => format!("Copy-of-VM-{}", own.unwrap_or_else(|| vmid.to_string())),
            GuestKind::Lxc => own.unwrap_or_else(|| format!("Copy-of-CT-{vmid}")),
        })
    }

    /// What PVE would refuse, said before anything is sent.
    fn blockers(&self, source: &Guest, config: &GuestConfig) -> Vec<Blocker> {
        let mut blockers = Vec::new();
        if let Some(lock) = config.lock() {
            blockers.push(super::power::locked(source, &lock));
        }
        if !self.full
            && !source.is_template()
            && self.snapshot.is_none()
            && !config.disks().is_empty()
        {
            blockers.push(Blocker::new(
                format!(
                    "a linked clone needs a template, and {} is none",
                    source.label()
                ),
                "send full: true",
            ));
        }
        if !self.full && self.storage.is_some() {
            blockers.push(Blocker::new(
                "a linked clone stays on its template's storage",
                "leave storage out, or send full: true",
            ));
        }
        let running = source.row.is_running();
        if source.at.kind == GuestKind::Lxc && running && self.snapshot.is_none() {
            blockers.push(Blocker::new(
                format!(
                    "{} is running, and a running container is cloned from a snapshot only",
                    source.label()
                ),
                "send snapshot, or stop it first with stop_proxmox_vm",
            ));
        }
        blockers
    }

    async fn needs(
        &self,
        source: &Guest,
        config: &GuestConfig,
        clone: &GuestRef,
    ) -> Result<Needs, Fault> {
        let mut all = vec![
            Needs::on(source.at.acl_path(), "VM.Audit"),
            Needs::on(source.at.acl_path(), "VM.Clone"),
        ];
        // A guest in a pool inherits what the pool grants.
        let on_clone = |privilege: &str| match &self.pool {
            None => Needs::on(clone.acl_path(), privilege),
            Some(pool) => Needs::Any(vec![
                Needs::on(clone.acl_path(), privilege),
                Needs::on(format!("/pool/{pool}"), privilege),
            ]),
        };
        all.extend([on_clone("VM.Allocate"), on_clone("VM.Audit")]);
        if self.start {
            all.push(on_clone("VM.PowerMgmt"));
        }
        let mut storages: Vec<String> = match &self.storage {
            Some(storage) => vec![storage.to_string()],
            None => config
                .disks()
                .into_iter()
                .filter_map(|disk| disk.storage)
                .collect(),
        };
        storages.sort();
        storages.dedup();
        all.extend(
            storages
                .iter()
                .map(|storage| Needs::on(format!("/storage/{storage}"), "Datastore.AllocateSpace")),
        );
        all.extend(Networks::uses_of_guest(source.pve(), &source.at.node, config).await?);
        Ok(Needs::All(all))
    }

    fn impact(&self, config: &GuestConfig, clone: &GuestRef) -> Vec<Impact> {
        let disks = config.disks();
        let mut impact = vec![Impact::new(
            Effect::Created,
            clone.kind.noun(),
            clone.vmid.to_string(),
        )];
        for disk in &disks {
            let storage = self
                .storage
                .as_ref()
                .map(StorageId::as_str)
                .or(disk.storage.as_deref())
                .unwrap_or("?");
            let (bytes, note) = if self.full {
                (disk.size_bytes, format!("copy of {}", disk.volume))
            } else {
                (
                    None,
                    format!("linked to {}; grows with its changes", disk.volume),
                )
            };
            impact.push(
                Impact::new(
                    Effect::Created,
                    "disk",
                    format!("{} on {storage}", disk.key),
                )
                .bytes(bytes)
                .note(note),
            );
        }
        impact
    }

    fn steps(&self, source: &Guest, clone: &GuestRef, name: &str) -> Vec<Step> {
        let name_key = match source.at.kind {
            GuestKind::Qemu => "name",
            GuestKind::Lxc => "hostname",
        };
        let request = Request::post(source.at.path("clone"))
            .with("newid", clone.vmid)
            .with("full", self.full)
            .with(name_key, name)
            .maybe("target", self.target.clone())
            .maybe("storage", self.storage.clone())
            .maybe("pool", self.pool.clone())
            .maybe("snapname", self.snapshot.clone())
            .maybe("description", self.description.clone());
        let task = match source.at.kind {
            GuestKind::Qemu => "qmclone",
            GuestKind::Lxc => "vzclone",
        };
        let trace = Trace {
            node: source.at.node.clone(),
            vmid: Some(source.at.vmid),
            types: vec![task.to_owned()],
        };
        let made = Check::made(clone, &label(clone, name), Some(name));
        let mut steps = vec![
            Step::request(
                format!("Clone {} to {}", source.label(), named(clone, name)),
                request,
            )
            .task(trace)
            .after(made),
        ];
        if self.start {
            steps.push(super::power::start_step(clone, name, false).group(1));
        }
        steps
    }
}

/// "300 (staging-copy)"
fn named(clone: &GuestRef, name: &str) -> String {
    format!("{} ({})", clone.vmid, crate::clean::line(name))
}
