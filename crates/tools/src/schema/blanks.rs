//! What callers send that says nothing: other servers take "" and 0 and -1 for arguments that are left out, and agents that
//! know these send them.

use serde_json::Value;

use super::arguments::{bounds, meant};
use crate::tool::Object;

/// Takes out what callers of other servers send for "left out", where it can be no value: an empty text, but for the
/// arguments that it `empties`, and 0 or -1 out of bounds.
pub fn drop_blanks(args: &mut Object, schema: &Object, empties: &[&str]) {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    args.retain(|name, value| {
        let property = &schema["properties"][name];
        let blank = match value.as_str() {
            Some("") => !empties.contains(&name.as_str()),
            _ => is_no_number(value, property),
        };
        is_required(name) || !blank
    });
}

/// Whether it is a 0 or -1 that the argument cannot be.
fn is_no_number(value: &Value, property: &Value) -> bool {
    let number = meant(value, property).unwrap_or_else(|| value.clone());
    match (number.as_i64(), property["type"].as_str()) {
        (Some(number @ (0 | -1)), Some("integer" | "number")) => {
            !bounds(property).contains(&i128::from(number))
        }
        (Some(-1), Some("boolean")) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn what_can_be_no_value_counts_as_left_out() {
        let schema = json!({
            "properties": {
                "vmid": {"type": "integer"},
                "timeout": {"type": "integer", "minimum": 1},
                "skip": {"type": "integer", "minimum": 0},
                "any": {"type": "integer"},
                "rate": {"type": "number", "minimum": 1},
                "on": {"type": "boolean"},
                "pool": {"type": "string"},
                "comment": {"type": "string"},
            },
            "required": ["vmid"],
        });
        let schema = object(&schema);
        let left = |args: Value| {
            let mut args = object(&args);
            drop_blanks(&mut args, &schema, &["comment"]);
            Value::Object(args)
        };
        for nothing in [
            json!({"timeout": 0}),
            json!({"timeout": "0"}),
            json!({"timeout": ""}),
            json!({"timeout": -1, "skip": -1}),
            json!({"rate": 0.0}),
            json!({"on": -1}),
            json!({"pool": ""}),
        ] {
            assert_eq!(left(nothing.clone()), json!({}), "{nothing}");
        }
        let something = json!({
            "vmid": "", "timeout": -2, "skip": 0, "any": 0, "rate": 1, "on": 0, "pool": " ", "comment": "",
        });
        assert_eq!(left(something.clone()), something);
        assert_eq!(
            left(json!({"vmid": 0, "any": -1})),
            json!({"vmid": 0, "any": -1})
        );
    }
}
