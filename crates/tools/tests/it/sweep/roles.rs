//! The privileges that the registry declares for its tools are those that their plans take, and a role that `oxmox setup` makes
//! of them is enough for all that it is for, and no more.

use std::collections::BTreeSet;
use std::sync::Arc;

use tools::engine::Engine;
use tools::plan::{Needs, Plan};
use tools::policy::{Mode, Policy};
use tools::registry;
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
            let of = |most| privileges::of_tool(tool, most, &|name| known.contains(name));
            let (declared, at_all) = (of(plan.risk()), of(Risk::Grant));
            let is_declared = |name: &str| {
                declared.contains(name) || POWERS.contains(&name) && at_all.contains(name)
            };
            let taken = leaves(&plan.needs, &known);
            let missing: Vec<_> = taken.iter().filter(|name| !is_declared(name)).collect();
            if !missing.is_empty() {
                let name = tool.spec().name;
                wrong.insert(format!("{version} {name} {:?}: {missing:?}", plan.risk()));
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

/// Calls beside the examples, for what no example takes.
const MORE: &[(&str, &str)] = &[
    (
        "list_proxmox_resources",
        r#"{"resource_type": "pool"}"#, // Pool.Audit
    ),
    (
        "get_proxmox_vm_status",
        r#"{"vmid": 100, "include": ["addresses"]}"#, // VM.GuestAgent.Audit
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"ide2": "nas:iso/debian-13.1.0-amd64-netinst.iso,media=cdrom"}}"#, // VM.Config.CDROM
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"ide2": "cdrom,media=cdrom"}}"#, // Sys.Console: the node's own drive
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"startup": "order=2"}}"#, // Sys.Modify: when the node boots
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 105, "set": {"usb0": "mapping=stick"}}"#, // Mapping.Use
    ),
    (
        "update_proxmox_vm",
        r#"{"vmid": 111, "set": {"ipconfig0": "ip=192.168.1.30/24,gw=192.168.1.1"}, "regenerate_cloudinit": true}"#, // VM.Config.Cloudinit
    ),
];

type Call = (&'static dyn Tool, &'static str);

/// The calls that a role is tried with.
fn calls(role: &Role) -> impl Iterator<Item = Call> {
    let more = MORE.iter().map(|(name, args)| {
        let tool = registry::all().find(|tool| tool.spec().name == *name);
        (tool.unwrap(), *args)
    });
    super::examples()
        .chain(more)
        .filter(|(tool, _)| role.is_for(*tool))
}

/// Those that only look.
fn looks(role: &Role) -> impl Iterator<Item = Call> {
    calls(role).filter(|(tool, _)| tool.spec().risk == Risk::Read)
}

/// Those that change something.
fn changes(role: &Role) -> impl Iterator<Item = Call> {
    calls(role).filter(|(tool, _)| tool.spec().risk > Risk::Read)
}

/// The privileges that hand out power, so that no role for less is given them for the sake of a call that does not: commands
/// inside guests, tokens of other users, how nodes are set up, their devices.
const POWERS: &[&str] = &[
    "Sys.Console",
    "Sys.Modify",
    "User.Modify",
    "VM.GuestAgent.Unrestricted",
    "VM.Monitor",
];

/// Which of them a role goes without though calls of this tool take it.
fn left_out(role: &Role, tool: &dyn Tool, known: &BTreeSet<String>) -> BTreeSet<String> {
    let of = |most| privileges::of_tool(tool, most, &|name| known.contains(name));
    let worse = &of(Risk::Grant) - &of(role.most);
    let powers = worse.into_iter().filter(|it| POWERS.contains(it));
    let powers: BTreeSet<_> = powers.map(str::to_owned).collect();
    &powers - &role.privileges
}

/// Why a call was not applied.
async fn refused(engine: &Arc<Engine>, (tool, args): Call) -> Option<String> {
    match done(engine.call(call(tool.spec().name, args), &Nobody).await) {
        Ok(answer) if answer.data["status"] == "applied" => None,
        Ok(answer) => Some(answer.text),
        Err(fault) => Some(fault.to_string()),
    }
}

/// The plan of a call, if there is one in this version.
async fn planned(house: &House, (tool, args): Call) -> Option<Plan> {
    match tool.run(object(args), &house.context()).await {
        Ok(Ran::Plan(plan)) => Some(*plan),
        _ => None,
    }
}

