//! The privileges that the registry declares for its tools are those that their plans take, and a role that `oxmox setup` makes
//! of them is enough for all that it is for, and no more.

use std::collections::BTreeSet;
use std::sync::Arc;

use tools::engine::Engine;
use tools::plan::{Needs, Plan};
use tools::policy::{Mode, Policy};
use tools::registry::privileges::{self, only_looks};
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use super::made_roles::{self, Role};
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

/// Why a call was not applied.
async fn refused(engine: &Arc<Engine>, (tool, args): (&'static dyn Tool, &str)) -> Option<String> {
    match done(engine.call(call(tool.spec().name, args), &Nobody).await) {
        Ok(answer) if answer.data["status"] == "applied" => None,
        Ok(answer) => Some(answer.text),
        Err(fault) => Some(fault.to_string()),
    }
}

/// The plan of an example, if there is one in this version.
async fn planned(house: &House, (tool, args): (&'static dyn Tool, &str)) -> Option<Plan> {
    match tool.run(object(args), &house.context()).await {
        Ok(Ran::Plan(plan)) => Some(*plan),
        _ => None,
    }
}

async fn enough(most: Risk) {
    let mut wrong = Vec::new();
    for role in made_roles::all().iter().filter(|role| role.most == most) {
        for example in super::changes().filter(|(tool, _)| role.is_for(*tool)) {
            let house = role.house().await;
            match planned(&house, example).await {
                Some(plan) if plan.risk <= most => {}
                _ => continue,
            }
            let engine = house.with_token(&role.token(&house), trusted());
            let Some(why) = refused(&engine, example).await else {
                continue;
            };
            // What root cannot do in this version either is not the role's matter.
            let house = role.house().await;
            let root = house.with_token(&Furnish::default().token, trusted());
            if refused(&root, example).await.is_none() {
                let (tool, args) = example;
                wrong.push(format!(
                    "{}: {} {args}: {why}",
                    role.label(),
                    tool.spec().name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Privileges of roles that no example misses, by whether the role is for the core's tools only, and why.
const UNMISSED: &[(bool, &str, &str)] = &[
    (true, "Mapping.Use", UNTRIED),
    (true, "Pool.Audit", OPEN),
    (true, "Sys.Console", UNTRIED),
    (true, "Sys.Modify", UNTRIED),
    (true, "VM.Config.CDROM", UNTRIED),
    (true, "VM.Config.Cloudinit", INSTEAD),
    (true, "VM.GuestAgent.Audit", OPEN),
    (true, "VM.Snapshot.Rollback", INSTEAD),
    (false, "Mapping.Use", UNTRIED),
    (false, "Sys.AccessNetwork", INSTEAD),
    (false, "VM.Config.CDROM", UNTRIED),
    (false, "VM.Config.Cloudinit", INSTEAD),
    (false, "VM.GuestAgent.Audit", INSTEAD),
    (false, "VM.GuestAgent.FileRead", INSTEAD),
    (false, "VM.GuestAgent.FileSystemMgmt", INSTEAD),
    (false, "VM.GuestAgent.FileWrite", OPEN),
    (false, "VM.Snapshot.Rollback", INSTEAD),
];
const UNTRIED: &str = "declared for arguments that no example has";
const OPEN: &str =
    "no example says that it misses it; whether a role could go without is not known";
const INSTEAD: &str =
    "PVE takes another one instead, which the role holds for other tools: it could go without";

/// A role has none too many: without any one of its privileges, a call of one of its tools fails that works with it, or a look
/// says that it misses just this. What cannot be shown so is listed, and nothing is listed for nothing.
#[tokio::test]
async fn a_role_holds_nothing_that_nothing_needs() {
    let mut needless = Vec::new();
    let mut listed: Vec<_> = UNMISSED.iter().collect();
    for role in made_roles::all() {
        let house = role.house().await;
        let known = known(&house).await;
        let mut takes = Vec::new();
        for example in super::changes().filter(|(tool, _)| role.is_for(*tool)) {
            if let Some(plan) = planned(&house, example)
                .await
                .filter(|plan| plan.risk <= role.most)
            {
                takes.push((example, leaves(&plan.needs, &known)));
            }
        }
        for privilege in &role.privileges {
            let candidates = takes.iter().filter(|(_, taken)| taken.contains(privilege));
            let candidates = candidates.map(|(example, _)| *example);
            if !is_missed(&role, privilege, &house).await
                && !fails_without(&role, privilege, candidates).await
            {
                let is_core = role.toolsets.len() == 1;
                let is_this = |(core, name, _): &(bool, &str, &str)| {
                    (*core, *name) == (is_core, privilege.as_str())
                };
                if !UNMISSED.iter().any(is_this) {
                    needless.push(format!("{}: {privilege}", role.label()));
                }
                listed.retain(|it| !is_this(it));
            }
        }
    }
    assert!(needless.is_empty(), "{}", needless.join("\n"));
    assert!(listed.is_empty(), "listed for nothing: {listed:?}");
}

async fn fails_without(
    role: &Role,
    privilege: &str,
    candidates: impl Iterator<Item = (&'static dyn Tool, &'static str)>,
) -> bool {
    let less = role.without(privilege);
    for example in candidates {
        let house = role.house().await;
        let engine = house.with_token(&less.token(&house), trusted());
        if let Some(why) = refused(&engine, example).await
            && why.contains(privilege)
        {
            return true;
        }
    }
    false
}

async fn is_missed(role: &Role, privilege: &str, house: &House) -> bool {
    let less = role.without(privilege);
    let engines = [&less, role].map(|role| house.with_token(&role.token(house), trusted()));
    let declares = |tool: &dyn Tool| {
        let rights = tool.spec().needs.every_right();
        rights.iter().any(|right| right.privilege == privilege)
    };
    let reads = super::examples().filter(|(tool, _)| tool.spec().risk == Risk::Read);
    for (tool, args) in reads.filter(|(tool, _)| role.is_for(*tool) && declares(*tool)) {
        let mut said = Vec::new();
        for engine in &engines {
            let answer = done(engine.call(call(tool.spec().name, args), &Nobody).await);
            said.push(answer.map_or_else(|fault| fault.to_string(), |answer| answer.text));
        }
        if (&named(&said[0]) - &named(&said[1])).contains(privilege) {
            return true;
        }
    }
    false
}

/// The privileges that a text names.
fn named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    let words = words.map(|word| word.trim_matches('.'));
    words
        .filter(|word| AREAS.iter().any(|area| word.starts_with(area)))
        .collect()
}

const AREAS: &[&str] = &[
    "VM.",
    "Sys.",
    "Datastore.",
    "Pool.",
    "SDN.",
    "Mapping.",
    "User.",
    "Realm.",
];

/// What it lacks, and says so, is only what would let it change something too.
#[tokio::test]
async fn a_role_to_look_shows_all_that_looking_can_show() {
    let mut wrong = Vec::new();
    let roles = made_roles::all().into_iter();
    for role in roles.filter(|role| role.most == Risk::Read) {
        let house = role.house().await;
        let engine = house.with_token(&role.token(&house), trusted());
        let reads = super::examples().filter(|(tool, _)| tool.spec().risk == Risk::Read);
        for (tool, args) in reads.filter(|(tool, _)| role.is_for(*tool)) {
            let mut said = Vec::new();
            for engine in [&engine, &house.engine] {
                let answer = done(engine.call(call(tool.spec().name, args), &Nobody).await);
                said.push(answer.map_or_else(|fault| fault.to_string(), |answer| answer.text));
            }
            let lacks = &named(&said[0]) - &named(&said[1]);
            let needless: Vec<_> = lacks.into_iter().filter(|it| only_looks(it)).collect();
            if !needless.is_empty() {
                let (label, name) = (role.label(), tool.spec().name);
                wrong.push(format!(
                    "{label}: {name} {args} lacks {needless:?}: {}",
                    said[0]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
