//! A person's yes that covers more than one call: key presses on one guest, for a few minutes.

use rusqlite::{OptionalExtension as _, params};

use super::Store;
use crate::fault::Fault;

impl Store {
    /// From now until `expires`, `caller` may press keys on `guest` without asking again.
    pub fn grant_lease(&self, caller: &str, guest: &str, expires: i64) -> Result<(), Fault> {
        self.write(|tx| {
            tx.execute(
                "INSERT OR REPLACE INTO leases (caller, guest, expires) VALUES (?1, ?2, ?3)",
                params![caller, guest, expires],
            )
        })?;
        Ok(())
    }

    /// Whether such a lease holds now.
    pub fn has_lease(&self, caller: &str, guest: &str, now: i64) -> Result<bool, Fault> {
        let found: Option<i64> = self
            .lock()
            .query_row(
                "SELECT 1 FROM leases WHERE caller = ?1 AND guest = ?2 AND expires > ?3",
                params![caller, guest, now],
                |row| row.get(0),
            )
            .optional()?;
        Ok(found.is_some())
    }
}
