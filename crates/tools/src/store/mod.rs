//! What outlives a call: plans that wait for a person, how far those are that were begun, leases, and the audit trail, in
//! one SQLite file.
//!
//! Calls are short and the file is local, so they run on the calling thread. Several processes may share
//! the file (`oxmox approve` beside a running server): every read-and-write is one transaction.

mod audit;
mod baselines;
mod handles;
mod lease;
mod plans;

pub use audit::{AuditEntry, Link, Verified};
pub use handles::{StoredHandle, StoredStep};
pub use plans::{PlanState, StoredPlan};

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::fault::{Fault, Kind};
use crate::keys::Keys;

/// The schema version that this program writes. A newer file is refused, an older one is brought forward.
const VERSION: i64 = 5;

/// The store and the keys that protect what is in it.
pub struct Store {
    connection: Mutex<Connection>,
    /// Seals approvals and links audit entries.
    pub keys: Keys,
}

impl Store {
    /// The store in this directory, made on first use.
    pub fn open(dir: &Path) -> Result<Self, Fault> {
        let broken = |error: &dyn std::fmt::Display| {
            Fault::new(
                Kind::Internal,
                format!("the state in {} cannot be used: {error}", dir.display()),
            )
            .hint("set OXMOX_STATE_DIR or state_dir to a directory that oxmox may write to")
        };
        create_private_dir(dir).map_err(|error| broken(&error))?;
        let keys = Keys::load(&dir.join("key")).map_err(|error| broken(&error))?;
        let database = dir.join("oxmox.db");
        create_private_file(&database).map_err(|error| broken(&error))?;
        let connection = Connection::open(&database).map_err(|error| broken(&error))?;
        Self::with(connection, keys).map_err(|error| broken(&error))
    }

    /// A store that ends with the process.
    pub fn in_memory() -> Result<Self, Fault> {
        Ok(Self::with(
            Connection::open_in_memory()?,
            Keys::ephemeral(),
        )?)
    }

    fn with(connection: Connection, keys: Keys) -> rusqlite::Result<Self> {
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // An intent must be on disk before anything is sent.
        connection.pragma_update(None, "synchronous", "FULL")?;
        let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if found > VERSION {
            return Err(rusqlite::Error::InvalidParameterName(format!(
                "it was written by a newer oxmox (schema {found}, this one knows {VERSION})"
            )));
        }
        if found == 1 {
            // Leases of that version bore no seal; they last minutes.
            connection.execute_batch("DROP TABLE IF EXISTS leases;")?;
        }
        if found < VERSION {
            connection.execute_batch(include_str!("schema.sql"))?;
            connection.pragma_update(None, "user_version", VERSION)?;
        }
        Ok(Self {
            connection: Mutex::new(connection),
            keys,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic while the lock was held cannot leave a half-done write: SQLite rolls it back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` as one transaction that other processes see as a whole or not at all.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }
}

/// Makes a directory that only its owner may look into.
pub fn create_private_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Makes an empty file that only its owner may read, unless there is one.
fn create_private_file(file: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// As it is kept.
fn json(value: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::new(Kind::Internal, error.to_string()))
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(
            Kind::Internal,
            format!("the state of oxmox cannot be read or written: {error}"),
        )
        .hint("a person has to look at the disk and the state directory")
    }
}
