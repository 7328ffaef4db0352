//! Values that are the same in every run. A shape alone does not tell whether they are right.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The keys whose values are compared. Under most others are figures, moments, and names that each run gives anew.
const STABLE: &[&str] = &[
    "agent",
    "boot",
    "ciuser",
    "comment",
    "description",
    "enable",
    "features",
    "hostname",
    "lock",
    "macro",
    "nameserver",
    "onboot",
    "ostype",
    "poolid",
    "protection",
    "roleid",
    "schedule",
    "scsi0",
    "scsihw",
    "searchdomain",
    "tags",
];

/// Values by where they stand; elements of a list share one place.
type Found = BTreeMap<String, BTreeSet<String>>;

/// Writes down how `actual` differs. With `partial` it may have more (the recording was cut).
pub fn differences(wanted: &Value, actual: &Value, partial: bool) -> Vec<String> {
    let (wanted, got) = (found(wanted), found(actual));
    let mut differences = Vec::new();
    for (at, wanted) in &wanted {
        let got = got.get(at).cloned().unwrap_or_default();
        let missing = wanted.difference(&got);
        differences.extend(missing.map(|value| format!("{at} is not {value}")));
        let extra = got.difference(wanted).filter(|_| !partial);
        differences.extend(extra.map(|value| format!("{at} is {value}")));
    }
    differences
}

fn found(value: &Value) -> Found {
    let mut found = Found::new();
    collect(value, "", &mut found);
    found
}

fn collect(value: &Value, at: &str, into: &mut Found) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let at = format!("{at}.{key}");
                if STABLE.contains(&key.as_str()) && !value.is_object() && !value.is_array() {
                    into.entry(at).or_default().insert(value.to_string());
                } else {
                    collect(value, &at, into);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, &format!("{at}[]"), into);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_values_under_known_keys_count() {
        let wanted = json!({"data": {"description": "dd\n", "uptime": 7}});
        let same = json!({"data": {"description": "dd\n", "uptime": 8}});
        assert!(differences(&wanted, &same, false).is_empty());
        let other = json!({"data": {"description": "dd", "uptime": 7}});
        assert_eq!(
            differences(&wanted, &other, false),
            [
                r#".data.description is not "dd\n""#,
                r#".data.description is "dd""#
            ]
        );
    }

    #[test]
    fn lists_compare_in_any_order_and_may_have_been_cut() {
        let wanted = json!([{"macro": "SSH"}, {"macro": "DNS"}]);
        let same = json!([{"macro": "DNS"}, {"macro": "SSH"}]);
        assert!(differences(&wanted, &same, false).is_empty());
        let more = json!([{"macro": "DNS"}, {"macro": "SSH"}, {"macro": "Web"}]);
        assert!(differences(&wanted, &more, true).is_empty());
        assert_eq!(differences(&wanted, &more, false).len(), 1);
        assert_eq!(
            differences(&wanted, &json!([{"macro": "DNS"}]), true),
            [r#"[].macro is not "SSH""#]
        );
    }
}
