//! Which task of PVE a request has started whose answer was lost.
//!
//! A task is taken for a step's own only if nothing else can have started it: no other user of PVE, no request long before
//! or after, and no other step that oxmox knows of, in this process or another. Two candidates are as good as none.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use pve::{NodeName, Reader, Request, Resource, ResourceKind, Upid};
use serde_json::Value;

use super::Engine;
use super::doubt::{Before, SOON};
use crate::fault::{Fault, explain};
use crate::outcome::{StepOutcome, StepState};
use crate::plan::{Action, Plan, Step, Trace, Wait};
use crate::store::UnderWay;

/// How often the node's task list is searched for a task whose start was not answered.
const SEARCHES: u32 = 5;
/// By how much, in seconds, two clocks may differ that ought to be the same.
const SKEW: i64 = 120;

/// A step that was sent, or may have been.
pub(super) struct Sent<'a> {
    /// The plan's id.
    pub(super) id: &'a str,
    pub(super) plan: &'a Plan,
    pub(super) index: usize,
    pub(super) step: &'a Step,
    pub(super) before: &'a Before,
}

/// What came of looking for its task.
pub(super) enum Search {
    Found(Upid),
    /// There is none that must be its own.
    Nothing,
    /// Why it cannot be looked for now, or not by who looks.
    Unseen(String),
}

/// What the other steps that oxmox knows of say about a task.
enum Claim {
    /// It is the task of none of them.
    Nobodys,
    /// It may be the task of one whose sender is dead, or has given up.
    Contested,
    /// It may be the task of one that is being sent at this moment.
    Undecided,
}

impl Engine {
    /// The task that an unanswered request started, found in the node's own list.
    pub(super) async fn task_of(&self, pve: &Reader, sent: &Sent<'_>) -> Search {
        let (Some(before), Some(by), Wait::Task(trace)) =
            (&sent.before.tasks, &sent.before.by, &sent.step.wait)
        else {
            return Search::Nothing;
        };
        let window = match window(pve, sent, trace, self.now()).await {
            Ok(Some(window)) => window,
            Ok(None) => return Search::Nothing,
            Err(why) => return Search::Unseen(why),
        };
        let may_be_its_own = |upid: &Upid| {
            let start = i64::try_from(upid.starttime()).unwrap_or(i64::MAX);
            upid.user() == by && window.contains(&start)
        };
        let mut search = Search::Nothing;
        // A task that started long ago is in the list by now.
        let is_soon = sent.before.is_soon(self.now());
        let searches = if is_soon { SEARCHES } else { 1 };
        for round in 1..=searches {
            search = match tasks_of(pve, sent.step, trace).await {
                Err(why) => Search::Unseen(why),
                Ok(tasks) => {
                    let new = tasks.difference(before);
                    let new = new.filter_map(|upid| upid.parse().ok());
                    let found = self.only_one(new.filter(may_be_its_own).collect(), sent, trace);
                    found
                        .await
                        .unwrap_or_else(|fault| Search::Unseen(fault.message))
                }
            };
            if matches!(search, Search::Found(_)) || round == searches {
                break;
            }
            tokio::time::sleep(pve.task_poll()).await;
        }
        search
    }

    /// The one among these that no other step has started.
    async fn only_one(
        &self,
        mut found: Vec<Upid>,
        sent: &Sent<'_>,
        trace: &Trace,
    ) -> Result<Search, Fault> {
        if found.is_empty() {
            return Ok(Search::Nothing);
        }
        let at = sent.before.sent;
        let store = self.store().await?;
        let others = store.under_way(at - SKEW, at + SOON + SKEW).await?;
        let named: BTreeSet<_> = steps_beside(sent, &others)
            .filter_map(|(.., known)| known.task.clone())
            .collect();
        found.retain(|upid| !named.contains(upid.as_str()));
        let [only] = found.as_slice() else {
            return Ok(Search::Nothing);
        };
        Ok(match self.claim(sent, trace, &others).await? {
            Claim::Nobodys => Search::Found(only.clone()),
            Claim::Contested => Search::Nothing,
            Claim::Undecided => {
                Search::Unseen("another change of the same sort is being sent".to_owned())
            }
        })
    }

    /// Whether another step has no task yet that may have started one of this sort.
    async fn claim(
        &self,
        sent: &Sent<'_>,
        trace: &Trace,
        others: &[UnderWay],
    ) -> Result<Claim, Fault> {
        let mut claim = Claim::Nobodys;
        for (other, step, known) in steps_beside(sent, others) {
            let is_open = matches!(known.state, StepState::Running | StepState::Unknown);
            let is_alike = is_alike((sent.step, trace), step);
            if !is_open || !is_alike || known.task.is_some() {
                continue;
            }
            claim = Claim::Contested;
            if let Some(worker) = &other.worker
                && other.id != sent.id
                && known.state == StepState::Running
                && self.is_at_work(worker, &other.id).await?
            {
                return Ok(Claim::Undecided);
            }
        }
        Ok(claim)
    }
}

