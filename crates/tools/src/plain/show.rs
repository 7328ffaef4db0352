//! The forms in which a plain read shows what PVE answers: rows, one thing, lines of a log, or a single value.

use serde_json::{Value, json};

use super::lines::lines_shown;
use super::shown::{Shown, field, item_shown, nothing, rows_shown, value_shown};
use super::tree::leaves;
use crate::fault::{Fault, Kind};
use crate::tool::Object;

/// The form of an answer. A column is a field's name; `maxmem|bytes`, `ctime|time` and `uptime|duration` say how it is
/// written for reading.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shows {
    /// A list, with these columns.
    Rows(&'static [&'static str]),
    /// A list within the one thing that PVE shows: its field, and the columns.
    Within(&'static str, &'static [&'static str]),
    /// The leaves of the tree in this field, with these columns.
    Leaves(&'static str, &'static [&'static str]),
    /// An object: these fields first, then the others.
    Item(&'static [&'static str]),
    /// An object of which only these fields are for showing.
    Only(&'static [&'static str]),
    /// Lines of text: PVE's `{n, t}`, or texts.
    Lines,
    /// The same, of which the first are kept where they are too many.
    LinesFromStart,
    /// One value, under this name.
    Value(&'static str),
}

impl super::Plain {
    /// The answer is a list with these columns.
    pub(crate) const fn rows(mut self, columns: &'static [&'static str]) -> Self {
        self.work = super::Work::Shows(Shows::Rows(columns));
        self
    }

    /// The answer is one thing, of which the list in this field matters.
    pub(crate) const fn within(
        mut self,
        field: &'static str,
        columns: &'static [&'static str],
    ) -> Self {
        self.work = super::Work::Shows(Shows::Within(field, columns));
        self
    }

    /// The answer holds a tree in this field, of which the leaves matter.
    pub(crate) const fn leaves(
        mut self,
        field: &'static str,
        columns: &'static [&'static str],
    ) -> Self {
        self.work = super::Work::Shows(Shows::Leaves(field, columns));
        self
    }

    /// The answer is one thing; these of its fields come first.
    pub(crate) const fn item(mut self, fields: &'static [&'static str]) -> Self {
        self.work = super::Work::Shows(Shows::Item(fields));
        self
    }

    /// The answer is one thing, of which only these fields are shown: the others hold secrets.
    pub(crate) const fn only(mut self, fields: &'static [&'static str]) -> Self {
        self.work = super::Work::Shows(Shows::Only(fields));
        self
    }

    /// The answer is lines of text.
    pub(crate) const fn lines(mut self) -> Self {
        self.work = super::Work::Shows(Shows::Lines);
        self
    }

    /// The answer is lines of text that are read from their start on.
    pub(crate) const fn lines_from_start(mut self) -> Self {
        self.work = super::Work::Shows(Shows::LinesFromStart);
        self
    }

    /// The answer is one value.
    pub(crate) const fn value(mut self, name: &'static str) -> Self {
        self.work = super::Work::Shows(Shows::Value(name));
        self
    }
}

