//! What a plain read shows: rows, one thing, lines of a log, or a single value.

use std::borrow::Cow;

use pve::lenient::{as_text, as_u64};
use serde_json::{Value, json};

use super::lines::lines_shown;
use super::tree::leaves;
use crate::fault::{Fault, Kind};
use crate::tool::{Object, Rendered};
use crate::words;

/// Characters of an answer, text and data together, before rows are left out. About four are a token.
pub(super) const ROOM: usize = 6_500;
/// Characters of one cell, and of one value.
const CELL: usize = 60;
pub(super) const VALUE: usize = 400;

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

/// An answer, ready to be rendered.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) data: Object,
    pub(super) empty: bool,
}

impl Shown {
    /// Whether there was nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Says something about the answer below it.
    pub(super) fn note(&mut self, note: String) {
        self.text.push_str(&note);
        self.text.push('\n');
        self.data.insert("note".to_owned(), note.into());
    }

    pub(super) fn rendered(self) -> Rendered {
        Rendered::new(&self.text, self.data, Vec::new())
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

pub(super) fn nothing(name: &str, empty: Value) -> Shown {
    Shown {
        text: "there is nothing to show\n".to_owned(),
        data: Object::from_iter([(name.to_owned(), empty)]),
        empty: true,
    }
}

fn rows_shown(columns: &[&str], rows: &[Value]) -> Shown {
    if rows.is_empty() {
        return nothing("rows", json!([]));
    }
    let (mut kept, mut cells, mut room) = (Vec::new(), Vec::new(), ROOM);
    for row in rows.iter().map(without_secret_value) {
        let row = row.as_ref();
        let data: Object = columns
            .iter()
            .filter_map(|column| {
                let name = field(column).0;
                Some((name.to_owned(), row.get(name)?.clone()))
            })
            .collect();
        let line: Vec<_> = columns.iter().map(|column| cell(row, column)).collect();
        let size =
            json!(data).to_string().len() + line.iter().map(|cell| cell.len() + 2).sum::<usize>();
        let Some(left) = room.checked_sub(size) else {
            break;
        };
        room = left;
        kept.push(Value::Object(data));
        cells.push(line);
    }
    // A column that no row fills says nothing.
    let used: Vec<usize> = (0..columns.len())
        .filter(|at| cells.iter().any(|line| !line[*at].is_empty()))
        .collect();
    let heading: Vec<_> = used.iter().map(|at| field(columns[*at]).0).collect();
    let cells: Vec<Vec<String>> = cells
        .into_iter()
        .map(|line| used.iter().map(|at| line[*at].clone()).collect())
        .collect();
    let left_out = rows.len() - kept.len();
    let mut shown = Shown {
        text: words::grid(&heading, &cells),
        data: Object::from_iter([("rows".to_owned(), Value::Array(kept))]),
        empty: false,
    };
    leave_out(&mut shown, left_out);
    shown
}

pub(super) fn leave_out(shown: &mut Shown, count: usize) {
    if count > 0 {
        shown.data.insert("left_out".to_owned(), json!(count));
        shown.note(format!(
            "{count} more are left out; narrow it, or page with read_proxmox_api"
        ));
    }
}

fn item_shown(fields: &[&str], item: &Object) -> Shown {
    if item.is_empty() {
        return nothing("item", json!({}));
    }
    let declared = fields.iter().map(|column| field(column));
    let named = |name: &str| fields.iter().any(|column| field(column).0 == name);
    let mut others: Vec<_> = item.keys().filter(|key| !named(key)).collect();
    others.sort();
    let order: Vec<(String, &str)> = declared
        .map(|(name, form)| (name.to_owned(), form))
        .chain(others.into_iter().map(|name| (name.clone(), "")))
        .collect();
    let (mut text, mut data, mut left_out) = (String::new(), Object::new(), 0);
    let mut room = ROOM;
    for (name, form) in order {
        let Some(value) = item.get(&name) else {
            continue;
        };
        let written = words::clip(&written(value, form), VALUE);
        let line = if crate::clean::is_secret(&name) {
            format!("{name}: {}\n", crate::clean::REDACTED)
        } else {
            format!("{name}: {written}\n")
        };
        let Some(left) = room.checked_sub(line.len() + value.to_string().len()) else {
            left_out += 1;
            continue;
        };
        room = left;
        text.push_str(&line);
        data.insert(name, value.clone());
    }
    let mut shown = Shown {
        text,
        data: Object::from_iter([("item".to_owned(), Value::Object(data))]),
        empty: false,
    };
    if left_out > 0 {
        shown.note(format!(
            "{left_out} fields are too large to show; read_proxmox_api shows them"
        ));
    }
    shown
}

/// A row that is one setting (`key`, `value`, `pending`) without the secret that it holds.
fn without_secret_value(row: &Value) -> Cow<'_, Value> {
    let is_secret = row["key"].as_str().is_some_and(crate::clean::is_secret);
    if !is_secret {
        return Cow::Borrowed(row);
    }
    let mut row = row.clone();
    for name in ["value", "pending"] {
        if let Some(value) = row.get_mut(name) {
            *value = json!(crate::clean::REDACTED);
        }
    }
    Cow::Owned(row)
}

fn value_shown(name: &str, value: Value) -> Shown {
    if value.is_null() {
        return nothing(name, Value::Null);
    }
    Shown {
        text: format!("{name}: {}\n", words::clip(&written(&value, ""), VALUE)),
        data: Object::from_iter([(name.to_owned(), value)]),
        empty: false,
    }
}

/// A column's field, and how it is written.
fn field(column: &str) -> (&str, &str) {
    column.split_once('|').unwrap_or((column, ""))
}

fn cell(row: &Value, column: &str) -> String {
    let (name, form) = field(column);
    match row.get(name) {
        Some(_) if crate::clean::is_secret(name) => crate::clean::REDACTED.to_owned(),
        Some(value) => words::clip(&written(value, form), CELL),
        None => String::new(),
    }
}

/// A value for reading.
fn written(value: &Value, form: &str) -> String {
    let whole = as_u64(value);
    match (form, whole) {
        ("bytes", Some(bytes)) => words::size(bytes),
        ("duration", Some(seconds)) => words::duration(seconds),
        ("time", Some(at)) => words::time(i64::try_from(at).unwrap_or_default()),
        _ => as_text(value).unwrap_or_else(|| match value {
            Value::Null => String::new(),
            Value::Array(items) if items.iter().all(|item| as_text(item).is_some()) => {
                let items: Vec<_> = items.iter().filter_map(as_text).collect();
                items.join(", ")
            }
            other => other.to_string(),
        }),
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
