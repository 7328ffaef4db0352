//! What can become of the cluster while a change is on its way.

use sim::{Fault, Sim};
use tools::outcome::StepState::{self, Done, Failed, NotSent, Running, Unknown};
use tools::plan::{Plan, Step};

use super::{Column, hold, only_looks, only_opens, request_of};

/// The node that is asked in the world of most cells.
const ASKED: &str = "pve1";

fn asked(sim: &Sim) -> String {
    sim.world(|world| world.nodes.keys().next().unwrap().clone())
}

/// The node that a step is for, if it is not for the whole cluster.
fn node_of(step: &Step) -> Option<String> {
    let (_, path) = request_of(step);
    let below = path.strip_prefix("/nodes/")?;
    below.split('/').next().map(str::to_owned)
}

/// Who asks another node is told that it was not reached. Who asks the one that dies is told nothing.
fn when_it_dies(_: &Plan, step: &Step) -> Vec<StepState> {
    if only_looks(step) {
        return vec![Failed, Unknown];
    }
    // Another node sends it, to one that is down as a rule.
    if request_of(step).1.ends_with("/wakeonlan") {
        return vec![Done];
    }
    let is_asked = node_of(step).is_none_or(|node| node == ASKED);
    if is_asked && !only_opens(step) {
        return vec![Unknown];
    }
    vec![Failed]
}

pub(super) const NODE_GONE: Column = Column {
    name: "a node that goes down",
    comes: "`failed` by way of another node (595); `unknown` where the node that is asked itself dies.",
    strike: |sim, _, step| {
        let (method, path) = request_of(step);
        let node = node_of(step).unwrap_or_else(|| asked(sim));
        sim.fault(Fault::outage(&node).on(&method, &path));
    },
    allows: when_it_dies,
    // Others may have tasks on that node, of which nobody can tell anything until it is back.
    wait: 8,
    ..Column::PLAIN
};

pub(super) const QUORUM_LOST: Column = Column {
    name: "lost quorum",
    comes: "`failed`, in PVE's own words; `applied` for the few things that PVE does without, `running` for what it accepts and cannot bring to its end; refused while planning where a look is refused.",
    strike: |sim, _, _| sim.world(|world| world.quorum_lost = true),
    // Some things PVE does without it, and some it accepts and cannot bring to their end.
    allows: |_, _| vec![Done, Failed, NotSent, Running],
    wait: 8,
    ..Column::PLAIN
};

#[tokio::test]
async fn node_gone() {
    hold(&NODE_GONE).await;
}

#[tokio::test]
async fn quorum_lost() {
    hold(&QUORUM_LOST).await;
}