impl Shows {
    pub(super) fn schema(self) -> Object {
        let fields = |columns: &[&str]| -> Object {
            let names = columns.iter().map(|column| field(column).0.to_owned());
            names.map(|name| (name, json!({}))).collect()
        };
        let properties = match self {
            Self::Rows(columns) | Self::Within(_, columns) | Self::Leaves(_, columns) => {
                let items = json!({"type": "object", "properties": fields(columns)});
                json!({
                    "rows": {"type": "array", "items": items},
                    "left_out": {"type": "integer"},
                    "note": {"type": "string"},
                })
            }
            Self::Item(columns) | Self::Only(columns) => json!({
                "item": {"type": "object", "properties": fields(columns)},
                "note": {"type": "string"},
            }),
            Self::Lines | Self::LinesFromStart => json!({
                "lines": {"type": "array", "items": {"type": "string"}},
                "left_out": {"type": "integer"},
                "note": {"type": "string"},
            }),
            Self::Value(name) => json!({name: {}, "note": {"type": "string"}}),
        };
        Object::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), properties),
        ])
    }

    /// PVE's answer in this form.
    pub(super) fn show(self, answer: Value) -> Result<Shown, Fault> {
        match (self, answer) {
            (Self::Rows(columns), Value::Array(rows)) => Ok(rows_shown(columns, &rows)),
            (Self::Rows(columns), Value::Null) => Ok(rows_shown(columns, &[])),
            (Self::Within(field, columns), answer) => {
                let holder = answer.get(0).unwrap_or(&answer);
                match holder.get(field) {
                    Some(Value::Array(rows)) => Ok(rows_shown(columns, rows)),
                    _ => Ok(rows_shown(columns, &[])),
                }
            }
            (Self::Leaves(field, columns), Value::Object(item)) => {
                let rows = item.get(field).map(leaves).unwrap_or_default();
                Ok(rows_shown(columns, &rows))
            }
            (Self::Item(fields), Value::Object(item)) => Ok(item_shown(fields, &item)),
            (Self::Only(fields), Value::Object(mut item)) => {
                item.retain(|name, _| fields.contains(&name.as_str()));
                Ok(item_shown(fields, &item))
            }
            (Self::Item(_) | Self::Only(_), Value::Null) => Ok(nothing("item", json!({}))),
            (Self::Lines, Value::Array(lines)) => Ok(lines_shown(&lines, false)),
            (Self::LinesFromStart, Value::Array(lines)) => Ok(lines_shown(&lines, true)),
            (Self::Lines | Self::LinesFromStart, Value::String(text)) => {
                let lines: Vec<_> = text.lines().map(|line| json!(line)).collect();
                let from_start = matches!(self, Self::LinesFromStart);
                Ok(lines_shown(&lines, from_start))
            }
            (Self::Lines | Self::LinesFromStart, Value::Null) => Ok(nothing("lines", json!([]))),
            (Self::Value(name), value) => Ok(value_shown(name, value)),
            (_, other) => {
                let what = match other {
                    Value::Array(_) => "a list",
                    Value::Object(_) => "an object",
                    _ => "a single value",
                };
                let message = format!("PVE answered with {what}, which was not expected here");
                Err(Fault::new(Kind::Failed, message).hint(
                    "this version of PVE differs; read_proxmox_api shows the answer as it is",
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let rows: Vec<_> = (0..1000)
            .map(|n| json!({"id": n, "name": "x".repeat(40)}))
            .collect();
        let shown = Shows::Rows(&["id", "name"]).show(json!(rows)).unwrap();
        let kept = shown.data["rows"].as_array().unwrap().len();
        assert!(kept > 20 && kept < 200, "{kept}");
        assert_eq!(shown.data["left_out"], 1000 - kept);
        assert!(shown.text.contains("more are left out"), "{}", shown.text);
    }

    #[test]
    fn the_end_of_a_log_is_kept() {
        let lines: Vec<_> = (0..1000)
            .map(|n| json!({"n": n, "t": format!("line {n}")}))
            .collect();
        let shown = Shows::Lines.show(json!(lines)).unwrap();
        assert!(shown.text.contains("line 999\n") && !shown.text.contains("line 0\n"));
        let shown = Shows::LinesFromStart.show(json!(lines)).unwrap();
        assert!(shown.text.contains("line 0\n") && !shown.text.contains("line 999\n"));
        assert!(shown.text.contains("more are left out"), "{}", shown.text);
    }

    #[test]
    fn a_line_that_holds_a_secret_does_not_show_it() {
        let shown = Shows::Lines
            .show(json!("name: web\ncipassword: hunter2\n  passwd: hunter2\n"))
            .unwrap();
        assert_eq!(
            shown.text,
            "  | name: web\n  | cipassword: <redacted>\n  |   passwd: <redacted>\n"
        );
        assert!(!json!(shown.data).to_string().contains("hunter2"));
    }

    #[test]
    fn a_row_that_is_a_secret_setting_does_not_show_it() {
        let rows = json!([
            {"key": "memory", "value": 2048, "pending": 4096},
            {"key": "cipassword", "value": "hunter2", "pending": "hunter3"},
        ]);
        let shown = Shows::Rows(&["key", "value", "pending"])
            .show(rows)
            .unwrap();
        let all = format!("{} {}", shown.text, json!(shown.data));
        assert!(all.contains("4096") && !all.contains("hunter"), "{all}");
    }

    #[test]
    fn columns_that_no_row_fills_are_left_out() {
        let shown = Shows::Rows(&["id", "comment", "size|bytes"])
            .show(json!([{"id": "a", "size": 1024}]))
            .unwrap();
        assert_eq!(shown.text, "id  size\na   1.0 KiB\n");
    }

    #[test]
    fn another_form_than_expected_is_an_error() {
        assert!(Shows::Rows(&["id"]).show(json!({"a": 1})).is_err());
        assert!(Shows::Item(&["id"]).show(json!([1])).is_err());
    }
}
