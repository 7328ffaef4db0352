//! PVE's answer in one of its forms, within the room that there is: what a plain read gives.

use std::borrow::Cow;

use pve::lenient::{as_text, as_u64};
use serde_json::{Value, json};

use crate::tool::{Object, Rendered};
use crate::words;

/// Characters of an answer, text and data together, before rows are left out. About four are a token.
pub(super) const ROOM: usize = 6_500;
/// Characters of one cell, and of one value.
const CELL: usize = 60;
pub(super) const VALUE: usize = 400;

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

pub(super) fn nothing(name: &str, empty: Value) -> Shown {
    Shown {
        text: "there is nothing to show\n".to_owned(),
        data: Object::from_iter([(name.to_owned(), empty)]),
        empty: true,
    }
}

pub(super) fn rows_shown(columns: &[&str], rows: &[Value]) -> Shown {
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

pub(super) fn item_shown(fields: &[&str], item: &Object) -> Shown {
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

pub(super) fn value_shown(name: &str, value: Value) -> Shown {
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
pub(super) fn field(column: &str) -> (&str, &str) {
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
