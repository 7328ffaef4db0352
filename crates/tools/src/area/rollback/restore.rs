//! Restoring a backup: over the guest, beside it as a new one, or in place of one that is gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use pve::{GuestKind, GuestRef, NodeName, Reader, Request};

use super::RollbackVm;
use super::landing::Landing;
use super::over::Over;
use super::saved::Saved;
use crate::area::power::start_step;
use crate::area::sdn::Networks;
use crate::area::users::{self, Users};
use crate::context::{Cluster, Context, Guest, label};
use crate::fault::{Fault, Kind};
use crate::plan::{Check, Effect, Guard, Impact, Needs, Plan, Step, Target, Trace, Undo};
use crate::tool::Changes as _;

/// What is restored, to where.
pub(super) struct Restore<'a> {
    args: &'a RollbackVm,
    pub(super) saved: Saved,
    /// The guest that it becomes.
    to: GuestRef,
    /// Where all disks go; `None`: where each was.
    storage: Option<String>,
    /// Whether the guest that was backed up is still there.
    original: bool,
}

pub(super) async fn plan(args: &RollbackVm, wanted: &str, cx: &Context) -> Result<Plan, Fault> {
    let present = match cx.guest(args.vmid, args.node.as_ref(), None).await {
        Ok(guest) => Some(guest),
        Err(fault) if fault.kind == Kind::NotFound => None,
        Err(fault) => return Err(fault),
    };
    let (cluster, node) = place(args, present.as_ref(), cx).await?;
    let kind = present
        .as_ref()
        .map(|guest| guest.at.kind)
        .or(cx.claim.kind);
    let saved = Saved::choose(&cluster.pve, &node, args.vmid, kind, wanted).await?;
    let original = present.is_some();
    let replaced = present.filter(|_| args.new_vmid.is_none());
    let over = match replaced {
        Some(guest) => Some(Over::look_at(guest).await?),
        None => None,
    };
    let (vmid, guard) = if over.is_some() {
        (args.vmid, None)
    } else {
        let wanted = args.new_vmid.unwrap_or(args.vmid);
        let (vmid, guard) = cx.free_vmid(&cluster, Some(wanted), "new_vmid").await?;
        (vmid, Some(guard))
    };
    let to = GuestRef {
        vmid,
        node,
        kind: saved.kind,
    };
    let restore = Restore {
        storage: storage(args, &saved, over.as_ref()),
        args,
        saved,
        to,
        original,
    };
    let storages = cluster.pve.storages(&restore.to.node).await?;
    let mut plan = match &over {
        Some(over) => restore.replace(over),
        None => restore.create(&cluster, guard),
    };
    if let Some(over) = &over {
        let users = Users::of(&over.guest, users::lost(&plan)).await?;
        users.keep_theirs(&mut plan);
    }
    restore.landing().show(&mut plan, &storages);
    plan.needs = restore.needs(&cluster.pve, over.as_ref()).await?;
    Ok(plan)
}

/// The cluster and node of the guest; for one that is gone, those that the caller names.
async fn place(
    args: &RollbackVm,
    present: Option<&Guest>,
    cx: &Context,
) -> Result<(Arc<Cluster>, NodeName), Fault> {
    if let Some(guest) = present {
        guest.require_online()?;
        return Ok((guest.cluster.clone(), guest.at.node.clone()));
    }
    let Some(node) = &args.node else {
        return Err(Fault::new(
            Kind::NotFound,
            format!("no guest has the vmid {}", args.vmid),
        )
        .hint("if it was deleted and a backup of it is to be restored, send node: the node to restore it on"));
    };
    match cx.node(node).await? {
        (cluster, true) => Ok((cluster, node.clone())),
        (_, false) => Err(
            Fault::new(Kind::Unreachable, format!("node {node} is offline"))
                .hint("send another node"),
        ),
    }
}

/// Where all disks go. PVE puts a container's on `local` if nothing is said, where they mostly cannot be.
fn storage(args: &RollbackVm, saved: &Saved, over: Option<&Over>) -> Option<String> {
    if let Some(storage) = &args.storage {
        return Some(storage.to_string());
    }
    if saved.kind == GuestKind::Qemu {
        return None;
    }
    let configs = over
        .map(|over| &over.config)
        .into_iter()
        .chain([&saved.config]);
    configs
        .flat_map(pve::GuestConfig::disks)
        .find(|disk| disk.key == "rootfs")
        .and_then(|disk| disk.storage)
}

