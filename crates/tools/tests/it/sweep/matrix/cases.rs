//! The examples of all tools that change something, each with its plan and a house in which it works.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use sim::world::Section;
use sim::{Clock, World};
use tokio::sync::OnceCell;
use tools::engine::State;
use tools::plan::Plan;
use tools::policy::Policy;
use tools::spec::{Risk, Wants};
use tools::tool::{Ran, Tool};

use crate::house::{Furnish, House, Ways, object};

/// An example and what it plans.
pub(super) struct Case {
    pub(super) tool: &'static dyn Tool,
    pub(super) args: &'static str,
    pub(super) plan: Plan,
}

impl Case {
    pub(super) fn logs_in(&self) -> bool {
        logs_in(self.tool)
    }

    /// A house of its own, with all that the tool wants.
    pub(super) async fn house(&self) -> House {
        house(self.tool).await
    }
}

/// Planned once for all columns: planning twice gives the same, which is a sweep of its own.
pub(super) async fn cases() -> &'static [Case] {
    static CASES: OnceCell<Vec<Case>> = OnceCell::const_new();
    CASES.get_or_init(plan_all).await
}

async fn plan_all() -> Vec<Case> {
    let mut houses: BTreeMap<String, House> = BTreeMap::new();
    let mut cases = Vec::new();
    for (tool, args) in super::super::every_example() {
        if tool.spec().risk == Risk::Read {
            continue;
        }
        // Planning changes nothing: what wants the same shares a house.
        let house = match houses.entry(format!("{:?}", tool.spec().special.wants)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let ways = Ways {
                    logs_in: logs_in(tool),
                    ..Ways::default()
                };
                let house = house(tool).await;
                place.insert(house.going(&ways, Policy::default(), State::Memory))
            }
        };
        let plan = match tool.run(object(args), &house.context()).await {
            Ok(Ran::Plan(plan)) => *plan,
            Ok(Ran::Answer(_)) => panic!("{} gave an answer", tool.spec().name),
            Err(fault) => panic!("{} {args}: {fault}", tool.spec().name),
        };
        cases.push(Case { tool, args, plan });
    }
    cases
}

fn logs_in(tool: &dyn Tool) -> bool {
    tool.spec().wants(Wants::Login)
}

async fn house(tool: &dyn Tool) -> House {
    let mut world = if tool.spec().wants(Wants::NoCluster) {
        alone()
    } else {
        sim::worlds::homelab()
    };
    if tool.spec().wants(Wants::Before9) {
        before_9(&mut world);
    }
    if tool.spec().wants(Wants::Criu) {
        with_criu(&mut world);
    }
    House::furnished(Furnish {
        world,
        // Tasks end with fewer looks. A console that was opened still waits for the next request.
        clock: Clock::PerRequest(Duration::from_secs(4)),
        ..Furnish::default()
    })
    .await
}

/// A node in no cluster, beside one that takes the password of the example.
fn alone() -> World {
    let mut world = sim::worlds::standalone();
    let neighbour = world.alone.as_mut().unwrap();
    "its root password".clone_into(&mut neighbour.password);
    world
}

/// An older PVE, with the HA group that the examples are about.
fn before_9(world: &mut World) {
    "8.4.1".clone_into(&mut world.version);
    let props = BTreeMap::from([("nodes".to_owned(), "pve1,pve2".to_owned())]);
    let group = Section {
        kind: "group".to_owned(),
        props,
    };
    world.ha_groups.insert("big".to_owned(), group);
}

/// CRIU everywhere, and the state of the container that the examples resume.
fn with_criu(world: &mut World) {
    const SUSPENDED: u32 = 203;
    let node = world.guests[&SUSPENDED].node.clone();
    for there in world.nodes.values_mut() {
        there.criu = true;
    }
    world.nodes.get_mut(&node).unwrap().checkpoint = Some(SUSPENDED);
}
