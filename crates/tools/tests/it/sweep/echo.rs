//! Faults and the audit trail repeat at most 200 characters of an argument.

use serde_json::Value;
use tools::engine::Call;
use tools::policy::{Mode, Verdict};

use crate::house::{CALLER, Nobody, object};
use crate::ruled::{rule, with_rules};

const LETTER: char = '@';
const MOST: usize = 200;

/// The longest run of the letter in a text.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != LETTER);
    runs.map(|run| run.chars().count()).max().unwrap_or(0)
}

/// The names of the arguments that a tool takes.
fn names(tool: &dyn tools::tool::Tool) -> Vec<String> {
    let schema = tool.input();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(|them| them.keys().cloned())
        .collect()
}

#[tokio::test]
async fn long_argument_is_neither_echoed_nor_kept_whole() {
    // Every change is refused, after it was planned.
    let house = with_rules(Mode::Trusted, vec![rule(Verdict::Deny)]).await;
    let long = LETTER.to_string().repeat(2_000);
    let mut wrong = Vec::new();
    for (tool, args) in super::examples() {
        let tool_name = tool.spec().name;
        let mut calls = Vec::new();
        for name in names(tool) {
            let mut arguments = object(args);
            arguments.insert(name, long.clone().into());
            calls.push(arguments);
        }
        let mut unknown = object(args);
        unknown.insert(long.clone(), 1.into());
        calls.push(unknown);
        for arguments in calls {
            let call = Call::new(tool_name, arguments.clone(), CALLER);
            if let Err(fault) = house.engine.call(call, &Nobody).await
                && longest_run(&fault.to_string()) > MOST
            {
                wrong.push(format!("{tool_name}: {fault}"));
            }
        }
    }
    let store = house.engine.store().await.unwrap();
    let trail = store.audit_trail(1_000_000).await.unwrap();
    assert!(trail.len() > 1_000 || !super::all_of_them());
    for link in trail {
        let entry = serde_json::to_string(&link.entry).unwrap();
        if longest_run(&entry) > MOST {
            wrong.push(entry);
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}
