//! One plan for all the guests of a call: each is read, asked what is to be done to it, and gets a step of its own. The
//! steps are one group, so they run side by side, and one that fails leaves the others alone.

use std::fmt::Write as _;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use pve::{GuestConfig, Vmid};
use serde_json::{Value, json};

use super::which::{MOST, Which};
use super::{State, power_needs};
use crate::context::{Context, Guest, READS, arguments};
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Needs, Plan, Step};
use crate::spec::Spec;
use crate::tool::Object;
use crate::words;

/// How many ids a summary names.
const NAMED: usize = 20;

/// A guest with what planning has read of it.
pub(super) struct Seen {
    pub(super) guest: Guest,
    pub(super) config: GuestConfig,
    pub(super) state: State,
}

/// What is to be done to a guest.
pub(super) enum Part {
    /// Nothing: it is running, or stopped, already.
    Already(&'static str),
    /// This, unless something stands in the way.
    Act {
        step: Box<Step>,
        blockers: Vec<Blocker>,
    },
    /// It cannot be done at all.
    Impossible(Blocker),
}

/// An operation on guests, as far as the plan of many does not depend on which it is.
pub(super) struct Order<'a> {
    pub(super) spec: &'a Spec,
    /// "Start", "Shut down".
    pub(super) verb: &'a str,
    pub(super) effect: Effect,
}

/// The guests of a call, read and sorted by what is to be done to them.
pub(super) struct Sorted {
    /// The label of the one guest that was named.
    one: Option<String>,
    cluster: String,
    acts: Vec<(Seen, Step)>,
    already: Vec<(Guest, &'static str)>,
    blockers: Vec<Blocker>,
}

impl Sorted {
    /// Reads every guest, a few at a time, and asks `part` about each.
    pub(super) async fn of(
        which: &Which,
        cx: &Context,
        part: impl Fn(&Seen) -> Result<Part, Fault>,
    ) -> Result<Self, Fault> {
        let guests = which.guests(cx).await?;
        let one = which.is_one();
        if one {
            guests.iter().try_for_each(Guest::require_online)?;
        }
        let cluster = guests.first().map(|guest| guest.cluster.name.clone());
        let named = guests.first().filter(|_| one).map(Guest::label);
        let (online, offline): (Vec<_>, Vec<_>) =
            guests.into_iter().partition(|guest| guest.node_online);
        let reads: Vec<_> = online.into_iter().map(|guest| see(guest, one)).collect();
        let seen: Vec<Seen> = stream::iter(reads).buffered(READS).try_collect().await?;
        let mut sorted = Self {
            one: named,
            cluster: cluster.unwrap_or_default(),
            acts: Vec::new(),
            already: Vec::new(),
            blockers: offline.iter().map(offline_node).collect(),
        };
        for seen in seen {
            match part(&seen)? {
                Part::Already(state) => sorted.already.push((seen.guest, state)),
                Part::Impossible(blocker) => sorted.blockers.push(blocker),
                Part::Act { step, blockers } => {
                    sorted.blockers.extend(blockers);
                    sorted.acts.push((seen, *step));
                }
            }
        }
        Ok(sorted)
    }

    /// The arguments of the call that acts on the same guests: those that something is done to.
    pub(super) fn same_guests(&self) -> Object {
        let vmids: Vec<Value> = self.acted().map(|vmid| json!(vmid)).collect();
        match vmids.as_slice() {
            [only] if self.one.is_some() => arguments([("vmid", only.clone())]),
            many if many.len() > MOST => {
                let max = json!(many.len());
                arguments([("vmids", vmids.into()), ("max", max)])
            }
            _ => arguments([("vmids", vmids.into())]),
        }
    }

    /// The plan, but for its undo and what is special about the operation.
    pub(super) fn plan(self, order: &Order<'_>) -> Plan {
        let summary = self.summary(order.verb);
        let mut plan = Plan::new(order.spec, &self.cluster, summary);
        let mut needs = Vec::new();
        for (guest, state) in &self.already {
            needs.push(Needs::on(guest.at.acl_path(), "VM.Audit"));
            let note = format!("{}; {state} already", guest.name());
            plan.impact.push(item(Effect::Kept, guest).note(note));
        }
        for (seen, step) in self.acts {
            seen.guest.bind(&mut plan, &seen.config);
            needs.push(power_needs(&seen.guest.at));
            let note = seen.guest.name();
            plan.impact.push(item(order.effect, &seen.guest).note(note));
            plan.steps.push(step);
        }
        plan.needs = Needs::All(needs);
        plan.blockers = self.blockers;
        plan
    }

    /// The guests that something is done to.
    pub(super) fn acting(&self) -> impl Iterator<Item = &Seen> {
        self.acts.iter().map(|(seen, _)| seen)
    }

    fn acted(&self) -> impl Iterator<Item = Vmid> {
        self.acting().map(|seen| seen.guest.at.vmid)
    }

    /// "Start 2 guests (105 and 203); 1 is running already (100)"
    fn summary(&self, verb: &str) -> String {
        if let Some(label) = &self.one {
            return match (self.acts.as_slice(), self.already.as_slice()) {
                ([(seen, step)], _) => format!("{} on {}", step.says, seen.guest.at.node),
                (_, [(_, state)]) => format!("{label} is {state} already; nothing to do"),
                _ => format!("{verb} {label}"),
            };
        }
        let mut summary = match self.acts.len() {
            0 => "Nothing to do".to_owned(),
            _ => format!("{verb} {}", counted(self.acted(), "guest", "guests")),
        };
        if let Some((_, state)) = self.already.first() {
            let vmids = self.already.iter().map(|(guest, _)| guest.at.vmid);
            let (one, several) = (
                format!("is {state} already"),
                format!("are {state} already"),
            );
            let _ = write!(summary, "; {}", counted(vmids, &one, &several));
        }
        summary
    }
}

/// "2 guests (105 and 203)"
fn counted(vmids: impl Iterator<Item = Vmid>, one: &str, several: &str) -> String {
    let vmids: Vec<_> = vmids.map(|vmid| vmid.to_string()).collect();
    let noun = if vmids.len() == 1 { one } else { several };
    let listed = match vmids.get(..NAMED) {
        Some(first) if vmids.len() > NAMED => {
            format!("{} and {} more", first.join(", "), vmids.len() - NAMED)
        }
        _ => words::list(&vmids),
    };
    format!("{} {noun} ({listed})", vmids.len())
}

fn item(effect: Effect, guest: &Guest) -> Impact {
    Impact::new(effect, guest.at.kind.noun(), guest.at.vmid.to_string())
}

/// Reads what planning needs of a guest. Among many, the one that could not be read is named.
async fn see(guest: Guest, one: bool) -> Result<Seen, Fault> {
    let label = guest.label();
    let read = async {
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        Ok(Seen {
            guest,
            config,
            state,
        })
    };
    read.await.map_err(|fault: Fault| {
        if one {
            return fault;
        }
        Fault {
            message: format!("{label}: {}", fault.message),
            ..fault
        }
    })
}

fn offline_node(guest: &Guest) -> Blocker {
    Blocker::new(
        format!("node {} of {} is offline", guest.at.node, guest.label()),
        "leave it out, or try again when the node is back",
    )
}
