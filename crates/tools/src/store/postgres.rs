//! A PostgreSQL database, which the replicas of a service share.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::time::Duration;

use bytes::BytesMut;
use postgres::error::SqlState;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, IsolationLevel, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::database::{Database, Purpose, Row, Transaction, Trouble, Value, Work};
use super::{SCHEMA, VERSION, newer};

/// Locks that all processes on a database agree about. Any numbers will do that nobody else takes.
const AUDIT_LOCK: i64 = 0x6f78_6d6f_7801;
const SCHEMA_LOCK: i64 = 0x6f78_6d6f_7802;

/// How often work is done anew that was lost before its end: nothing of it has happened then.
const TRIES: u32 = 4;
/// How long is waited in between, the second time; the third time twice as long.
const PAUSE: Duration = Duration::from_millis(250);

/// After how long a session ends whose server's machine does not answer.
const UNANSWERED: Duration = Duration::from_secs(15);

/// What a session is told at its beginning: a database that hangs must not hold up whoever asks for ever, and what was
/// committed is on disk.
const SESSION: &str = "SET statement_timeout = '15s'; SET lock_timeout = '10s'; \
                       SET idle_in_transaction_session_timeout = '30s'; SET synchronous_commit = on;";

/// A connection to a database, made when it is first needed and made again when it was lost.
pub(super) struct Postgres {
    address: Address,
    session: Option<Session>,
}

/// Where the database is, and how to get in.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: postgres::Config,
    pub(super) tls: MakeRustlsConnect,
}

struct Session {
    client: Client,
    statements: BTreeMap<&'static str, Statement>,
}

impl Address {
    /// A new session.
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        self.connect_within(UNANSWERED)
    }

    /// A new session, which ends once the server's machine has not answered for so long.
    pub(super) fn connect_within(&self, unanswered: Duration) -> Result<Client, postgres::Error> {
        let mut config = self.config.clone();
        if config.get_application_name().is_none() {
            config.application_name("oxmox");
        }
        config
            .connect_timeout(Duration::from_secs(5))
            .tcp_user_timeout(unanswered);
        let mut client = config.connect(self.tls.clone())?;
        client.batch_execute(SESSION)?;
        Ok(client)
    }
}

impl Postgres {
    pub(super) fn new(address: Address) -> Self {
        Self {
            address,
            session: None,
        }
    }

    /// Makes the tables, or brings them forward if an older oxmox has made them.
    pub(super) fn prepare(&mut self) -> Result<(), Trouble> {
        let session = self.session()?;
        let mut transaction = session.client.transaction()?;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&SCHEMA_LOCK])?;
        transaction
            .batch_execute("CREATE TABLE IF NOT EXISTS oxmox_schema (version BIGINT NOT NULL)")?;
        let found = transaction.query_opt("SELECT version FROM oxmox_schema", &[])?;
        let found: i64 = found.map_or(0, |row| row.get(0));
        if found > VERSION {
            return Err(newer(found));
        }
        if found < VERSION {
            transaction.batch_execute(&schema())?;
            transaction.execute("DELETE FROM oxmox_schema", &[])?;
            transaction.execute("INSERT INTO oxmox_schema VALUES ($1)", &[&VERSION])?;
        }
        Ok(transaction.commit()?)
    }

    fn session(&mut self) -> Result<&mut Session, postgres::Error> {
        let lost = self
            .session
            .as_ref()
            .is_some_and(|session| session.client.is_closed());
        if lost {
            self.session = None;
        }
        if self.session.is_none() {
            let client = self.address.connect()?;
            self.session = Some(Session {
                client,
                statements: BTreeMap::new(),
            });
        }
        Ok(self
            .session
            .as_mut()
            .unwrap_or_else(|| unreachable!("it was made a moment ago")))
    }

    fn try_once(&mut self, purpose: Purpose, work: &mut Work<'_>) -> Result<(), Failed> {
        let Session { client, statements } = self.session().map_err(Failed::of)?;
        let transaction = client
            .build_transaction()
            // What is read and then written is locked by the statement that writes; whoever adds to the audit trail
            // must see what the one before has added.
            .isolation_level(IsolationLevel::ReadCommitted)
            .read_only(purpose == Purpose::Read)
            .start()
            .map_err(Failed::of)?;
        let mut under_way = UnderWay {
            transaction,
            statements,
            failed: None,
        };
        if let Err(trouble) = work(&mut under_way) {
            return Err(match under_way.failed {
                Some(error) => Failed::of(error),
                None => Failed::ForGood(trouble),
            });
        }
        under_way.transaction.commit().map_err(Failed::at_commit)
    }
}

