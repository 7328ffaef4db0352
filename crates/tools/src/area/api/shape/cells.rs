//! Rows of a list and their values, small enough to stand beside each other.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tool::Object;
use crate::words;

/// Columns that are shown where nobody asked for any.
const COLUMNS: usize = 8;

/// A row of a list, whatever stands there.
pub(super) fn row(item: Value) -> Object {
    match item {
        Value::Object(fields) => fields,
        other => Object::from_iter([("value".to_owned(), other)]),
    }
}

/// The columns that were asked for, or those that most rows have.
pub(super) fn columns(rows: &[Object], fields: &[String]) -> Vec<String> {
    if !fields.is_empty() {
        return fields.to_vec();
    }
    let mut seen: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
    for (at, name) in rows.iter().take(50).flat_map(|row| row.keys().enumerate()) {
        let (count, first) = seen.entry(name).or_insert((0, at));
        *count += 1;
        *first = at.min(*first);
    }
    let mut names: Vec<_> = seen.into_iter().collect();
    names.sort_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
    let names = names.into_iter().take(COLUMNS);
    names.map(|(name, _)| name.clone()).collect()
}

/// What else the rows hold.
pub(super) fn others(rows: &[Object], columns: &[String]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().take(50).flat_map(|row| row.keys()) {
        if !columns.contains(name) && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.truncate(30);
    (!names.is_empty()).then(|| words::clip(&format!("further fields: {}", names.join(", ")), 400))
}

/// A value that fits beside others.
pub(super) fn clipped(value: &Value, most: usize) -> Value {
    match value {
        Value::String(text) if text.chars().count() > most => {
            let cut: String = text.chars().take(most).collect();
            format!("{cut}… ({} characters)", text.chars().count()).into()
        }
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            let size = text.chars().count();
            if size <= most {
                return value.clone();
            }
            let cut: String = text.chars().take(most).collect();
            format!("{cut}… ({size} characters)").into()
        }
        other => other.clone(),
    }
}

/// A value in a table or a line.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
