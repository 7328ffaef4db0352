//! create_proxmox_vm and create_proxmox_lxc: guests that are not there yet.
//!
//! Credentials put into a guest hand out power where somebody already uses that guest, and are Grant-risk there. A guest
//! that the same call makes has no other user: who may create it may log into it. So here they are part of a Change,
//! and secret all the same.

mod blank;
mod card;
mod from_template;
mod lxc;
mod lxc_more;
mod media;
pub(super) mod network;
pub(super) mod place;
mod settings;
pub(super) mod space;
mod template;
mod values;
mod vm;
mod vm_more;

pub(super) use lxc::CreateLxc;
pub(super) use vm::CreateVm;

use pve::{DnsName, GuestKind, GuestRef, PoolId, Reader, Request};

use self::values::Tags;
use crate::context::label;
use crate::fault::Fault;
use crate::plan::{Check, Effect, Guard, Impact, Needs, Plan, Step, Target, Trace};
use crate::spec::Spec;

/// A guest that is not there yet.
struct NewGuest {
    at: GuestRef,
    name: DnsName,
    pool: Option<PoolId>,
    tags: Option<Tags>,
    start: bool,
}

impl NewGuest {
    fn label(&self) -> String {
        label(&self.at, self.name.as_str())
    }

    /// A plan that makes it, without its steps yet. `free` holds the id to being free; `why` says why it goes where it goes.
    fn plan(&self, spec: &Spec, cluster: &str, free: Guard, why: Option<String>) -> Plan {
        let summary = format!("Create {} on {}", self.label(), self.at.node);
        let mut plan = Plan::new(spec, cluster, summary);
        plan.guards.push(free);
        let place = why.unwrap_or_else(|| format!("on {}", self.at.node));
        let kind = self.at.kind.noun();
        plan.impact
            .push(Impact::new(Effect::Created, kind, self.at.vmid.to_string()).note(place));
        let target = Target {
            at: self.at.clone(),
            name: self.name.to_string(),
            pool: self.pool.as_ref().map(ToString::to_string),
            tags: self.tags.as_ref().map(Tags::words).unwrap_or_default(),
            protection: false,
            only_read: false,
        };
        plan.makes(target, self.start);
        plan
    }

    async fn check_pool(&self, pve: &Reader) -> Result<(), Fault> {
        match &self.pool {
            Some(pool) => super::pools::require(pool, pve).await,
            None => Ok(()),
        }
    }

    /// A privilege on the guest. One that goes into a pool inherits what the pool grants.
    fn need(&self, privilege: &str) -> Needs {
        let own = Needs::on(self.at.acl_path(), privilege);
        match &self.pool {
            None => own,
            Some(pool) => Needs::Any(vec![own, Needs::on(format!("/pool/{pool}"), privilege)]),
        }
    }

    fn needs(&self, privileges: &[&str]) -> Vec<Needs> {
        let power = self.start.then_some("VM.PowerMgmt");
        let all = privileges.iter().copied().chain(power);
        all.map(|privilege| self.need(privilege)).collect()
    }

    /// The step that makes it.
    fn create_step(&self, request: Request) -> Step {
        let task = match self.at.kind {
            GuestKind::Qemu => "qmcreate",
            GuestKind::Lxc => "vzcreate",
        };
        let made = Check::made(&self.at, &self.label(), Some(self.name.as_str()));
        Step::request(format!("Create {}", self.label()), request)
            .task(self.trace(task))
            .after(made)
    }

    /// PVE can start what it creates, but ends the task as OK though the start failed. So it is a step of its own.
    fn start_step(&self) -> Step {
        super::power::start_step(&self.at, self.name.as_str(), false)
    }

    fn trace(&self, task: &str) -> Trace {
        Trace {
            node: self.at.node.clone(),
            vmid: Some(self.at.vmid),
            types: vec![task.to_owned()],
        }
    }
}

/// Puts steps one after the other.
fn in_order(steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    let numbered = steps.into_iter().zip(0..);
    numbered.map(|(step, at)| step.group(at)).collect()
}
