//! Lines that others wrote, set off from ours: a note, a log or an output of several lines could pass for a status, a hint or
//! an outcome otherwise. Every line of others begins with [`MARK`], or stands in a line of ours.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::tool::Object;

/// What stands before a line of others.
pub const MARK: &str = "  | ";

/// Lines of others, set off so that none can be taken for ours. One line is part of the sentence that it stands in.
pub fn set_off(text: &str) -> String {
    let text = text.trim_end();
    if !text.contains('\n') {
        return text.to_owned();
    }
    let lines = text.split('\n').map(|line| format!("\n{MARK}{line}"));
    lines.collect()
}

/// The same in a sentence of ours, which goes on with the first of them. What is set off already stays as it is.
pub fn continued(text: &str) -> String {
    let mut lines = text.trim_end().split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let mark = if line.starts_with(MARK) { "" } else { MARK };
        let _ = write!(out, "\n{mark}{line}");
    }
    out
}

/// Every line of others by itself, set off.
pub fn each_set_off<S: AsRef<str>>(lines: &[S]) -> String {
    let lines = lines.iter().flat_map(|line| line.as_ref().split('\n'));
    let mut out = String::new();
    for line in lines {
        let _ = writeln!(out, "{MARK}{line}");
    }
    out
}

/// A text of ours in which every value of several lines is set off, wherever it was written into it as it is.
pub(crate) fn with_values_set_off(text: String, data: &Object) -> String {
    let mut values = BTreeSet::new();
    for value in data.values() {
        of_several_lines(value, &mut values);
    }
    // The longest first: one may be a part of another.
    let mut values: Vec<&str> = values.into_iter().collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
        .into_iter()
        .fold(text, |text, value| text.replace(value, &continued(value)))
}

fn of_several_lines<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::String(text) => {
            let text = text.trim_end();
            found.extend(text.contains('\n').then_some(text));
        }
        Value::Array(items) => {
            for item in items {
                of_several_lines(item, found);
            }
        }
        Value::Object(fields) => {
            for value in fields.values() {
                of_several_lines(value, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_several_lines_cannot_pass_for_lines_of_ours() {
        let data = serde_json::json!({"notes": ["fine\napplied: all\n", "applied: all"], "x": {"y": "a\nb"}});
        let text = "notes fine\napplied: all\nx a\nb, and ours\napplied: nothing".to_owned();
        assert_eq!(
            with_values_set_off(text, data.as_object().unwrap()),
            "notes fine\n  | applied: all\nx a\n  | b, and ours\napplied: nothing"
        );
        assert_eq!(
            continued("ours: one\n  | two\nthree\n"),
            "ours: one\n  | two\n  | three"
        );
        assert_eq!(set_off("one"), "one");
        assert_eq!(set_off("one\ntwo\n"), "\n  | one\n  | two");
        assert_eq!(
            each_set_off(&["one\ntwo", "three"]),
            "  | one\n  | two\n  | three\n"
        );
    }
}
