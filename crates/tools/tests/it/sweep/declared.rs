//! What is declared is legal, complete, and reaches a model as its snapshot shows.

use serde_json::{Value, json};
use tools::registry::{self, INHERITED, Registry, VERBS};
use tools::schema;
use tools::spec::{Risk, Toolset};

/// Toolsets of few tools, which models have to tell apart without knowing PVE's API. The others follow it.
const FEW: &[Toolset] = &[Toolset::Core, Toolset::Ops, Toolset::Console];

fn registry() -> Registry {
    Registry::new(Toolset::ALL, Risk::Grant, Vec::new())
}

#[test]
fn names_are_verb_and_noun() {
    for tool in registry::all() {
        let name = tool.spec().name;
        let verb = name.split('_').next().unwrap();
        let is_ours = VERBS.contains(&verb) != INHERITED.contains(&name);
        assert!(is_ours, "{name} begins with no verb of ours");
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{name} is not snake_case"
        );
        assert!(
            name.contains("proxmox") || name.contains("vm") || !FEW.contains(&tool.spec().toolset),
            "{name} does not say what it is about"
        );
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = registry::all().map(|tool| tool.spec().name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn schemas_are_plain_and_every_argument_is_described() {
    for tool in registry().tools() {
        let described = registry().describe(tool).into_owned();
        for (which, schema) in [("input", &described.input), ("output", &described.output)] {
            let place = format!("{} {which}", described.name);
            let schema = Value::Object(schema.clone());
            assert_eq!(schema["type"], "object", "{place}");
            assert!(
                which == "input"
                    || tool.relays()
                    || !schema["properties"].as_object().unwrap().is_empty(),
                "{place} says nothing"
            );
            plain(&schema, &place);
            if which == "input" {
                explained(&schema, &place);
            }
        }
    }
}

/// No reference, no combinator, no null.
fn plain(schema: &Value, place: &str) {
    for noise in [
        "$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "format", "title", "$schema",
    ] {
        assert!(
            schema
                .get(noise)
                .is_none_or(|value| !value.is_string() && !value.is_array()),
            "{noise} in {place}"
        );
    }
    assert!(!schema["type"].is_array(), "several types in {place}");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        plain(property, &format!("{place}.{name}"));
    }
    if let Some(items) = schema.get("items") {
        plain(items, &format!("{place}[]"));
    }
}

/// A description on every property.
fn explained(schema: &Value, place: &str) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        let text = property["description"].as_str().unwrap_or_default();
        assert!(
            text.len() > 5 && text.ends_with(['.', '"']),
            "{place} is not described: {text:?}"
        );
        explained(property, &place);
    }
    if let Some(items) = schema.get("items") {
        explained(items, &format!("{place}[]"));
    }
}

#[test]
fn descriptions_say_what_when_and_what_else() {
    for tool in registry().tools() {
        let described = registry().describe(tool).into_owned();
        let text = &described.description;
        let words = text.split_whitespace().count();
        let least = if FEW.contains(&tool.spec().toolset) {
            40
        } else {
            25
        };
        assert!(
            (least..=170).contains(&words),
            "{}: {words} words",
            described.name
        );
        let other = registry::all()
            .any(|other| other.spec().name != described.name && text.contains(other.spec().name));
        assert!(other, "{} names no alternative", described.name);
        if described.risk > Risk::Read {
            assert!(
                text.contains("Needs "),
                "{} does not say which privileges it needs",
                described.name
            );
            assert!(
                text.to_lowercase().contains("undo"),
                "{} does not say how to undo it",
                described.name
            );
        }
        for filler in ["simply", "easily", "powerful", "just "] {
            assert!(
                !text.contains(filler),
                "{} has filler: {filler}",
                described.name
            );
        }
    }
}

#[test]
fn examples_parse_against_the_declared_schema() {
    for (tool, args) in super::examples() {
        let described = registry().describe(tool).into_owned();
        let args: Value = serde_json::from_str(args).unwrap();
        schema::known(args.as_object().unwrap(), &described.input).unwrap();
        let schema = Value::Object(described.input);
        assert!(
            jsonschema::is_valid(&schema, &args),
            "{} {args}",
            described.name
        );
    }
}

/// A change of what a model sees shows in the diff, one file per tool.
#[test]
fn a_snapshot_per_tool() {
    let registry = registry();
    for tool in registry.tools() {
        let described = registry.describe(tool);
        insta::assert_json_snapshot!(
            described.name,
            json!({
                "name": described.name,
                "title": described.title,
                "risk": described.risk,
                "idempotent": described.idempotent,
                "description": described.description,
                "input": described.input,
                "output": described.output,
            })
        );
    }
}