/// All steps on the same cluster but this one.
fn steps_beside<'a>(
    sent: &'a Sent<'_>,
    others: &'a [UnderWay],
) -> impl Iterator<Item = (&'a UnderWay, &'a Step, &'a StepOutcome)> {
    let here = others
        .iter()
        .filter(|other| other.plan.cluster == sent.plan.cluster);
    here.flat_map(|other| {
        let steps = other.plan.steps.iter().zip(&other.steps).enumerate();
        let beside = steps.filter(|(index, _)| other.id != sent.id || *index != sent.index);
        beside.map(move |(_, (step, known))| (other, step, known))
    })
}

/// Whether a task may be of either step's making.
fn is_alike((step, trace): (&Step, &Trace), other: &Step) -> bool {
    let Wait::Task(theirs) = &other.wait else {
        return false;
    };
    // Which node receives a file and runs the task is not known beforehand.
    let anywhere = [step, other].map(|it| matches!(it.action, Action::Upload(_)));
    (trace.node == theirs.node || anywhere.contains(&true))
        && (trace.vmid == theirs.vmid || trace.vmid.is_none() || theirs.vmid.is_none())
        && trace.types.iter().any(|it| theirs.types.contains(it))
}

/// From when to when, by the node's clock, a task of the request's making may have begun. `None`: nobody can tell. An
/// error: not now, or not by who looks.
async fn window(
    pve: &Reader,
    sent: &Sent<'_>,
    trace: &Trace,
    now: i64,
) -> Result<Option<RangeInclusive<i64>>, String> {
    let before = sent.before;
    if !before.is_by(pve) {
        // Without Sys.Audit, PVE shows nobody the tasks of others; its clock takes the same privilege.
        for node in nodes_of(pve, sent.step, trace).await? {
            clock(pve, &node).await.map_err(|error| explain(&error))?;
        }
    }
    match clock(pve, &trace.node).await {
        Ok(None) => Ok(None),
        // The two clocks may differ; how much time has passed since does not.
        Ok(Some(time)) => {
            let sent = time - (now - before.sent);
            let latest = if before.is_soon(now) {
                i64::MAX
            } else {
                sent + SOON
            };
            Ok(Some(sent - SKEW..=latest))
        }
        // What was there before, its sender has seen; and nothing has had the time to come from another request.
        Err(_) if before.is_by(pve) && before.is_soon(now) => Ok(Some(i64::MIN..=i64::MAX)),
        Err(error) if before.is_by(pve) && error.status() == Some(403) => Ok(None),
        Err(error) => Err(explain(&error)),
    }
}

/// What time it is there.
async fn clock(pve: &Reader, node: &NodeName) -> Result<Option<i64>, pve::Error> {
    let request = Request::get(format!("/nodes/{node}/time"));
    let answer: Value = pve.get(request).await?;
    Ok(answer.get("time").and_then(Value::as_i64))
}

/// The tasks of these types right now, about the guest if it is about one, on the node that would run the step's.
pub(super) async fn tasks_of(
    pve: &Reader,
    step: &Step,
    trace: &Trace,
) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for node in nodes_of(pve, step, trace).await? {
        for task_type in &trace.types {
            let tasks = pve.find_task(&node, task_type, trace.vmid, None).await;
            let tasks = tasks.map_err(|error| explain(&error))?;
            found.extend(tasks.into_iter().map(|task| task.upid.to_string()));
        }
    }
    Ok(found)
}

/// The nodes that may run a step's task. Whichever node a file is for, the one that was asked receives it and runs the
/// task; nobody can tell afterwards which that was.
async fn nodes_of(pve: &Reader, step: &Step, trace: &Trace) -> Result<Vec<NodeName>, String> {
    if !matches!(step.action, Action::Upload(_)) {
        return Ok(vec![trace.node.clone()]);
    }
    let rows = pve.resources().await.map_err(|error| explain(&error))?;
    let is_up =
        |row: &Resource| row.kind == ResourceKind::Node && row.status.as_deref() == Some("online");
    let up = rows.into_iter().filter(is_up);
    Ok(up.filter_map(|row| row.node).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{at, post, stop};

    fn trace(node: &str, vmid: Option<&str>, types: &[&str]) -> Trace {
        Trace {
            node: node.parse().unwrap(),
            vmid: vmid.map(|vmid| vmid.parse().unwrap()),
            types: types.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    /// A task is contested where it may be either's: on one node, of one sort, about one guest or about none that is named.
    #[test]
    fn two_steps_are_alike_where_a_task_may_be_of_either() {
        let own = trace("pve1", Some("100"), &["qmstop", "hastop"]);
        let step = stop("100").task(own.clone());
        let alike = |theirs: Trace| is_alike((&step, &own), &stop("100").task(theirs));
        assert!(alike(Trace::of(&at("100"), "stop")));
        assert!(alike(trace("pve1", None, &["hastop"])));
        assert!(!alike(trace("pve1", Some("101"), &["qmstop"])));
        assert!(!alike(trace("pve2", Some("100"), &["qmstop"])));
        assert!(!alike(trace("pve1", Some("100"), &["qmstart"])));
        assert!(!is_alike((&step, &own), &stop("100")));
        let of_none = trace("pve1", None, &["qmstop"]);
        let unnamed = post("/nodes/pve1/stopall").task(of_none.clone());
        assert!(is_alike(
            (&unnamed, &of_none),
            &stop("101").task(trace("pve1", Some("101"), &["qmstop"]))
        ));
    }
}
