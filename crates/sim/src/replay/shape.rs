//! The shape of a JSON value: types and keys, without values. Elements of a list share one shape, the union of theirs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The scalar types seen here: `null`, `bool`, `number`, `text`.
    scalars: BTreeSet<&'static str>,
    /// The keys, if there are objects here.
    object: Option<BTreeMap<String, Shape>>,
    /// The shape of the elements, if there are lists here.
    list: Option<Box<Shape>>,
}

impl Shape {
    /// The shape of a value.
    pub fn of(value: &Value) -> Self {
        let scalar = |name| Self {
            scalars: [name].into(),
            ..Self::default()
        };
        match value {
            Value::Null => scalar("null"),
            Value::Bool(_) => scalar("bool"),
            Value::Number(_) => scalar("number"),
            Value::String(_) => scalar("text"),
            Value::Array(items) => {
                let elements = items
                    .iter()
                    .map(Self::of)
                    .reduce(Self::union)
                    .unwrap_or_default();
                Self {
                    list: Some(Box::new(elements)),
                    ..Self::default()
                }
            }
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::of(value)));
                Self {
                    object: Some(fields.collect()),
                    ..Self::default()
                }
            }
        }
    }

    fn union(mut self, other: Self) -> Self {
        self.scalars.extend(other.scalars);
        self.object = match (self.object, other.object) {
            (Some(mut mine), Some(theirs)) => {
                for (key, shape) in theirs {
                    let known = mine.remove(&key).unwrap_or_default();
                    mine.insert(key, known.union(shape));
                }
                Some(mine)
            }
            (mine, theirs) => mine.or(theirs),
        };
        self.list = match (self.list, other.list) {
            (Some(mine), Some(theirs)) => Some(Box::new(mine.union(*theirs))),
            (mine, theirs) => mine.or(theirs),
        };
        self
    }

    /// Writes down how `actual` differs. With `partial` it may have more keys (the recording was cut).
    pub fn differences(&self, actual: &Self, partial: bool) -> Vec<String> {
        let mut found = Vec::new();
        self.compare(actual, partial, "", &mut found);
        found
    }

    fn compare(&self, actual: &Self, partial: bool, at: &str, found: &mut Vec<String>) {
        let (wanted, got) = (self.describe(), actual.describe());
        if wanted != got {
            found.push(format!(
                "{}: {got} instead of {wanted}",
                if at.is_empty() { "body" } else { at }
            ));
            return;
        }
        if let (Some(wanted), Some(got)) = (&self.object, &actual.object) {
            for (key, shape) in wanted {
                match got.get(key) {
                    Some(other) => shape.compare(other, partial, &format!("{at}.{key}"), found),
                    None => found.push(format!("{at}.{key} is missing")),
                }
            }
            if !partial {
                let extra = got.keys().filter(|key| !wanted.contains_key(*key));
                found.extend(extra.map(|key| format!("{at}.{key} is too much")));
            }
        }
        if let (Some(wanted), Some(got)) = (&self.list, &actual.list) {
            wanted.compare(got, partial, &format!("{at}[]"), found);
        }
    }

    fn describe(&self) -> String {
        let mut names: Vec<&str> = self.scalars.iter().copied().collect();
        names.extend(self.object.as_ref().map(|_| "object"));
        names.extend(self.list.as_ref().map(|_| "list"));
        if names.is_empty() {
            "nothing".to_owned()
        } else {
            names.join("|")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn differences(wanted: &Value, got: &Value) -> Vec<String> {
        Shape::of(wanted).differences(&Shape::of(got), false)
    }

    #[test]
    fn values_do_not_count_types_do() {
        assert!(differences(&json!({"a": 1, "b": "x"}), &json!({"b": "y", "a": 2.5})).is_empty());
        assert_eq!(
            differences(&json!({"a": 1}), &json!({"a": "1"})),
            [".a: text instead of number"]
        );
        assert_eq!(
            differences(&json!({"a": 1}), &json!({"b": 1})),
            [".a is missing", ".b is too much"]
        );
    }

    #[test]
    fn lists_compare_by_the_union_of_their_elements() {
        let wanted = json!([{"a": 1}, {"a": 2, "b": 1}]);
        assert!(differences(&wanted, &json!([{"a": 1, "b": 2}])).is_empty());
        assert_eq!(
            differences(&wanted, &json!([{"a": 1}])),
            ["[].b is missing"]
        );
        assert_eq!(
            differences(&wanted, &json!([])),
            ["[]: nothing instead of object"]
        );
    }
}
