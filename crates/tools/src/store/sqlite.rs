//! One SQLite file, which several processes may share (`oxmox approve` beside a running server).

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, TransactionBehavior, params_from_iter};

use super::database::{Database, Purpose, Row, Transaction, Trouble, Value, Work};
use super::place::Place;
use super::{SCHEMA, VERSION, newer};

/// How long one process waits for another.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to such a file.
pub(super) struct Sqlite {
    connection: Connection,
    /// The file; none if it is in memory.
    place: Option<Place>,
}

impl Sqlite {
    /// To this file, made on first use and brought forward if an older oxmox has written it.
    pub(super) fn open(file: &Path) -> Result<Self, Trouble> {
        let place = Place::of(file)?;
        let connection = Connection::open(file)?;
        place.check()?;
        Self::with(connection, Some(place))
    }

    /// The file that it is in.
    pub(super) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// One that ends with the process.
    pub(super) fn in_memory() -> Result<Self, Trouble> {
        Self::with(Connection::open_in_memory()?, None)
    }

    /// One that has no room for anything more.
    #[cfg(test)]
    pub(super) fn full() -> Result<Self, Trouble> {
        let database = Self::in_memory()?;
        database
            .connection
            .pragma_update(None, "max_page_count", 1)?;
        Ok(database)
    }

    fn with(connection: Connection, place: Option<Place>) -> Result<Self, Trouble> {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // An intent must be on disk before anything is sent.
        connection.pragma_update(None, "synchronous", "FULL")?;
        let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found > VERSION {
            return Err(newer(found));
        }
        if found == 1 {
            // Leases of that version bore no seal; they last minutes.
            connection.execute_batch("DROP TABLE IF EXISTS leases;")?;
        }
        if found < VERSION {
            connection.execute_batch(&format!("BEGIN;\n{SCHEMA}\nCOMMIT;"))?;
            connection.pragma_update(None, "user_version", VERSION)?;
        }
        Ok(Self { connection, place })
    }
}

impl Database for Sqlite {
    fn transact(&mut self, purpose: Purpose, work: &mut Work<'_>) -> Result<(), Trouble> {
        // Who is going to write waits at once: two that have read cannot both go on to write.
        let behavior = match purpose {
            Purpose::Read => TransactionBehavior::Deferred,
            Purpose::Write => TransactionBehavior::Immediate,
        };
        let check = |place: &Option<Place>| place.as_ref().map_or(Ok(()), Place::check);
        check(&self.place)?;
        let mut transaction = self.connection.transaction_with_behavior(behavior)?;
        work(&mut transaction)?;
        check(&self.place)?;
        Ok(transaction.commit()?)
    }
}

impl Transaction for rusqlite::Transaction<'_> {
    fn execute(&mut self, sql: &'static str, values: &[Value]) -> Result<u64, Trouble> {
        let changed = self
            .prepare_cached(sql)?
            .execute(params_from_iter(values))?;
        Ok(changed as u64)
    }

    fn query(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Row>, Trouble> {
        let mut statement = self.prepare_cached(sql)?;
        let columns = statement.column_count();
        let rows = statement.query_and_then(params_from_iter(values), |row| {
            let values = (0..columns).map(|column| value(row.get_ref(column)?));
            values.collect::<Result<_, Trouble>>().map(Row)
        })?;
        rows.collect()
    }

    fn hold_audit(&mut self) -> Result<(), Trouble> {
        // There is one writer at a time.
        Ok(())
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Nothing => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn value(found: ValueRef<'_>) -> Result<Value, Trouble> {
    match found {
        ValueRef::Null => Ok(Value::Nothing),
        ValueRef::Integer(number) => Ok(Value::Number(number)),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Ok(Value::Text(text.to_owned())),
            Err(error) => Err(Trouble(error.to_string())),
        },
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(Trouble(
            "a column holds what oxmox did not write".to_owned(),
        )),
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}
