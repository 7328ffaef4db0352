//! Every argument of every tool says what belongs there when something else was sent, and nothing is sent on.

use serde_json::{Value, json};
use tools::fault::Kind;
use tools::policy::Mode;

use crate::house::{House, object};

/// What a reader who knows no Rust would stumble over.
const JARGON: &[&str] = &[
    "u8", "u16", "u32", "u64", "usize", "i32", "i64", "isize", "f32", "f64", "struct", "enum",
    "untagged", "variant", "sequence", "map", "Vec", "Option",
];

/// Values that an argument of this type is never.
fn never(kind: &str) -> Vec<Value> {
    match kind {
        "integer" => vec![
            json!("many"),
            json!([1]),
            json!({"a": 1}),
            json!(true),
            // Not -1, which callers of other servers send for what they leave out.
            json!(-2),
            json!(2.9),
            json!(1e30),
        ],
        "boolean" => vec![json!("maybe"), json!(7), json!([true]), json!({"a": 1})],
        "array" => vec![json!(7), json!(true), json!({"a": 1}), json!([[1]])],
        "object" => vec![json!("x"), json!(7), json!(true), json!([1])],
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn a_wrong_value_is_answered_in_words_and_goes_nowhere() {
    let house = House::in_mode(Mode::Trusted).await;
    let registry = house.engine.registry();
    let mut tried = 0;
    for tool in registry.tools() {
        let spec = tool.spec();
        let described = registry.describe(tool);
        let properties = described.input["properties"].as_object().unwrap();
        for (name, property) in properties {
            let mut values = never(property["type"].as_str().unwrap_or_default());
            if property["enum"].is_array() {
                values.push(json!("wobbling"));
            }
            for value in values {
                let mut args = object(spec.examples[0].args);
                args.insert(name.clone(), value);
                let args = Value::Object(args).to_string();
                let case = format!("{} {args}", spec.name);
                let fault = match house.call(spec.name, &args).await {
                    Ok(answer) => panic!("{case}: {}", answer.text),
                    Err(fault) => fault,
                };
                assert_eq!(fault.kind, Kind::BadInput, "{case}: {fault}");
                assert!(
                    fault.message.contains(&format!("`{name}")),
                    "{case}: {fault}"
                );
                assert!(fault.hint.is_some(), "{case}: {fault}");
                let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let text = fault.to_string();
                let mut words = text.split(|c| !is_letter(c));
                let jargon = words.find(|word| JARGON.contains(word));
                assert_eq!(jargon, None, "{case}: {fault}");
                tried += 1;
            }
        }
    }
    assert!(tried > 300, "{tried}");
    assert!(
        house.sim.requests().is_empty(),
        "something was asked of PVE"
    );
}
