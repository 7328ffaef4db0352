//! The estate as it was, by name.

use rusqlite::{OptionalExtension as _, params};

use super::Store;
use crate::baseline::Baseline;
use crate::fault::{Fault, Kind};

impl Store {
    /// Keeps a baseline; one of the same name goes.
    pub fn keep_baseline(&self, name: &str, baseline: &Baseline) -> Result<(), Fault> {
        let estate =
            serde_json::to_string(&baseline.clusters).map_err(|error| unreadable(name, &error))?;
        self.write(|tx| {
            tx.execute(
                "INSERT OR REPLACE INTO baselines (name, taken, estate) VALUES (?1, ?2, ?3)",
                params![name, baseline.taken, estate],
            )
        })?;
        Ok(())
    }

    /// The baseline of that name.
    pub fn baseline(&self, name: &str) -> Result<Option<Baseline>, Fault> {
        let found: Option<(i64, String)> = self
            .lock()
            .query_row(
                "SELECT taken, estate FROM baselines WHERE name = ?1",
                params![name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        found
            .map(|(taken, estate)| {
                let clusters =
                    serde_json::from_str(&estate).map_err(|error| unreadable(name, &error))?;
                Ok(Baseline { taken, clusters })
            })
            .transpose()
    }

    /// The names of all baselines and when each was taken, the latest first.
    pub fn baselines(&self) -> Result<Vec<(String, i64)>, Fault> {
        let connection = self.lock();
        let mut rows =
            connection.prepare("SELECT name, taken FROM baselines ORDER BY taken DESC")?;
        let names = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }
}

fn unreadable(name: &str, error: &serde_json::Error) -> Fault {
    Fault::new(
        Kind::Internal,
        format!("the baseline {name} is unreadable: {error}"),
    )
    .hint("a person can take it anew with `oxmox baseline save`")
}
