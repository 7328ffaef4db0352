//! A plan's privilege tree is exact: a token with just these privileges succeeds, and without any one of them the
//! answer names what is missing.

use std::collections::BTreeMap;

use tools::engine::Engine;
use tools::plan::{Needs, Plan};
use tools::policy::{Mode, Policy};
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use crate::house::{Furnish, House, Nobody, call, done, object};

/// The plan of an example, as root sees it.
async fn plan(house: &House, tool: &'static dyn Tool, args: &str) -> Plan {
    let context = house.context();
    match tool.run(object(args), &context).await {
        Ok(Ran::Plan(plan)) => *plan,
        Ok(Ran::Answer(_)) => panic!("{} gave an answer", tool.spec().name),
        Err(fault) => panic!("{} {args}: {fault}", tool.spec().name),
    }
}

/// One way to satisfy a tree: every branch of an `All`, the first of an `Any`.
fn leaves(needs: &Needs, into: &mut Vec<(String, String)>) {
    match needs {
        Needs::Nothing => {}
        Needs::Has { privilege, path } => into.push((path.clone(), privilege.clone())),
        Needs::All(parts) => parts.iter().for_each(|part| leaves(part, into)),
        Needs::Any(parts) => leaves(&parts[0], into),
    }
}

/// A token that holds exactly these: it is not separated from its user, so what the user holds counts.
fn token(house: &House, held: &[(String, String)]) -> (String, String, String) {
    let mut by_path: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, privilege) in held {
        by_path.entry(path).or_default().push(privilege);
    }
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "narrow-secret");
        for (path, privileges) in by_path {
            world.grant("narrow@pve", path, &privileges);
        }
    });
    (
        "narrow@pve".to_owned(),
        "t".to_owned(),
        "narrow-secret".to_owned(),
    )
}

fn trusted() -> Policy {
    Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    }
}

async fn attempt(
    engine: &std::sync::Arc<Engine>,
    tool: &dyn Tool,
    args: &str,
) -> Result<tools::tool::Rendered, tools::fault::Fault> {
    done(engine.call(call(tool.spec().name, args), &Nobody).await)
}

#[tokio::test]
async fn exactly_the_tree_is_enough() {
    for (tool, args) in super::changes() {
        let house = House::furnished(Furnish::default()).await;
        let mut held = Vec::new();
        leaves(&plan(&house, tool, args).await.needs, &mut held);
        let engine = house.with_token(&token(&house, &held), trusted());
        let answer = attempt(&engine, tool, args)
            .await
            .unwrap_or_else(|fault| panic!("{} {args} with {held:?}: {fault}", tool.spec().name));
        assert_eq!(
            answer.data["status"],
            "applied",
            "{} {args}: {}",
            tool.spec().name,
            answer.text
        );
    }
}

#[tokio::test]
async fn without_any_one_of_them_the_gap_is_named() {
    for (tool, args) in super::changes() {
        let house = House::furnished(Furnish::default()).await;
        let mut all = Vec::new();
        let planned = plan(&house, tool, args).await;
        let plan_steps = planned.steps.len();
        leaves(&planned.needs, &mut all);
        for missing in 0..all.len() {
            let house = House::furnished(Furnish::default()).await;
            let mut held = all.clone();
            let (path, privilege) = held.remove(missing);
            let engine = house.with_token(&token(&house, &held), trusted());
            let said = match attempt(&engine, tool, args).await {
                Ok(answer) => {
                    assert_ne!(
                        answer.data["status"],
                        "applied",
                        "{} {args} went through without {privilege} on {path}",
                        tool.spec().name
                    );
                    answer.text
                }
                Err(fault) => fault.to_string(),
            };
            // Several steps: nothing at all may happen. One step: PVE itself refuses it.
            if plan_steps > 1 {
                assert_eq!(
                    house.writes(),
                    [""; 0],
                    "{} {args} went half-way",
                    tool.spec().name
                );
            }
            assert!(
                said.contains(&privilege) && said.contains(&path),
                "{} {args} without {privilege} on {path}: {said}",
                tool.spec().name
            );
        }
    }
}

/// What reads take; one of these is named where it is missing.
const NAMED: &[&str] = &[
    ".Audit",
    "Sys.Modify",
    "Sys.Syslog",
    "SDN.Allocate",
    "User.Modify",
    "Realm.Allocate",
    "Datastore.Allocate",
];

/// A reading tool never hides something for one missing privilege without naming it.
#[tokio::test]
async fn a_read_names_the_gap() {
    for (tool, args) in super::examples().filter(|(tool, _)| tool.spec().risk == Risk::Read) {
        let house = House::furnished(Furnish::default()).await;
        let engine = house.with_token(&token(&house, &[]), trusted());
        let said = match attempt(&engine, tool, args).await {
            Ok(answer) => answer.text,
            Err(fault) => fault.to_string(),
        };
        let names_one = NAMED.iter().any(|privilege| said.contains(privilege));
        let all = match attempt(&house.engine, tool, args).await {
            Ok(answer) => answer.text,
            Err(fault) => fault.to_string(),
        };
        assert!(
            names_one || said == all,
            "{} {args}: {said}",
            tool.spec().name
        );
    }
}
