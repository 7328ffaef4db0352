//! What must be out of an entry before PVE deletes it. It is looked for first, or a person would be asked in vain.

use std::collections::BTreeSet;

use pve::Request;
use serde_json::Value;

use super::change::Planning;
use super::{path, word};
use crate::plan::Blocker;
use crate::words;

/// How many of them are named.
const NAMED: usize = 10;

/// A list of what may be in an entry.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub(crate) struct Content {
    list: &'static str,
    which: Which,
    /// The field that names a row, and what a row that has it is; the first that a row has.
    names: &'static [(&'static str, &'static str)],
    /// What takes them out.
    out: &'static str,
}

/// Which rows of the list are in the entry.
#[derive(Debug, Clone, Copy)]
enum Which {
    All,
    /// Those with the entry's name in this field.
    Naming(&'static str),
    /// Those whose own name is the entry's and goes on after a slash.
    Below,
    /// Those in this field of the entry's own row, which is asked for by its name.
    Members(&'static str),
}

/// The rows of this list, named by these fields, which the last sentence takes out.
pub(crate) const fn content(
    list: &'static str,
    names: &'static [(&'static str, &'static str)],
    out: &'static str,
) -> Content {
    Content {
        list,
        which: Which::All,
        names,
        out,
    }
}

impl Content {
    /// Only those that name the entry in this field.
    pub(crate) const fn naming(mut self, field: &'static str) -> Self {
        self.which = Which::Naming(field);
        self
    }

    /// Only those whose name is the entry's and goes on after a slash.
    pub(crate) const fn below(mut self) -> Self {
        self.which = Which::Below;
        self
    }

    /// What this field of the entry's own row holds.
    pub(crate) const fn members(mut self, field: &'static str) -> Self {
        self.which = Which::Members(field);
        self
    }

    /// "guest 105"
    fn label(&self, row: &Value) -> Option<String> {
        let named = |(field, what): &(&str, &str)| {
            let name = word(row.get(*field));
            (!name.is_empty()).then(|| format!("{what} {}", words::clip(&name, 60)))
        };
        self.names.iter().find_map(named)
    }

    fn own_name(&self, row: &Value) -> String {
        self.names
            .first()
            .map_or_else(String::new, |(field, _)| word(row.get(*field)))
    }
}

impl Planning<'_> {
    /// What stands in the way of deleting the entry. A list that cannot be read says nothing: PVE will.
    pub(super) async fn content(&self) -> Vec<Blocker> {
        let mut found = Vec::new();
        for content in self.entry.content {
            let labels = self.labels(content).await;
            if let Some(names) = named(&labels) {
                let (what, name) = (self.entry.what, self.name());
                let because = format!("{what} {name} is not empty: {names} in it");
                found.push(Blocker::new(because, content.out));
            }
        }
        found
    }

    async fn labels(&self, content: &Content) -> BTreeSet<String> {
        let name = self.whole_name();
        let mut read = Request::get(path(content.list, self.values));
        if let (Which::Members(_), Some(id)) = (content.which, self.entry.id.last()) {
            read = read.with(*id, name.as_str());
        }
        let rows: Vec<Value> = self.place.cluster.pve.list(read).await.unwrap_or_default();
        let below = format!("{name}/");
        let rows: Vec<&Value> = match content.which {
            Which::All => rows.iter().collect(),
            Which::Naming(field) => {
                let names_it = |row: &&Value| word(row.get(field)) == name;
                rows.iter().filter(names_it).collect()
            }
            Which::Below => {
                let is_below = |row: &&Value| content.own_name(row).starts_with(&below);
                rows.iter().filter(is_below).collect()
            }
            Which::Members(field) => {
                let members = rows.iter().filter_map(|row| row.get(field)?.as_array());
                members.flatten().collect()
            }
        };
        rows.into_iter()
            .filter_map(|row| content.label(row))
            .collect()
    }
}

/// "guest 101 and storage nas are", "guest 101 is"
fn named(labels: &BTreeSet<String>) -> Option<String> {
    let mut names: Vec<&str> = labels.iter().map(String::as_str).take(NAMED).collect();
    let more = format!("{} more", labels.len() - names.len());
    if labels.len() > names.len() {
        names.push(&more);
    }
    let verb = if labels.len() == 1 { "is" } else { "are" };
    (!names.is_empty()).then(|| format!("{} {verb}", words::list(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named_of(count: usize) -> Option<String> {
        named(&(10..10 + count).map(|id| format!("guest {id}")).collect())
    }

    #[test]
    fn some_of_many_are_named() {
        assert_eq!(named_of(0), None);
        assert_eq!(named_of(1).unwrap(), "guest 10 is");
        assert_eq!(named_of(2).unwrap(), "guest 10 and guest 11 are");
        let many = named_of(12).unwrap();
        assert!(many.ends_with("guest 19 and 2 more are"), "{many}");
    }
}
