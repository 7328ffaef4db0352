//! The risk of a whole plan: reads the facts that lower it, and makes them guards.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use pve::{GuestRef, Reader, Request, Vmid};
use serde_json::Value;

use super::facts::{Fact, Facts};
use super::judge::{Judgement, depends_on, judge};
use super::property::flag;
use crate::context::READS;
use crate::plan::{Guard, Plan, Step};
use crate::spec::Risk;

/// Judges every step of a plan and sets its risk. Facts are read only where the worst reading would ask somebody.
pub(crate) async fn settle(plan: &mut Plan, pve: &Reader) {
    let mut judged = judge_steps(plan, &Facts::default());
    let worst = judged.iter().map(|judgement| judgement.risk).max();
    if worst > Some(Risk::Change) {
        let facts = read(plan, pve).await;
        judged = judge_steps(plan, &facts);
        let relied: BTreeSet<Fact> = judged
            .iter()
            .flat_map(|judgement| judgement.relies_on.iter().copied())
            .collect();
        for fact in relied {
            if let Fact::Stopped(vmid) = fact
                && let Some(at) = guest_of(plan, vmid)
            {
                plan.guards.push(Guard::Stopped(at));
            }
        }
    }
    plan.judged(judged);
}

/// Judges a plan by what is sent alone, without reading anything.
pub(crate) fn judge_plan(plan: &mut Plan) {
    let judged = judge_steps(plan, &Facts::default());
    plan.judged(judged);
}

/// The judgements on all steps, the same reason once. What a guest is created with does not count against it.
fn judge_steps(plan: &Plan, facts: &Facts) -> Vec<Judgement> {
    let mut all: Vec<Judgement> = Vec::new();
    let mut facts = Facts {
        configs: facts.configs.clone(),
        stopped: facts.stopped.clone(),
        created: BTreeSet::new(),
    };
    for step in &plan.steps {
        facts.created.extend(created_by(plan, step));
        for judgement in judge(&step.action, &facts) {
            if !all.contains(&judgement) {
                all.push(judgement);
            }
        }
    }
    all.retain(|judgement| judgement.risk > Risk::Read || !judgement.relies_on.is_empty());
    all
}

/// The guest that a step creates under an id that a guard keeps free.
fn created_by(plan: &Plan, step: &Step) -> Option<Vmid> {
    let request = step.action.request();
    let parts: Vec<_> = request.path.split('/').collect();
    let name = match (request.method, parts.as_slice()) {
        (pve::Method::Post, ["", "nodes", _, "qemu" | "lxc"]) => "vmid",
        (pve::Method::Post, ["", "nodes", _, "qemu" | "lxc", _, "clone"]) => "newid",
        _ => return None,
    };
    let forces = request
        .param("force")
        .is_some_and(|force| flag(&force.to_string()) != Some(false));
    let vmid: Vmid = request.param(name)?.to_string().parse().ok()?;
    let free = [Guard::VmidFree(vmid), Guard::NextVmid(vmid)];
    let is_free = plan.guards.iter().any(|guard| free.contains(guard));
    (is_free && !forces).then_some(vmid)
}

/// Configurations that a guard of the plan holds still, and which of the guests do not run.
async fn read(plan: &Plan, pve: &Reader) -> Facts {
    let mut facts = Facts::default();
    let wanted: BTreeSet<Vmid> = plan
        .requests()
        .flat_map(|request| depends_on(&request))
        .collect();
    let guests = wanted.into_iter().filter_map(|vmid| guest_of(plan, vmid));
    let guests: Vec<_> = guests.collect();
    let reads = stream::iter(guests).map(|at| async move {
        let is_guarded = plan.guards.iter().any(|guard| guard.guest() == Some(&at));
        let config = if is_guarded {
            pve.guest_config(&at).await.ok()
        } else {
            None
        };
        let status: Result<Value, _> = pve.get(Request::get(at.path("status/current"))).await;
        let stopped = status.is_ok_and(|status| is_stopped(&status));
        (at.vmid, config, stopped)
    });
    let mut reads = reads.buffered(READS);
    while let Some((vmid, config, stopped)) = reads.next().await {
        if let Some(config) = config {
            facts.configs.insert(vmid, config);
        }
        if stopped {
            facts.stopped.insert(vmid);
        }
    }
    facts
}

/// Whether a guest's state says that nothing of it runs.
pub(crate) fn is_stopped(status: &Value) -> bool {
    status.get("status").and_then(Value::as_str) == Some("stopped")
}

/// Where a guest of the plan is.
fn guest_of(plan: &Plan, vmid: Vmid) -> Option<GuestRef> {
    let mut targets = plan.targets.iter();
    targets
        .find(|target| target.at.vmid == vmid)
        .map(|target| target.at.clone())
}
