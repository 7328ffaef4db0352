//! tools/list, from what the registry says of its tools.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tools::registry::{Described, Registry};
use tools::rights::Unlisted;
use tools::spec::{Example, Risk};

/// `_meta` entry with calls that work on the demo: `[{"ask": …, "args": {…}}]`. Clients do not show it to models.
const EXAMPLES: &str = "oxmox/examples";
/// `_meta` entry with the worst risk of a tool, finer than the annotations.
const RISK: &str = "oxmox/risk";

/// The tools as clients see them, in the registry's order.
pub(super) fn tools(registry: &Registry) -> Vec<Tool> {
    registry
        .tools()
        .map(|tool| listed(registry.describe(tool).into_owned(), tool.spec().examples))
        .collect()
}

/// What tools/list answers, as JSON: `{"tools": […]}`.
pub fn tools_json(registry: &Registry, unlisted: &Unlisted) -> Value {
    let mut tools = tools(registry);
    tools.retain(|tool| !unlisted.contains_key(tool.name.as_ref()));
    json!({ "tools": tools })
}

fn listed(described: Described, examples: &[Example]) -> Tool {
    let annotations = annotations(&described);
    let mut meta = MetaObject::new();
    meta.insert(EXAMPLES.to_owned(), examples.iter().map(example).collect());
    meta.insert(RISK.to_owned(), json!(described.risk.word()));
    Tool::new(
        described.name,
        described.description,
        Arc::new(described.input),
    )
    .with_title(described.title)
    .with_raw_output_schema(Arc::new(described.output))
    .with_annotations(annotations)
    .with_meta(meta)
}

/// The hints by which clients decide what to let through without asking.
fn annotations(tool: &Described) -> ToolAnnotations {
    let reads = tool.risk == Risk::Read;
    // MCP knows no word for an interruption. What a running guest had in memory is lost too, so it counts as
    // destructive, and so does handing out power, because nothing bounds what is done with it.
    let destructive = tool.risk >= Risk::Disrupt;
    // The configured clusters are a closed world; a command inside a guest reaches whatever the guest reaches.
    let open_world = tool.risk == Risk::Grant;
    ToolAnnotations::from_raw(
        Some(tool.title.to_owned()),
        Some(reads),
        Some(destructive),
        Some(reads || tool.idempotent),
        Some(open_world),
    )
}

fn example(example: &Example) -> Value {
    let args: Value = serde_json::from_str(example.args).unwrap_or_else(|_| json!({}));
    json!({ "ask": example.ask, "args": args })
}

#[cfg(test)]
mod tests {
    use tools::spec::Toolset;

    use super::*;

    fn registry() -> Registry {
        Registry::new(Toolset::ALL, Risk::Grant, Vec::new())
    }

    #[test]
    fn hints_follow_the_risk() {
        for tool in tools(&registry()) {
            let meta = tool.meta.unwrap();
            let hints = tool.annotations.unwrap();
            let risk = meta[RISK].as_str().unwrap();
            let name = tool.name;
            assert_eq!(hints.read_only_hint, Some(risk == "read"), "{name}");
            let loses = ["disrupt", "destroy", "grant"].contains(&risk);
            assert_eq!(hints.destructive_hint, Some(loses), "{name}");
        }
    }

    #[test]
    fn every_tool_carries_calls_that_are_objects() {
        let listed = tools_json(&registry(), &Unlisted::new());
        let listed = listed["tools"].as_array().unwrap();
        assert!(!listed.is_empty());
        for tool in listed {
            let examples = tool["_meta"][EXAMPLES].as_array().unwrap();
            assert!(!examples.is_empty(), "{}", tool["name"]);
            for (shown, said) in examples.iter().zip(spec_examples(&tool["name"])) {
                let args: Value = serde_json::from_str(said.args).unwrap();
                assert!(args.is_object(), "{}: {}", tool["name"], said.args);
                assert_eq!(shown["args"], args);
            }
        }
    }

    fn spec_examples(name: &Value) -> &'static [Example] {
        let mut all = tools::registry::all();
        let tool = all.find(|tool| tool.spec().name == name).unwrap();
        tool.spec().examples
    }
}
