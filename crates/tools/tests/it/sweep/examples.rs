//! Every example works on the demo world, is read back, and answers as its schema says.

use serde_json::Value;
use tools::policy::Mode;
use tools::spec::{Risk, Toolset};
use tools::tool::Ran;

use crate::house::{House, object};

/// How many tools the core may have.
const MOST_TOOLS: usize = 25;

#[tokio::test]
async fn an_example_applies_and_its_answer_matches_its_schema() {
    for (tool, args) in super::examples() {
        let house = House::in_mode(Mode::Trusted).await;
        let name = tool.spec().name;
        let answer = house
            .call(name, args)
            .await
            .unwrap_or_else(|fault| panic!("{name} {args}: {fault}"));
        let schema = Value::Object(house.engine.registry().describe(tool).output.clone());
        let data = Value::Object(answer.data);
        if let Err(error) = jsonschema::validate(&schema, &data) {
            panic!("{name} {args}: {error} in {data:#}");
        }
        assert!(!answer.text.trim().is_empty(), "{name} says nothing");
        if tool.spec().risk > Risk::Read {
            assert_eq!(data["status"], "applied", "{name} {args}: {data:#}");
            for step in data["steps"].as_array().unwrap() {
                assert_eq!(step["state"], "done", "{name} {args}: {data:#}");
            }
        }
    }
}

/// What a tool declares is the worst that it does.
#[tokio::test]
async fn no_example_does_worse_than_its_tool_declares() {
    let house = House::new().await;
    for (tool, args) in super::changes() {
        let (name, declared) = (tool.spec().name, tool.spec().risk);
        match tool.run(object(args), &house.context()).await {
            Ok(Ran::Plan(plan)) => assert!(plan.risk() <= declared, "{name} {args}"),
            Ok(Ran::Answer(_)) => panic!("{name} {args}: no plan"),
            Err(fault) => panic!("{name} {args}: {fault}"),
        }
    }
}

/// A default answer, text and structured together, stays small. (About four characters are a token.)
#[tokio::test]
async fn a_default_answer_is_small() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in super::examples().filter(|(tool, _)| tool.spec().risk == Risk::Read) {
        let answer = house.call(tool.spec().name, args).await.unwrap();
        let size = answer.text.len() + serde_json::to_string(&answer.data).unwrap().len();
        assert!(
            size < 8_000,
            "{} {args}: {size} characters",
            tool.spec().name
        );
    }
}

/// What a list of tools costs: a model sees names, descriptions and arguments; some clients pass output schemas on too.
/// (About four characters are a token.)
fn tokens(toolsets: &[Toolset]) -> (usize, usize, usize) {
    let registry = tools::registry::Registry::new(toolsets, Risk::Grant, Vec::new());
    let (mut seen, mut outputs, mut count) = (0, 0, 0);
    for tool in registry.tools() {
        let described = registry.describe(tool);
        seen += described.name.len()
            + described.description.len()
            + serde_json::to_string(&described.input).unwrap().len();
        outputs += serde_json::to_string(&described.output).unwrap().len();
        count += 1;
    }
    let (seen, all) = (seen / 4, (seen + outputs) / 4);
    eprintln!("{count} tools, about {seen} tokens as a model sees them, {all} with output schemas");
    (count, seen, all)
}

#[test]
fn the_list_of_tools_is_small() {
    let (count, seen, all) = tokens(&[Toolset::Core]);
    assert!(count <= MOST_TOOLS);
    assert!(seen <= 10_000, "{seen} tokens");
    assert!(all <= 13_000, "{all} tokens");
}

#[test]
fn the_lean_list_is_tiny() {
    let (count, seen, _) = tokens(&[Toolset::Lean]);
    assert_eq!(count, 3);
    assert!(seen <= 700, "{seen} tokens");
}

#[test]
fn the_list_of_all_tools_is_bounded() {
    let (_, seen, _) = tokens(Toolset::ALL);
    assert!(seen <= 75_000, "{seen} tokens");
}
