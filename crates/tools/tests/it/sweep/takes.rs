//! A fault that lists what a tool takes lists what that tool takes, also where another one plans for it.

use serde_json::Value;
use tools::policy::Mode;
use tools::tool::Object;

use super::examples;
use crate::house::{House, object};

/// A text that no argument with rules of its own takes for a value.
const NONSENSE: &str = "/etc,\u{7f}=://?";

#[tokio::test]
async fn what_is_listed_is_what_the_tool_takes() {
    let house = House::in_mode(Mode::Trusted).await;
    let mut wrong = Vec::new();
    for (tool, args) in examples() {
        let (name, schema) = (tool.spec().name, tool.input());
        let takes = schema["properties"].as_object().unwrap();
        let texts = takes.iter().filter(|(_, it)| it["type"] == "string");
        for (argument, _) in texts {
            let mut args: Object = object(args);
            args.insert(argument.clone(), NONSENSE.into());
            let args = Value::Object(args).to_string();
            let Err(fault) = house.preview(name, &args).await else {
                continue;
            };
            let hint = fault.hint.unwrap_or_default();
            let listed = hint.strip_prefix("it takes ").unwrap_or_default();
            let names = listed.split(", ").map(|it| it.replace(" (optional)", ""));
            let strange = names.filter(|it| !it.is_empty() && !takes.contains_key(it));
            wrong.extend(strange.map(|it| format!("{name} {argument}: {it}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
