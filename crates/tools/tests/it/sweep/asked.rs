//! Who is asked sees what they are asked about: everything that would be sent, whichever tool planned it.

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