impl Restore<'_> {
    /// Over the guest.
    fn replace(&self, over: &Over) -> Plan {
        let guest = &over.guest;
        let mut plan = Plan::new(
            &RollbackVm::SPEC,
            &guest.cluster.name,
            format!(
                "Replace {} on {} by its backup {}",
                guest.label(),
                guest.at.node,
                self.saved.label()
            ),
        );
        guest.bind(&mut plan, &over.config);
        plan.blockers = over.blockers();
        plan.impact = over.impact(&self.saved);
        plan.warnings.extend(over.warnings(&self.saved));
        let back = over.replaced(&self.saved, self.args.start);
        plan.steps.push(self.step(&guest.label(), true).after(back));
        plan.undo = Undo::Impossible {
            because: "the present disks and snapshots are gone; a backup_proxmox_vm before it keeps the present state"
                .to_owned(),
        };
        plan
    }

    /// As a new guest.
    fn create(&self, cluster: &Cluster, guard: Option<Guard>) -> Plan {
        let name = self.saved.config.name().unwrap_or_default();
        let label = label(&self.to, &name);
        let mut plan = Plan::new(
            &RollbackVm::SPEC,
            &cluster.name,
            format!(
                "Restore {} as {label} on {}",
                self.saved.label(),
                self.to.node
            ),
        );
        plan.guards.extend(guard);
        let made = Target {
            at: self.to.clone(),
            name: name.clone(),
            pool: None,
            tags: self.saved.config.tags(),
            protection: self.saved.config.protection(),
            only_read: false,
        };
        plan.makes(made, self.args.start);
        plan.impact.push(
            Impact::new(
                Effect::Created,
                self.to.kind.noun(),
                self.to.vmid.to_string(),
            )
            .note(name.as_str()),
        );
        if self.original && self.args.start {
            plan.warnings.push(
                "it starts with the other's hostname and fixed addresses inside; they can clash"
                    .to_owned(),
            );
        }
        let named = Some(name.as_str()).filter(|name| !name.is_empty());
        let made = Check::made(&self.to, &label, named);
        plan.steps.push(self.step(&label, false).after(made));
        if self.args.start {
            plan.steps.push(start_step(&self.to, &name, false).group(1));
        }
        plan
    }

    fn step(&self, label: &str, over: bool) -> Step {
        let (to, volid) = (&self.to, self.saved.backup.volid.as_str());
        let request =
            Request::post(format!("/nodes/{}/{}", to.node, to.kind)).with("vmid", to.vmid);
        let request = match to.kind {
            GuestKind::Qemu => request.with("archive", volid),
            GuestKind::Lxc => request.with("ostemplate", volid).with("restore", true),
        };
        // Two guests with the same network addresses would disturb each other.
        let unique = self.original && !over;
        let request = request
            .maybe("storage", self.storage.clone())
            .maybe("force", over.then_some(true))
            .maybe("unique", unique.then_some(true))
            .maybe("start", (over && self.args.start).then_some(true));
        Step::request(format!("Restore {volid} as {label}"), request).task(Trace::of(to, "restore"))
    }

    fn landing(&self) -> Landing<'_> {
        Landing {
            saved: &self.saved,
            to: &self.to,
            storage: self.storage.as_deref(),
        }
    }

    async fn needs(&self, pve: &Reader, over: Option<&Over>) -> Result<Needs, Fault> {
        let source = format!("/vms/{}", self.args.vmid);
        let target = self.to.acl_path();
        let mut all = BTreeSet::from([
            (target.clone(), "VM.Audit"),
            (source.clone(), "VM.Backup"),
            (
                format!("/storage/{}", self.saved.backup.storage()),
                "Datastore.AllocateSpace",
            ),
        ]);
        if self.original {
            all.insert((source, "VM.Audit"));
        }
        if over.is_none() {
            all.insert((target.clone(), "VM.Allocate"));
        }
        if self.args.start {
            all.insert((target, "VM.PowerMgmt"));
        }
        for storage in self.landing().storages() {
            all.insert((format!("/storage/{storage}"), "Datastore.AllocateSpace"));
        }
        let was_unprivileged = over.is_none_or(|over| over.config.flag("unprivileged"));
        if self.to.kind == GuestKind::Lxc
            && was_unprivileged
            && !self.saved.config.flag("unprivileged")
        {
            all.insert(("/".to_owned(), "Sys.Modify"));
        }
        let mut all: Vec<_> = all
            .into_iter()
            .map(|(path, privilege)| Needs::on(path, privilege))
            .collect();
        all.extend(Networks::uses_of_guest(pve, &self.to.node, &self.saved.config).await?);
        Ok(Needs::All(all))
    }
}
