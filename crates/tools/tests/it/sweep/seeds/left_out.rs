//! What the other server has as a default that says nothing, "" or 0 or -1, says nothing when it is sent, too.

use serde_json::{Map, Value};
use tools::registry;
use tools::tool::{Ran, Tool};

use super::{Seed, seeds};
use crate::house::{House, object};

/// Where it says something, and what.
const MEANT: &[(&str, &str, &str)] = &[
    (
        "create_user",
        "expire",
        "0 is never, which PVE has for it too",
    ),
    (
        "create_user_token",
        "expire",
        "0 is never, which PVE has for it too",
    ),
    (
        "update_user",
        "email",
        "empty takes it away; nothing else does",
    ),
    (
        "update_user",
        "firstname",
        "empty takes it away; nothing else does",
    ),
    (
        "update_user",
        "lastname",
        "empty takes it away; nothing else does",
    ),
    ("update_user", "groups", "empty takes the user out of all"),
    (
        "update_user",
        "comment",
        "empty takes it away; nothing else does",
    ),
    (
        "update_group",
        "comment",
        "empty takes it away; nothing else does",
    ),
    (
        "update_pool",
        "comment",
        "empty takes it away; nothing else does",
    ),
    (
        "create_container",
        "cpulimit",
        "0 is no limit, which PVE has for it too",
    ),
];

/// What a call comes to: the requests of its plan, or that it is answered.
async fn comes_to(
    house: &House,
    tool: &dyn Tool,
    args: Map<String, Value>,
) -> Result<String, String> {
    let cx = house.context();
    let split = cx.registry.split(tool, args);
    let (args, extras) = split.map_err(|fault| fault.to_string())?;
    let cx = tools::context::Context {
        claim: extras.claim,
        ..cx
    };
    match tool.run(args, &cx).await {
        Ok(Ran::Plan(plan)) => Ok(format!("{:?}", plan.requests().collect::<Vec<_>>())),
        Ok(Ran::Answer(_)) => Ok("an answer".to_owned()),
        Err(fault) => Err(fault.to_string()),
    }
}

#[tokio::test]
async fn a_default_that_says_nothing_may_be_sent() {
    let Some(seeds) = seeds() else {
        return;
    };
    let house = House::logged_in(tools::policy::Mode::Trusted).await;
    let (mut wrong, mut sent, mut meant) = (Vec::new(), 0, Vec::new());
    for Seed {
        name, arguments, ..
    } in &seeds
    {
        let Some(tool) = registry::all().find(|tool| tool.spec().name == name) else {
            continue;
        };
        let input = Value::Object(tool.input());
        for example in tool.spec().examples {
            let plainly = object(example.args);
            let mut args = plainly.clone();
            for argument in arguments.iter().filter(|argument| argument.is_blank()) {
                let is_known = input["properties"].get(&argument.name).is_some();
                let is_meant =
                    |(tool, it, _): &&(&str, &str, &str)| tool == name && *it == argument.name;
                if MEANT.iter().any(|it| is_meant(&it)) {
                    meant.push((name.as_str(), argument.name.as_str()));
                } else if is_known && !args.contains_key(&argument.name) {
                    let blank = argument.default.clone().unwrap_or_default();
                    args.insert(argument.name.clone(), blank);
                    sent += 1;
                }
            }
            let (with, without) = (
                comes_to(&house, tool, args.clone()).await,
                comes_to(&house, tool, plainly).await,
            );
            if with != without {
                let args = Value::Object(args);
                wrong.push(format!("{name} {args}:\n  {with:?}\n  {without:?}"));
            }
        }
    }
    eprintln!("{sent} defaults that say nothing were sent");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let stale = MEANT
        .iter()
        .find(|(tool, name, _)| !meant.contains(&(*tool, *name)));
    assert_eq!(stale, None, "it is not there any more");
}
