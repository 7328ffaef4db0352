//! Any answer of PVE in a bounded form: rows of a list, fields of an object, or text, and how to get the rest.

mod cells;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::cells::{clipped, columns, others, plain, row};
use crate::fault::Fault;
use crate::tool::{Answer, Object};
use crate::words::{self, line};

/// Characters of text and data together that fit 2,000 tokens.
const ROOM: usize = 5_000;
/// Characters of one value, where it is one of several.
const VALUE: usize = 160;

/// What the caller wants of an answer.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) fields: Vec<String>,
    pub(super) filter: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) cursor: Option<String>,
}

/// What PVE answered.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Shaped {
    /// Of a list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rows: Vec<Object>,
    /// Of an object.
    #[serde(skip_serializing_if = "Object::is_empty")]
    pub(super) data: Object,
    /// A text or number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    #[schemars(skip)]
    columns: Vec<String>,
}

impl Shaped {
    /// Of a whole answer.
    pub(super) fn of(answer: Value, wanted: &Wanted) -> Result<Self, Fault> {
        let start = wanted.start()?;
        Ok(match answer {
            Value::Null => Self::noted("PVE answered nothing (null)"),
            Value::Array(items) => Self::list(items, wanted, start),
            Value::Object(fields) => Self::object(fields, wanted, start),
            Value::String(text) => Self::text(&text, start),
            scalar => Self::text(&scalar.to_string(), start),
        })
    }

    fn noted(note: impl Into<String>) -> Self {
        Self {
            notes: vec![note.into()],
            ..Self::default()
        }
    }

    fn list(items: Vec<Value>, wanted: &Wanted, start: usize) -> Self {
        let all = items.len();
        let filter = wanted.filter.as_deref().map(str::to_lowercase);
        let passes = |row: &Object| {
            let text = || Value::Object(row.clone()).to_string().to_lowercase();
            filter.as_ref().is_none_or(|filter| text().contains(filter))
        };
        let rows: Vec<Object> = items.into_iter().map(row).filter(passes).collect();
        let columns = columns(&rows, &wanted.fields);
        let mut shaped = Self::default();
        let (mut room, found) = (ROOM, rows.len());
        let most = wanted.limit.unwrap_or(usize::MAX);
        for row in rows.iter().skip(start).take(most) {
            let cells: Object = columns
                .iter()
                .filter_map(|name| Some((name.clone(), clipped(row.get(name)?, VALUE))))
                .collect();
            // It stands in the table and in the data.
            let size = Value::Object(cells.clone()).to_string().len() * 2;
            if size > room && !shaped.rows.is_empty() {
                break;
            }
            room = room.saturating_sub(size);
            shaped.rows.push(cells);
        }
        let end = start + shaped.rows.len();
        let of = if found < all {
            format!(" that hold the filter, of {all}")
        } else {
            String::new()
        };
        shaped.notes.push(format!(
            "{} of {}{of}",
            shaped.rows.len(),
            words::count(found, "row")
        ));
        if end < found {
            shaped.next_cursor = Some(end.to_string());
        }
        shaped.notes.extend(others(&rows, &columns));
        shaped.columns = columns;
        shaped
    }

    fn object(fields: Object, wanted: &Wanted, start: usize) -> Self {
        let mut shaped = Self::default();
        let filter = wanted.filter.as_deref().map(str::to_lowercase);
        let is_wanted = |name: &String, value: &Value| {
            let named = wanted.fields.is_empty() || wanted.fields.contains(name);
            let text = || format!("{name} {value}").to_lowercase();
            named && filter.as_ref().is_none_or(|filter| text().contains(filter))
        };
        let fields: Vec<_> = fields
            .into_iter()
            .filter(|(name, value)| is_wanted(name, value))
            .collect();
        // One field alone can be read on in pages.
        if let ([(_, value)], [_]) = (fields.as_slice(), wanted.fields.as_slice())
            && plain(value).chars().count() > ROOM / 2
        {
            return Self::text(&plain(value), start);
        }
        let each = (ROOM / 2) / fields.len().clamp(1, 10);
        let (mut room, found, mut is_cut) = (ROOM, fields.len(), false);
        let most = wanted.limit.unwrap_or(usize::MAX);
        for (name, value) in fields.into_iter().skip(start).take(most) {
            let cut = clipped(&value, each.max(VALUE));
            let size = (name.len() + cut.to_string().len()) * 2;
            if size > room && !shaped.data.is_empty() {
                break;
            }
            is_cut |= cut != value;
            let value = cut;
            room = room.saturating_sub(size);
            shaped.data.insert(name, value);
        }
        if is_cut {
            let how = "what is cut short comes whole, in pages, if it is the only one of fields";
            shaped.notes.push(how.to_owned());
        }
        let end = start + shaped.data.len();
        if end < found {
            shaped
                .notes
                .push(format!("{} of {found} fields", shaped.data.len()));
            shaped.next_cursor = Some(end.to_string());
        }
        shaped
    }

    fn text(text: &str, start: usize) -> Self {
        let all = text.chars().count();
        let shown: String = text.chars().skip(start).take(ROOM / 2).collect();
        let end = start + shown.chars().count();
        let mut shaped = Self {
            value: Some(shown),
            ..Self::default()
        };
        if end < all {
            shaped
                .notes
                .push(format!("characters {start} to {end} of {all}"));
            shaped.next_cursor = Some(end.to_string());
        }
        shaped
    }
}

impl Wanted {
    fn start(&self) -> Result<usize, Fault> {
        let Some(cursor) = &self.cursor else {
            return Ok(0);
        };
        cursor.parse().map_err(|_| {
            Fault::bad_input("the cursor is none of ours")
                .hint("send the next_cursor of an answer, or leave cursor out")
        })
    }
}

impl Answer for Shaped {
    fn text(&self) -> String {
        let mut out = String::new();
        if !self.rows.is_empty() {
            let heading: Vec<_> = self.columns.iter().map(String::as_str).collect();
            let cell = |row: &Object, name: &String| row.get(name).map(plain).unwrap_or_default();
            let cells = |row: &Object| -> Vec<String> {
                self.columns.iter().map(|name| cell(row, name)).collect()
            };
            let rows: Vec<_> = self.rows.iter().map(cells).collect();
            out.push_str(&words::grid(&heading, &rows));
        }
        for (name, value) in &self.data {
            line!(out, "{name}: {}", words::set_off(&plain(value)));
        }
        if let Some(value) = &self.value {
            out.push_str(&words::each_set_off([value]));
        }
        for note in &self.notes {
            line!(out, "({note})");
        }
        if let Some(cursor) = &self.next_cursor {
            line!(
                out,
                "(more: cursor \"{cursor}\", or narrow it with fields or filter)"
            );
        }
        out
    }
}

#[cfg(test)]
mod tests;
