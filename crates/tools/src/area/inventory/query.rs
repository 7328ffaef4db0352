//! What a caller asked for, read and checked before anything is requested.

use serde::Deserialize as _;
use serde::de::Deserializer;

use super::ListResources;
use super::column::Column;
use super::kind::{Source, Wanted};
use super::page::{Position, Sort, read_cursor};
use crate::fault::Fault;
use crate::filter::Filter;

/// A list as it was asked for.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) wanted: Wanted,
    pub(super) filter: Filter,
    pub(super) columns: Vec<Column>,
    pub(super) sort: Option<Sort>,
    pub(super) limit: Option<usize>,
    pub(super) behind: Option<Position<'static>>,
    /// What makes it this list and no other, as text.
    marks: [String; 3],
}

impl Query {
    pub(super) fn new(asked: &ListResources, several_clusters: bool) -> Result<Self, Fault> {
        let wanted = asked.resource_type;
        let filter = Filter::parse(asked.filter.as_deref().unwrap_or_default())?;
        let sort = match asked.sort.as_deref().filter(|sort| !sort.trim().is_empty()) {
            Some(sort) => Some(Sort::parse(sort)?),
            None => wanted.order(),
        };
        let mut columns = asked
            .fields
            .iter()
            .map(|name| Column::find(name, "fields"))
            .collect::<Result<Vec<_>, _>>()?;
        if columns.is_empty() {
            columns.extend(wanted.columns());
            if several_clusters {
                columns.insert(1, Column::Cluster);
            }
        }
        let marks = [
            crate::words::word(&wanted),
            filter.to_string(),
            format!("{sort:?}"),
        ];
        let mut query = Self {
            wanted,
            filter,
            columns,
            sort,
            limit: asked.limit,
            behind: None,
            marks,
        };
        if let Some(cursor) = &asked.cursor {
            query.behind = Some(read_cursor(&query.marks(), cursor)?);
        }
        Ok(query)
    }

    pub(super) fn marks(&self) -> [&str; 3] {
        self.marks.each_ref().map(String::as_str)
    }

    /// Whether the rows of a page are all that match. Pages of snapshots begin behind the guests of the page before.
    pub(super) fn counts_all(&self) -> bool {
        !(self.pages_by_guest() && self.behind.is_some())
    }

    /// Whether a page asks only the guests behind its cursor. In an order by a field, every guest has to be asked.
    pub(super) fn pages_by_guest(&self) -> bool {
        self.wanted.source() == Source::Snapshots && self.sort.is_none()
    }
}

/// Names as a list, or in one text, as many callers write them.
pub(super) fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged, expecting = "expected a list of names")]
    enum Names {
        List(Vec<String>),
        Text(String),
    }
    Ok(match Names::deserialize(deserializer)? {
        Names::List(names) => names,
        Names::Text(text) => text
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    })
}
