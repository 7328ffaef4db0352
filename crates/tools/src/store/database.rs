//! What the store needs of a database. The statements are written once, in the SQL that SQLite and PostgreSQL share, with
//! parameters as `?1`, `?2`, …

use crate::fault::{Fault, Kind};

/// A connection to a database. Its calls block, so that it lives on a thread of its own.
pub(super) trait Database: Send {
    /// Runs `work` as one transaction that others see as a whole or not at all. It may be run again if it was lost
    /// before its end.
    fn transact(&mut self, purpose: Purpose, work: &mut Work<'_>) -> Result<(), Trouble>;
}

/// What a transaction does.
pub(super) type Work<'a> = dyn FnMut(&mut dyn Transaction) -> Result<(), Trouble> + 'a;

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    Write,
}

/// A transaction that is under way.
pub(super) trait Transaction {
    /// Runs a statement and tells how many rows it changed.
    fn execute(&mut self, sql: &'static str, values: &[Value]) -> Result<u64, Trouble>;
    /// The rows of a statement.
    fn query(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Row>, Trouble>;
    /// Waits until nobody else adds to the audit trail, and keeps others from it until the end.
    fn hold_audit(&mut self) -> Result<(), Trouble>;
}

/// Why something was not read or written.
#[derive(Debug)]
pub(super) struct Trouble(pub(super) String);

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Self {
        Self::new(
            Kind::Internal,
            format!(
                "the state of oxmox cannot be read or written: {}",
                trouble.0
            ),
        )
        .hint(
            "a person has to look at the store: the state directory and its disk, or the database",
        )
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Nothing,
    Number(i64),
    Text(String),
}

/// The columns of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row(pub(super) Vec<Value>);

impl Row {
    /// The text in that column.
    pub(super) fn text(&self, column: usize) -> Result<String, Trouble> {
        self.maybe_text(column)?.ok_or_else(|| unexpected(column))
    }

    /// The text in that column, if there is any.
    pub(super) fn maybe_text(&self, column: usize) -> Result<Option<String>, Trouble> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(Value::Nothing) => Ok(None),
            _ => Err(unexpected(column)),
        }
    }

    /// The number in that column.
    pub(super) fn number(&self, column: usize) -> Result<i64, Trouble> {
        self.maybe_number(column)?.ok_or_else(|| unexpected(column))
    }

    /// The number in that column, if there is any.
    pub(super) fn maybe_number(&self, column: usize) -> Result<Option<i64>, Trouble> {
        match self.0.get(column) {
            Some(Value::Number(number)) => Ok(Some(*number)),
            Some(Value::Nothing) => Ok(None),
            _ => Err(unexpected(column)),
        }
    }
}

fn unexpected(column: usize) -> Trouble {
    Trouble(format!("column {column} holds what oxmox did not write"))
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Number(yes.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}
