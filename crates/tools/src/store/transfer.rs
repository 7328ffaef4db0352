//! A whole store as lines of JSON, to move it from one database to another.
//!
//! The first line says which oxmox wrote it and with which keys, then comes a line for each row, and the last counts them: a
//! file that was cut off is told from a whole one.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::audit::is_whole;
use super::database::{Row, Transaction, Trouble, Value};
use super::{Store, VERSION, json, newer};
use crate::fault::{Fault, Kind};

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    Head { oxmox_store: i64, keys: String },
    Row { table: String, row: Vec<Json> },
    End { rows: usize },
}

/// A table, with the statements that read and write all of it.
struct Table {
    name: &'static str,
    columns: usize,
    select: Select,
    insert: &'static str,
}

/// How all rows of a table are read.
enum Select {
    /// At once, where there are never many.
    Whole(&'static str),
    /// So many of them (`?2`) after a key (`?1`), which is the first column, beginning after this one.
    Pages(&'static str, Value),
}

/// How many rows are read at a time: a trail of years is neither read by one statement nor held in memory.
const PAGE: i64 = 1000;
/// What comes before every text that is a key.
const NO_TEXT: Value = Value::Text(String::new());

macro_rules! table {
    ($name:literal, $columns:literal, $values:literal, $count:literal, $rest:literal) => {
        table!($name, $columns, $values, $count, $rest, Select::Whole)
    };
    ($name:literal, $columns:literal, $values:literal, $count:literal, $rest:literal, $select:path $(, $first:expr)?) => {
        Table {
            name: $name,
            columns: $count,
            select: $select(concat!("SELECT ", $columns, " FROM ", $name, " ", $rest) $(, $first)?),
            insert: concat!(
                "INSERT INTO ",
                $name,
                " (",
                $columns,
                ") VALUES (",
                $values,
                ")"
            ),
        }
    };
}

/// What is moved. Which keys a store belongs to is its own.
static TABLES: [Table; 9] = [
    table!(
        "plans",
        "id, caller, tool, arguments, digest, plan, state, expires, decided_by, seal, outcome",
        "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11",
        11,
        "WHERE id > ?1 ORDER BY id LIMIT ?2",
        Select::Pages,
        NO_TEXT
    ),
    table!(
        "leases",
        "caller, guest, expires, seal",
        "?1, ?2, ?3, ?4",
        4,
        "ORDER BY caller, guest"
    ),
    table!(
        "audit",
        "seq, entry, link",
        "?1, ?2, ?3",
        3,
        "WHERE seq > ?1 ORDER BY seq LIMIT ?2",
        Select::Pages,
        Value::Number(i64::MIN)
    ),
    table!(
        "handles",
        "plan, worker, begun, updated, cancelled_by, insists",
        "?1, ?2, ?3, ?4, ?5, ?6",
        6,
        "WHERE plan > ?1 ORDER BY plan LIMIT ?2",
        Select::Pages,
        NO_TEXT
    ),
    table!(
        "steps",
        "plan, position, outcome, before",
        "?1, ?2, ?3, ?4",
        4,
        "ORDER BY plan, position"
    ),
    table!(
        "looks",
        "id, worker, summary",
        "?1, ?2, ?3",
        3,
        "ORDER BY id"
    ),
    table!(
        "baselines",
        "name, taken, estate",
        "?1, ?2, ?3",
        3,
        "ORDER BY name"
    ),
    table!(
        "meta",
        "name, value",
        "?1, ?2",
        2,
        "WHERE name <> 'keys' ORDER BY name"
    ),
    table!(
        "tokens",
        "id, name, hash, bounds, person, created, expires, seal",
        "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8",
        8,
        "ORDER BY id"
    ),
];

impl Store {
    /// Everything in it, a line each, given to `take` one after the other; tells how many rows there were. Refused while a
    /// change or a look inside a guest is under way: whoever does it would write on into what was left behind.
    pub async fn export(
        &self,
        mut take: impl FnMut(String) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let changes = self.open_handles().await?.into_iter();
        let changes = changes.map(|(plan, by)| (format!("a change is under way, plan {plan}"), by));
        let looks = self.open_looks().await?.into_iter();
        let looks = looks.map(|look| (format!("a {} is under way", look.summary), look.worker));
        let open: Vec<_> = changes.chain(looks).collect();
        let workers: Vec<_> = open.iter().map(|(_, worker)| worker.as_str()).collect();
        if let Some(living) = self.find_living(&workers).await {
            let mut theirs = open.iter().filter(|(_, worker)| worker == living);
            let what = theirs.next().map_or("", |(what, _)| what.as_str());
            return Err(Fault::new(Kind::Conflict, what)
                .hint("stop the servers on this store first, and start them on the other one"));
        }
        take(json(&Line::Head {
            oxmox_store: VERSION,
            keys: self.keys.name(),
        })?)?;
        let mut rows = 0;
        for table in &TABLES {
            let mut after = Some(table.select.beginning());
            while let Some(from) = after {
                let page = self
                    .read(move |tx| table.select.rows(tx, from.clone()))
                    .await?;
                after = table.select.goes_on_after(&page);
                rows += page.len();
                for Row(values) in page {
                    take(json(&Line::Row {
                        table: table.name.to_owned(),
                        row: values.into_iter().map(to_json).collect(),
                    })?)?;
                }
            }
        }
        take(json(&Line::End { rows })?)?;
        Ok(rows)
    }

    /// Takes in what [`export`](Self::export) gave, into a store that is empty: all of it or nothing. Tells how many rows.
    pub async fn import(&self, lines: &[impl AsRef<str>]) -> Result<usize, Fault> {
        let rows = self.read_lines(lines)?;
        let count = rows.len();
        let trail = rows.iter().filter(|(table, _)| table.name == "audit");
        if !is_whole(&self.keys, trail.map(|(_, row)| row))? {
            return Err(wrong("its audit trail is broken")
                .hint("`oxmox audit verify` tells where, on the store that it comes from"));
        }
        let taken = self.write(move |tx| {
            for table in &TABLES {
                let first = table.select.rows(tx, table.select.beginning())?;
                if !first.is_empty() {
                    return Ok(false);
                }
            }
            for (table, Row(values)) in &rows {
                tx.execute(table.insert, values)?;
            }
            Ok(true)
        });
        if !taken.await? {
            return Err(Fault::new(Kind::Conflict, "the store is not empty").hint(
                "import into a new database or state directory: two trails cannot become one",
            ));
        }
        Ok(count)
    }

    fn read_lines(&self, lines: &[impl AsRef<str>]) -> Result<Vec<(&'static Table, Row)>, Fault> {
        let mut lines = lines.iter().enumerate().map(|(index, line)| {
            serde_json::from_str::<Line>(line.as_ref())
                .map_err(|_| wrong(&format!("line {} is none of an export", index + 1)))
        });
        let Some(Line::Head { oxmox_store, keys }) = lines.next().transpose()? else {
            return Err(wrong("it does not begin as an export"));
        };
        if oxmox_store > VERSION {
            return Err(newer(oxmox_store).into());
        }
        if keys != self.keys.name() {
            return Err(wrong("it was made with other keys than those of this store").hint(
                "import it with a state directory that has nothing in it yet but the file `key` of the one that it comes from",
            ));
        }
        let mut rows = Vec::new();
        let mut end = None;
        for line in lines {
            match line? {
                _ if end.is_some() => return Err(wrong("it goes on after its end")),
                Line::Row { table, row } => rows.push(to_row(&table, row)?),
                Line::End { rows } => end = Some(rows),
                Line::Head { .. } => return Err(wrong("it begins twice")),
            }
        }
        if end != Some(rows.len()) {
            return Err(wrong("it was cut off").hint("export it again"));
        }
        Ok(rows)
    }
}

impl Select {
    /// What the first rows come after.
    fn beginning(&self) -> Value {
        match self {
            Self::Whole(_) => Value::Nothing,
            Self::Pages(_, first) => first.clone(),
        }
    }

    /// The rows after that key, as many as are read at a time.
    fn rows(&self, tx: &mut dyn Transaction, after: Value) -> Result<Vec<Row>, Trouble> {
        match self {
            Self::Whole(sql) => tx.query(sql, &[]),
            Self::Pages(sql, _) => tx.query(sql, &[after, PAGE.into()]),
        }
    }

    /// What the next rows come after, if there may be any.
    fn goes_on_after(&self, page: &[Row]) -> Option<Value> {
        match self {
            Self::Whole(_) => None,
            Self::Pages(..) => page.last().and_then(|Row(values)| values.first().cloned()),
        }
    }
}

fn wrong(what: &str) -> Fault {
    Fault::bad_input(format!("this cannot be imported: {what}"))
}

fn to_row(name: &str, row: Vec<Json>) -> Result<(&'static Table, Row), Fault> {
    let table = TABLES.iter().find(|table| table.name == name);
    let table = table.ok_or_else(|| wrong("it holds a table that oxmox does not have"))?;
    if row.len() != table.columns {
        return Err(wrong(&format!("a row of {name} has other columns")));
    }
    let values: Option<Vec<_>> = row.into_iter().map(from_json).collect();
    let values = values.ok_or_else(|| wrong(&format!("a row of {name} is none of oxmox's")))?;
    Ok((table, Row(values)))
}

fn to_json(value: Value) -> Json {
    match value {
        Value::Nothing => Json::Null,
        Value::Number(number) => number.into(),
        Value::Text(text) => text.into(),
    }
}

fn from_json(value: Json) -> Option<Value> {
    match value {
        Json::Null => Some(Value::Nothing),
        Json::Number(number) => number.as_i64().map(Value::Number),
        Json::String(text) => Some(Value::Text(text)),
        _ => None,
    }
}
