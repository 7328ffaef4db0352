//! The privileges that the registry declares for its tools are those that their plans take, and a role made of them is
//! enough for all that it is for.

use std::collections::BTreeSet;

use tools::plan::Needs;
use tools::policy::{Mode, Policy};
use tools::registry::privileges::{self, Purpose, only_looks};
use tools::spec::{Risk, Toolset};
use tools::tool::Ran;

use crate::house::{Furnish, House, Nobody, call, done, object};

/// What an installed PVE says that it knows: the privileges of its Administrator.
async fn known(house: &House) -> BTreeSet<String> {
    let context = house.context();
    let reader = &context.clusters[0].pve;
    let role: serde_json::Map<String, serde_json::Value> =
        reader.get("/access/roles/Administrator").await.unwrap();
    role.into_iter().map(|(name, _)| name).collect()
}

async fn house(version: &str) -> House {
    let mut furnish = Furnish::default();
    furnish.world.version = version.to_owned();
    House::furnished(furnish).await
}

/// What a tree takes: of several ways the first that this version knows.
fn leaves(needs: &Needs, known: &BTreeSet<String>) -> BTreeSet<String> {
    match needs {
        Needs::Nothing => BTreeSet::new(),
        Needs::Has { privilege, .. } => [privilege.clone()].into(),
        Needs::All(parts) => parts.iter().flat_map(|part| leaves(part, known)).collect(),
        Needs::Any(ways) => {
            let ways: Vec<_> = ways.iter().map(|way| leaves(way, known)).collect();
            let possible = ways.iter().find(|way| way.is_subset(known));
            possible.or(ways.first()).cloned().unwrap_or_default()
        }
    }
}

#[tokio::test]
async fn what_a_plan_takes_is_declared() {
    let mut wrong = BTreeSet::new();
    for version in ["8.4.1", "9.1.8"] {
        let house = house(version).await;
        let known = known(&house).await;
        let context = house.context();
        for (tool, args) in super::changes() {
            // What these take is another tool's, or the caller's, matter.
            if tool.relays() || tool.spec().name == "write_proxmox_api" {
                continue;
            }
            // A tool of the newer version says so on the older one.
            let Ok(Ran::Plan(plan)) = tool.run(object(args), &context).await else {
                continue;
            };
            let declared = privileges::of_tool(tool, plan.risk, &|name| known.contains(name));
            let taken = leaves(&plan.needs, &known);
            let missing: Vec<_> = taken
                .iter()
                .filter(|name| !declared.contains(name.as_str()))
                .collect();
            if !missing.is_empty() {
                let name = tool.spec().name;
                wrong.insert(format!("{version} {name} {:?}: {missing:?}", plan.risk));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A token with a role for this purpose on everything.
async fn token(house: &House, most: Risk) -> (String, String, String) {
    let known = known(house).await;
    let sets = Toolset::ALL;
    let purpose = Purpose {
        toolsets: sets,
        most,
        screens: true,
    };
    let held = privileges::of_role(purpose, &|name| known.contains(name));
    house.sim.world(|world| {
        world.add_token("role@pve!t", "role-secret");
        world.grant("role@pve", "/", &held.iter().copied().collect::<Vec<_>>());
    });
    let [user, name, secret] = ["role@pve", "t", "role-secret"].map(str::to_owned);
    (user, name, secret)
}

fn trusted() -> Policy {
    Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    }
}

#[tokio::test]
async fn a_role_to_operate_is_enough_to_operate() {
    enough(Risk::Disrupt).await;
}

#[tokio::test]
async fn a_full_role_is_enough_for_everything() {
    enough(Risk::Grant).await;
}

async fn enough(most: Risk) {
    let mut wrong = Vec::new();
    for (tool, args) in super::changes() {
        let house = House::furnished(Furnish::default()).await;
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &house.context()).await else {
            panic!("{} {args} has no plan", tool.spec().name);
        };
        if plan.risk > most {
            continue;
        }
        let engine = house.with_token(&token(&house, most).await, trusted());
        match done(engine.call(call(tool.spec().name, args), &Nobody).await) {
            Ok(answer) if answer.data["status"] == "applied" => {}
            Ok(answer) => wrong.push(format!("{} {args}: {}", tool.spec().name, answer.text)),
            Err(fault) => wrong.push(format!("{} {args}: {fault}", tool.spec().name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The privileges that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    let words = words.map(|word| word.trim_matches('.'));
    words
        .filter(|word| AREAS.iter().any(|area| word.starts_with(area)))
        .collect()
}

const AREAS: &[&str] = &["VM.", "Sys.", "Datastore.", "Pool.", "SDN.", "Mapping."];

/// What it lacks, and says so, is only what would let it change something too.
#[tokio::test]
async fn a_role_to_look_shows_all_that_looking_can_show() {
    let house = House::furnished(Furnish::default()).await;
    let engine = house.with_token(&token(&house, Risk::Read).await, trusted());
    let mut wrong = Vec::new();
    for (tool, args) in super::examples().filter(|(tool, _)| tool.spec().risk == Risk::Read) {
        let mut said = Vec::new();
        for engine in [&engine, &house.engine] {
            let answer = done(engine.call(call(tool.spec().name, args), &Nobody).await);
            said.push(answer.map_or_else(|fault| fault.to_string(), |answer| answer.text));
        }
        let lacks = &named(&said[0]) - &named(&said[1]);
        let needless: Vec<_> = lacks.into_iter().filter(|it| only_looks(it)).collect();
        if !needless.is_empty() {
            let name = tool.spec().name;
            wrong.push(format!("{name} {args} lacks {needless:?}: {}", said[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
