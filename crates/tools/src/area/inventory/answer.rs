//! The answer: as many rows as were asked for, or as fit.

use std::fmt::Write as _;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::column::Column;
use super::page::{Page, Position, cursor};
use super::query::Query;
use crate::tool::{Answer, Object};
use crate::words::{self, line};

/// Characters of text and structure together, if the caller sets no limit: some 2,000 tokens.
const BUDGET: usize = 6_500;
/// So much of it is left for rows, whatever the notes take.
const LEAST: usize = 3_000;
/// Rows at most, if the caller sets no limit.
pub(super) const PAGE: usize = 50;

/// A page of the list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listing {
    /// The rows.
    #[schemars(schema_with = "rows")]
    resources: Vec<Object>,
    /// How many match; absent if not all were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Offline, hidden or left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    table: String,
}

fn rows(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": Column::schema() })
}

impl Listing {
    /// The rows of a page, cut to what fits; `beyond` is where to go on if all of them are shown and there is more.
    pub(super) fn new(
        query: &Query,
        page: &Page<'_>,
        beyond: Option<&Position<'_>>,
        notes: Vec<String>,
    ) -> Self {
        let said: usize = notes.iter().map(|note| 2 * note.len() + 10).sum();
        let room = match query.limit {
            Some(_) => usize::MAX,
            None => BUDGET.saturating_sub(said).max(LEAST),
        };
        let sheet = Sheet::fill(&query.columns, page, room);
        let shown = sheet.rows.len();
        let last = page.rows.get(..shown).and_then(<[_]>::last);
        let next = if shown < page.rows.len() || page.after > 0 {
            last.map(|(at, _)| at.clone())
        } else {
            beyond.cloned()
        };
        Self {
            resources: sheet.objects,
            total: Some(page.total).filter(|_| beyond.is_none() && query.counts_all()),
            next_cursor: next.map(|at| cursor(&query.marks(), &at)),
            notes,
            table: table(&query.columns, &sheet.rows),
        }
    }
}

/// Rows in both forms.
#[derive(Default)]
struct Sheet {
    rows: Vec<Vec<String>>,
    objects: Vec<Object>,
}

impl Sheet {
    /// As many rows as there is room for, at least one.
    fn fill(columns: &[Column], page: &Page<'_>, room: usize) -> Self {
        let mut sheet = Self::default();
        let mut widths = vec![0; columns.len()];
        let mut structured = 0;
        for (_, item) in &page.rows {
            let cells: Vec<_> = columns
                .iter()
                .map(|column| (*column, column.of(item)))
                .collect();
            let object: Object = cells
                .iter()
                .filter_map(|(column, cell)| Some((column.name().to_owned(), cell.json()?)))
                .collect();
            let row: Vec<_> = cells
                .iter()
                .map(|(column, cell)| cell.shown(*column))
                .collect();
            structured += serde_json::to_string(&object).map_or(0, |text| text.len() + 1);
            for (width, cell) in widths.iter_mut().zip(&row) {
                *width = cell.chars().count().max(*width);
            }
            let line: usize = widths.iter().map(|width| width + 2).sum();
            let text = line * (sheet.rows.len() + 2);
            if structured + text > room && !sheet.rows.is_empty() {
                break;
            }
            sheet.rows.push(row);
            sheet.objects.push(object);
        }
        sheet
    }
}

/// The rows under the names of their fields, without fields that none of them has.
fn table(columns: &[Column], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let used: Vec<usize> = (0..columns.len())
        .filter(|at| rows.iter().any(|row| !row[*at].is_empty()))
        .collect();
    let heading: Vec<_> = used.iter().map(|at| columns[*at].name()).collect();
    let rows: Vec<Vec<_>> = rows
        .iter()
        .map(|row| used.iter().map(|at| row[*at].clone()).collect())
        .collect();
    words::grid(&heading, &rows)
}

impl Answer for Listing {
    fn text(&self) -> String {
        let mut out = self.table.clone();
        let shown = self.resources.len();
        let _ = match (&self.next_cursor, self.total) {
            (Some(cursor), Some(total)) => writeln!(
                out,
                "{shown} of {total} shown; more with cursor: \"{cursor}\", or narrow it with filter"
            ),
            (Some(cursor), None) => {
                writeln!(
                    out,
                    "{shown} shown; go on with cursor: \"{cursor}\", or narrow it with filter"
                )
            }
            (None, Some(total)) if total > shown => {
                writeln!(out, "the last {shown} of {total}")
            }
            (None, _) => writeln!(out, "{shown} in all"),
        };
        for note in &self.notes {
            line!(out, "note: {note}");
        }
        out
    }
}
