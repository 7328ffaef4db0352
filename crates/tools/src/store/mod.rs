//! What outlives a call: plans that wait for a person, how far those are that were begun, leases, and the audit trail.
//!
//! Several processes may share a store (`oxmox approve` beside a running server): every read-and-write is one transaction.

mod audit;
mod baselines;
mod database;
mod freeze;
mod handles;
mod lease;
mod life;
mod limits;
mod looks;
mod meta;
mod outcomes;
mod place;
mod plans;
mod postgres;
mod sessions;
mod shared;
mod sqlite;
mod threads;
mod tokens;
mod transfer;

pub use audit::{AuditEntry, Copyist, Link, Verified, Written};
pub use handles::{Opening, StoredHandle, StoredStep};
pub use life::Sign;
pub use looks::OpenLook;
pub use outcomes::UnderWay;
pub use plans::{PlanState, StoredPlan, cannot_show_secret};
pub use sessions::StoredSession;
pub use shared::Shared;
pub use tokens::StoredToken;

use std::path::Path;

use crate::fault::{Fault, Kind};
use crate::keys::Keys;
use database::{Database, Purpose, Transaction, Trouble};
use life::{Life, Sessions};
use place::Place;
use postgres::Postgres;
use sqlite::Sqlite;
use threads::Threads;

/// The schema version that this program writes. A newer store is refused, an older one is brought forward.
const VERSION: i64 = 9;
/// The database in a directory.
const FILE: &str = "oxmox.db";
const SCHEMA: &str = include_str!("schema.sql");

/// How many connections to a shared database a process has.
const CONNECTIONS: usize = 6;

/// The store and the keys that protect what is in it.
pub struct Store {
    threads: Threads,
    life: Life,
    /// The file that it is in, where it is one.
    place: Option<Place>,
    /// Who is told of each entry of the audit trail.
    copyist: Option<Copyist>,
    /// Seals approvals and links audit entries.
    pub keys: Keys,
}

impl Store {
    /// Whether there is a store in this directory.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(FILE).exists()
    }

    /// Whether this directory has the keys that a store is made with.
    pub fn has_keys(dir: &Path) -> bool {
        dir.join("key").exists()
    }

    /// The store in this directory, made on first use.
    pub fn open(dir: &Path) -> Result<Self, Fault> {
        let broken = |why: &str| unusable(dir, why);
        // Before a new one would take the place of the one that was lost.
        if Self::is_in(dir) && !Self::has_keys(dir) {
            return Err(meta::other_keys(dir));
        }
        let keys = keys(dir)?;
        let file = dir.join(FILE);
        create_private_file(&file).map_err(|error| broken(&error.to_string()))?;
        let mut database = Sqlite::open(&file).map_err(|trouble| broken(&trouble.0))?;
        let made_with = meta::made_with(&mut database, &keys);
        if made_with.map_err(|trouble| broken(&trouble.0))? != keys.name() {
            return Err(meta::other_keys(dir));
        }
        let life = Life::Files(dir.join("workers"));
        let place = database.place().cloned();
        Ok(Self {
            place,
            ..Self::on(vec![Box::new(database)], keys, life)
        })
    }

    /// Whether the store's file is still the one that was opened. A store whose file was replaced or removed reads and writes nothing, and
    /// what was read from it before may not hold any more: tokens may have been revoked.
    pub fn is_in_place(&self) -> bool {
        self.place.as_ref().is_none_or(Place::is_kept)
    }

    /// A store that ends with the process.
    pub fn in_memory() -> Result<Self, Fault> {
        let database = Sqlite::in_memory()?;
        Ok(Self::on(
            vec![Box::new(database)],
            Keys::ephemeral(),
            Life::Alone,
        ))
    }

    /// The store in a database that several processes share. The keys are in this directory: they must be the same for
    /// all of them, and are never in the database.
    pub async fn shared(at: &Shared, dir: &Path) -> Result<Self, Fault> {
        let keys = keys(dir)?;
        let address = at.address()?;
        let mut first = Postgres::new(address.clone());
        let known = keys.clone();
        let opening = tokio::task::spawn_blocking(move || {
            first.prepare()?;
            let is_ours = meta::made_with(&mut first, &known)? == known.name();
            // A connection ends by waiting, which only a thread of its own may do.
            Ok(is_ours.then_some(first))
        });
        let opened = opening.await.map_err(|error| Trouble(error.to_string()));
        let first = opened.flatten().map_err(|trouble| {
            Fault::new(
                Kind::Internal,
                format!("the store cannot be used: {}", trouble.0),
            )
            .hint("a person has to look whether the database is there, and lets this user in")
        })?;
        let first = first.ok_or_else(|| meta::other_keys(dir))?;
        let mut databases: Vec<Box<dyn Database>> = vec![Box::new(first)];
        for _ in 1..CONNECTIONS {
            databases.push(Box::new(Postgres::new(address.clone())));
        }
        Ok(Self::on(
            databases,
            keys,
            Life::Sessions(Sessions::new(address, at.patience)),
        ))
    }

    /// The same store, of whose audit trail somebody keeps a copy.
    #[must_use]
    pub fn copied_by(self, copyist: Option<Copyist>) -> Self {
        Self { copyist, ..self }
    }

    fn on(databases: Vec<Box<dyn Database>>, keys: Keys, life: Life) -> Self {
        Self {
            threads: Threads::start(databases),
            life,
            place: None,
            copyist: None,
            keys,
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut dyn Transaction) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        self.threads.run(Purpose::Read, work, |_| ()).await
    }

    /// Runs `work` as one transaction that others see as a whole or not at all.
    async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut dyn Transaction) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        self.threads.run(Purpose::Write, work, |_| ()).await
    }

    /// The same for what adds to the audit trail: whoever keeps a copy of it is told once it is there.
    async fn record<T: Send + 'static>(
        &self,
        work: impl Fn(&mut dyn Transaction) -> Result<(T, Vec<Written>), Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let copyist = self.copyist.clone();
        let tell = move |(_, written): &(T, Vec<Written>)| audit::tell(copyist.as_ref(), written);
        let recorded = self.threads.run(Purpose::Write, work, tell).await;
        recorded.map(|(value, _)| value)
    }
}

/// The keys in this directory, made on first use.
fn keys(dir: &Path) -> Result<Keys, Fault> {
    create_private_dir(dir).map_err(|error| unusable(dir, &error.to_string()))?;
    Keys::load(&dir.join("key"))
}

/// The fault of a state directory that cannot be used.
fn unusable(dir: &Path, why: &str) -> Fault {
    Fault::new(
        Kind::Internal,
        format!("the state in {} cannot be used: {why}", dir.display()),
    )
    .hint("set OXMOX_STATE_DIR or state_dir to a directory that oxmox may write to")
}

/// Why a store is not touched that this program does not know.
fn newer(found: i64) -> Trouble {
    Trouble(format!(
        "it was written by a newer oxmox (schema {found}, this one knows {VERSION})"
    ))
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