/// Every change that is no worse than the level goes through, but for those that take what lets a token do worse. Those are
/// refused, and it is said why.
async fn enough(most: Risk) {
    let mut wrong = Vec::new();
    for role in made_roles::all().iter().filter(|role| role.most == most) {
        let known = known(&role.house().await).await;
        for example in changes(role) {
            let house = role.house().await;
            let plan = match planned(&house, example).await {
                Some(plan) if plan.risk() <= most => plan,
                _ => continue,
            };
            let (tool, args) = example;
            let label = format!("{}: {} {args}", role.label(), tool.spec().name);
            let beyond = &leaves(&plan.needs, &known) & &left_out(role, tool, &known);
            let engine = house.with_token(&role.token(&house), trusted());
            let said = refused(&engine, example).await;
            if !beyond.is_empty() {
                let named = |why: &String| beyond.iter().any(|privilege| why.contains(privilege));
                if !said.as_ref().is_some_and(named) {
                    wrong.push(format!("{label} does not miss {beyond:?}: {said:?}"));
                }
                continue;
            }
            let Some(why) = said else {
                continue;
            };
            // What root cannot do in this version either is not the role's matter.
            let house = role.house().await;
            let root = house.with_token(&Furnish::default().token, trusted());
            if refused(&root, example).await.is_none() {
                wrong.push(format!("{label}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A role has none too many: without any one of its privileges, a call of one of its tools fails that works with it, or a look
/// says that it misses just this.
#[tokio::test]
async fn a_role_holds_nothing_that_nothing_needs() {
    let mut needless = Vec::new();
    for role in made_roles::all() {
        let house = role.house().await;
        let mut takes = Vec::new();
        for example in changes(&role) {
            if let Some(plan) = planned(&house, example)
                .await
                .filter(|plan| plan.risk() <= role.most)
            {
                takes.push((example, named_in(&plan.needs)));
            }
        }
        for privilege in &role.privileges {
            let candidates = takes.iter().filter(|(_, taken)| taken.contains(privilege));
            let candidates = candidates.map(|(example, _)| *example);
            if !is_missed(&role, privilege, &house).await
                && !fails_without(&role, privilege, candidates).await
            {
                needless.push(format!("{}: {privilege}", role.label()));
            }
        }
    }
    assert!(needless.is_empty(), "{}", needless.join("\n"));
}

/// Every privilege in a tree.
fn named_in(needs: &Needs) -> BTreeSet<String> {
    match needs {
        Needs::Nothing => BTreeSet::new(),
        Needs::Has { privilege, .. } => [privilege.clone()].into(),
        Needs::All(parts) | Needs::Any(parts) => parts.iter().flat_map(named_in).collect(),
    }
}

async fn fails_without(
    role: &Role,
    privilege: &str,
    candidates: impl Iterator<Item = Call>,
) -> bool {
    let less = role.without(privilege);
    for example in candidates {
        let house = role.house().await;
        let engine = house.with_token(&less.token(&house), trusted());
        if let Some(why) = refused(&engine, example).await
            && why.contains(privilege)
        {
            let house = role.house().await;
            let engine = house.with_token(&role.token(&house), trusted());
            if refused(&engine, example).await.is_none() {
                return true;
            }
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
    for example in looks(role).filter(|(tool, _)| declares(*tool)) {
        if lacks(&engines, example).await.contains(privilege) {
            return true;
        }
    }
    false
}

/// The privileges that the first of them says it misses, and the second does not.
async fn lacks(engines: &[Arc<Engine>; 2], (tool, args): Call) -> BTreeSet<String> {
    let mut said = Vec::new();
    for engine in engines {
        let answer = done(engine.call(call(tool.spec().name, args), &Nobody).await);
        said.push(answer.map_or_else(|fault| fault.to_string(), |answer| answer.text));
    }
    let lacks = &named(&said[0]) - &named(&said[1]);
    lacks.into_iter().map(str::to_owned).collect()
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

/// What it lacks, and says so, is only what would let it do worse than it is for.
#[tokio::test]
async fn a_role_shows_all_that_it_can_show() {
    let mut wrong = Vec::new();
    for role in made_roles::all() {
        let house = role.house().await;
        let known = known(&house).await;
        let engine = house.with_token(&role.token(&house), trusted());
        let engines = [engine, Arc::clone(&house.engine)];
        for (tool, args) in looks(&role) {
            let worse = left_out(&role, tool, &known);
            let is_worse = |it: &String| match role.most {
                Risk::Read => !only_looks(it),
                _ => worse.contains(it),
            };
            let lacks = lacks(&engines, (tool, args)).await.into_iter();
            let needless: Vec<_> = lacks.filter(|it| !is_worse(it)).collect();
            if !needless.is_empty() {
                let (label, name) = (role.label(), tool.spec().name);
                wrong.push(format!("{label}: {name} {args} lacks {needless:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