impl Database for Postgres {
    fn transact(&mut self, purpose: Purpose, work: &mut Work<'_>) -> Result<(), Trouble> {
        for number in 1..TRIES {
            match self.try_once(purpose, work) {
                Ok(()) => return Ok(()),
                // A database that is started anew takes a moment.
                Err(Failed::ForNow(_)) => pause(number - 1),
                Err(Failed::ForGood(trouble)) => return Err(trouble),
            }
        }
        match self.try_once(purpose, work) {
            Ok(()) => Ok(()),
            Err(Failed::ForNow(trouble) | Failed::ForGood(trouble)) => Err(trouble),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the thread is the store's own, and has nothing else to do"
)]
fn pause(times: u32) {
    std::thread::sleep(PAUSE * times);
}

/// Why a transaction did not come to its end.
enum Failed {
    /// Nothing has happened, and another try may do better.
    ForNow(Trouble),
    ForGood(Trouble),
}

impl Failed {
    /// An error before the end of a transaction, which takes all of it back.
    fn of(error: postgres::Error) -> Self {
        let passing = match error.code() {
            Some(code) => {
                clashed(code)
                    || [
                        SqlState::ADMIN_SHUTDOWN,
                        SqlState::CRASH_SHUTDOWN,
                        SqlState::CANNOT_CONNECT_NOW,
                    ]
                    .contains(code)
            }
            // The connection broke, in whatever way.
            None => true,
        };
        if passing {
            Self::ForNow(error.into())
        } else {
            Self::ForGood(error.into())
        }
    }
}

impl Failed {
    /// An error at the end of a transaction. Only the database itself can say that it was taken back.
    fn at_commit(error: postgres::Error) -> Self {
        match error.code() {
            Some(code) if clashed(code) => Self::ForNow(error.into()),
            // A session that is ended may have been ended a moment later.
            Some(code) if !code.code().starts_with("57") => Self::ForGood(error.into()),
            _ => Self::ForGood(Trouble(format!(
                "{}, and it is not known whether the last entry was written",
                explain(&error)
            ))),
        }
    }
}

/// Whether two transactions were in each other's way.
fn clashed(code: &SqlState) -> bool {
    [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ]
    .contains(code)
}

struct UnderWay<'a> {
    transaction: postgres::Transaction<'a>,
    statements: &'a mut BTreeMap<&'static str, Statement>,
    /// What the database said, for whoever decides on another try.
    failed: Option<postgres::Error>,
}

impl UnderWay<'_> {
    fn run<T>(
        &mut self,
        sql: &'static str,
        values: &[Value],
        run: impl FnOnce(
            &mut postgres::Transaction<'_>,
            &Statement,
            &[&(dyn ToSql + Sync)],
        ) -> Result<T, postgres::Error>,
    ) -> Result<T, Trouble> {
        let ran = self.statement(sql).and_then(|statement| {
            let values: Vec<_> = values.iter().map(|value| value as _).collect();
            run(&mut self.transaction, &statement, &values)
        });
        ran.map_err(|error| {
            let trouble = Trouble(explain(&error));
            self.failed = Some(error);
            trouble
        })
    }

    fn statement(&mut self, sql: &'static str) -> Result<Statement, postgres::Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.transaction.prepare(&sql.replace('?', "$"))?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

impl Transaction for UnderWay<'_> {
    fn execute(&mut self, sql: &'static str, values: &[Value]) -> Result<u64, Trouble> {
        self.run(sql, values, |transaction, statement, values| {
            transaction.execute(statement, values)
        })
    }

    fn query(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Row>, Trouble> {
        let rows = self.run(sql, values, |transaction, statement, values| {
            transaction.query(statement, values)
        })?;
        let read = |row: postgres::Row| {
            let values = (0..row.len()).map(|column| row.try_get(column));
            Ok(Row(values.collect::<Result<_, _>>()?))
        };
        rows.into_iter().map(read).collect()
    }

    fn hold_audit(&mut self) -> Result<(), Trouble> {
        self.execute("SELECT pg_advisory_xact_lock(?1)", &[AUDIT_LOCK.into()])?;
        Ok(())
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        to: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Nothing => Ok(IsNull::Yes),
            Self::Number(number) => number.to_sql(to, out),
            Self::Text(text) => text.to_sql(to, out),
        }
    }

    fn accepts(of: &Type) -> bool {
        <i64 as ToSql>::accepts(of) || <String as ToSql>::accepts(of)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(
        of: &Type,
        raw: &'a [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        if <i64 as FromSql<'_>>::accepts(of) {
            i64::from_sql(of, raw).map(Self::Number)
        } else {
            String::from_sql(of, raw).map(Self::Text)
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self::Nothing)
    }

    fn accepts(of: &Type) -> bool {
        <i64 as FromSql<'_>>::accepts(of) || <String as FromSql<'_>>::accepts(of)
    }
}

impl From<postgres::Error> for Trouble {
    fn from(error: postgres::Error) -> Self {
        Self(explain(&error))
    }
}

/// What went wrong, with what the database itself says about it.
pub(super) fn explain(error: &postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

/// The schema in PostgreSQL's words.
fn schema() -> String {
    SCHEMA
        .replace("INTEGER", "BIGINT")
        .replace(") STRICT;", ");")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_keeps_nothing_of_sqlites_own() {
        let schema = schema();
        assert!(schema.contains("BIGINT PRIMARY KEY"));
        for word in ["STRICT", "INTEGER", "rowid", "OR REPLACE"] {
            assert!(!schema.contains(word), "{word}");
        }
    }
}
