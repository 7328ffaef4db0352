//! A person's yes that covers more than one call: key presses on one guest, for a few minutes.

use rusqlite::{OptionalExtension as _, params};

use super::Store;
use crate::fault::Fault;

impl Store {
    /// From now until `expires`, `caller` may press keys on `guest` without asking again.
    pub fn grant_lease(&self, caller: &str, guest: &str, expires: i64) -> Result<(), Fault> {
        let seal = self
            .keys
            .seal(&lease(caller, guest, &expires.to_be_bytes()));
        self.write(|tx| {
            tx.execute(
                "INSERT OR REPLACE INTO leases (caller, guest, expires, seal) VALUES (?1, ?2, ?3, ?4)",
                params![caller, guest, expires, seal],
            )
        })?;
        Ok(())
    }

    /// Whether such a lease holds now. A row edited by hand does not.
    pub fn has_lease(&self, caller: &str, guest: &str, now: i64) -> Result<bool, Fault> {
        let found: Option<(i64, String)> = self
            .lock()
            .query_row(
                "SELECT expires, seal FROM leases WHERE caller = ?1 AND guest = ?2 AND expires > ?3",
                params![caller, guest, now],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        Ok(found.is_some_and(|(expires, seal)| {
            self.keys
                .is_sealed(&lease(caller, guest, &expires.to_be_bytes()), &seal)
        }))
    }
}

fn lease<'a>(caller: &'a str, guest: &'a str, expires: &'a [u8]) -> [&'a [u8]; 4] {
    [b"lease", caller.as_bytes(), guest.as_bytes(), expires]
}
