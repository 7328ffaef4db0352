//! Who is asked sees what they are asked about: everything that would be sent, whichever tool planned it.

use serde_json::{Map, Value};
use tools::clean::{is_address_at, is_secret_at};
use tools::plan::Plan;
use tools::policy::{Policy, Rule, Verdict};
use tools::tool::Ran;

use crate::house::{Furnish, House, Person, object};

/// A house in which every change asks.
async fn asking() -> House {
    let everything = Rule {
        verdict: Some(Verdict::Ask),
        ..Rule::default()
    };
    let policy = Policy {
        rules: vec![everything],
        ..Policy::default()
    };
    House::furnished(Furnish {
        policy,
        ..Furnish::default()
    })
    .await
}

#[tokio::test]
async fn every_value_that_is_sent_is_in_the_question() {
    let house = asking().await;
    let mut missing = Vec::new();
    let mut values = 0;
    for (tool, args) in super::changes() {
        let name = tool.spec().name;
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &house.context()).await else {
            panic!("{name} {args} gave no plan");
        };
        if plan.steps.is_empty() {
            continue;
        }
        let person = Person::saying_no();
        let _ = house.ask(name, args, &person).await;
        let asked = person.asked.lock().unwrap();
        let [question] = asked.as_slice() else {
            panic!("{name} {args}: asked {} times", asked.len());
        };
        let text = tools::tool::Answer::text(&question.outcome);
        let shown = unescaped(&text);
        missing.extend(hidden(&plan).map(|it| format!("{name} {args}: {it} is hidden")));
        for request in plan.requests() {
            for (key, value) in &request.params {
                let sent = match value {
                    pve::Value::Hole(hole) => format!("<{hole}>"),
                    other => other.to_string(),
                };
                values += 1;
                if !holds(&shown, &sent) {
                    missing.push(format!("{name} {args}: {key}={sent}\n{text}"));
                }
            }
        }
    }
    eprintln!("{values} values were looked for");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert_eq!(house.writes(), [""; 0]);
}

/// What looks like a secret and is none hides nothing: each text of each example is tried with something like a password in
/// it.
#[tokio::test]
async fn only_what_is_declared_a_secret_is_hidden() {
    const FAKE: &str = " #://a:b@c";
    let house = asking().await;
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (tool, args) in super::changes() {
        let args = object(args);
        for at in 0..texts(&mut args.clone()).len() {
            let mut faked = args.clone();
            texts(&mut faked)[at].push_str(FAKE);
            // Most are refused: then nothing is asked.
            let Ok(Ran::Plan(plan)) = tool.run(faked, &house.context()).await else {
                continue;
            };
            tried += 1;
            let name = tool.spec().name;
            wrong.extend(hidden(&plan).map(|it| format!("{name}: {it}")));
        }
    }
    eprintln!("{tried} fakes were planned with");
    assert!(tried > 100, "{tried}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The parameters of a plan that are hidden and are neither a secret nor an address, by what was reviewed.
fn hidden(plan: &Plan) -> impl Iterator<Item = String> {
    plan.requests().flat_map(|request| {
        let params = request.params.iter();
        let hidden = params.filter(|(key, value)| {
            let may_be = is_secret_at(key, &request.path) || is_address_at(key, &request.path);
            matches!(value, pve::Value::Hole(_)) && !may_be
        });
        let named = hidden.map(|(key, _)| format!("{key} of {}", request.path));
        named.collect::<Vec<_>>()
    })
}

/// All texts among some arguments.
fn texts(args: &mut Map<String, Value>) -> Vec<&mut String> {
    fn of(value: &mut Value) -> Vec<&mut String> {
        match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter_mut().flat_map(of).collect(),
            Value::Object(fields) => texts(fields),
            _ => Vec::new(),
        }
    }
    args.iter_mut().flat_map(|(_, value)| of(value)).collect()
}

/// Whether the words of a value stand there, one after the other.
fn holds(text: &str, value: &str) -> bool {
    let mut rest = text;
    value.split_whitespace().all(|word| match rest.find(word) {
        Some(at) => {
            rest = &rest[at + word.len()..];
            true
        }
        None => false,
    })
}

fn unescaped(text: &str) -> String {
    let text = text.replace("\\n", "\n").replace("\\\"", "\"");
    text.replace("\\\\", "\\")
}
