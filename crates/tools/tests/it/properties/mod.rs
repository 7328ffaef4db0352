//! What holds for every plan there could be, and not only for those that tools make.

mod plans;

use proptest::prelude::*;
use serde_json::Value;
use tools::plan::Plan;

use plans::plan;

fn stored(plan: &Plan) -> Value {
    serde_json::to_value(plan).unwrap()
}

/// Every value that differs from this one in a single place: a leaf that is another, an item more, an item less.
fn neighbours(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![Value::from("x"), Value::from(1)],
        Value::Bool(flag) => vec![Value::from(!flag)],
        Value::Number(number) => match number.as_u64() {
            Some(number) => vec![Value::from(number ^ 1)],
            None => vec![Value::from(number.as_f64().unwrap_or_default() + 1.0)],
        },
        Value::String(text) => vec![Value::from(format!("{text}x")), Value::from("")],
        Value::Array(items) => {
            let mut others: Vec<Value> = Vec::new();
            for (at, item) in items.iter().enumerate() {
                let less = items[..at].iter().chain(&items[at + 1..]);
                others.push(less.cloned().collect());
                let more = items[..at].iter().chain([item]).chain(&items[at..]);
                others.push(more.cloned().collect());
                others.extend(neighbours(item).into_iter().map(|other| {
                    let mut items = items.clone();
                    items[at] = other;
                    Value::Array(items)
                }));
            }
            others
        }
        Value::Object(fields) => {
            let mut others = Vec::new();
            for (name, field) in fields {
                let mut less = fields.clone();
                less.remove(name);
                others.push(Value::Object(less));
                others.extend(neighbours(field).into_iter().map(|other| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), other);
                    Value::Object(fields)
                }));
            }
            others
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_plan_comes_back_from_the_store_as_it_was(plan in plan()) {
        let text = serde_json::to_string(&plan).unwrap();
        let back: Plan = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(stored(&back), stored(&plan));
        prop_assert_eq!(back.digest(), plan.digest());
    }

    /// Whatever still reads as a plan, and as another one, has another digest.
    #[test]
    fn any_change_of_a_plan_is_another_digest(plan in plan()) {
        let (whole, digest) = (stored(&plan), plan.digest());
        let mut other_plans = 0;
        for other in neighbours(&whole) {
            let Ok(plan) = serde_json::from_value::<Plan>(other.clone()) else {
                continue;
            };
            if stored(&plan) != whole {
                other_plans += 1;
                prop_assert_ne!(plan.digest(), digest.clone(), "{}", other);
            }
        }
        prop_assert!(other_plans >= 8, "{other_plans} changes of {whole}");
    }

    #[test]
    fn secrets_are_no_part_of_a_plan(plan in plan(), one in "[a-z0-9]{12,20}", two in "[a-z0-9]{12,20}") {
        let with = |secret: &str| {
            let mut plan = plan.clone();
            let hole = plan.secret("password", secret.into());
            plan.steps[0].says = format!("fill {hole}");
            plan.secret_address(&format!("https://joe:{secret}@host/x.iso"));
            plan
        };
        let (first, second) = (with(&one), with(&two));
        prop_assert_eq!(first.digest(), second.digest());
        for shown in [serde_json::to_string(&first).unwrap(), format!("{first:?}"), format!("{first:#?}")] {
            prop_assert!(!shown.contains(&one), "{}", shown);
        }
    }
}
