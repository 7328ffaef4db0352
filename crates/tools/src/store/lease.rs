//! A person's yes that covers more than one call: key presses on one guest, for a few minutes.

use super::Store;
use crate::fault::Fault;

impl Store {
    /// From now until `expires`, `caller` may press keys on `guest` without asking again.
    pub async fn grant_lease(&self, caller: &str, guest: &str, expires: i64) -> Result<(), Fault> {
        let seal = self
            .keys
            .seal(&lease(caller, guest, &expires.to_be_bytes()));
        let values = [caller.into(), guest.into(), expires.into(), (&seal).into()];
        self.write(move |tx| {
            tx.execute(
                "INSERT INTO leases (caller, guest, expires, seal) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (caller, guest) DO UPDATE SET expires = excluded.expires, seal = excluded.seal",
                &values,
            )
        })
        .await?;
        Ok(())
    }

    /// Whether such a lease holds now. A row edited by hand does not.
    pub async fn has_lease(&self, caller: &str, guest: &str, now: i64) -> Result<bool, Fault> {
        let values = [caller.into(), guest.into(), now.into()];
        let found = self
            .read(move |tx| {
                tx.query(
                    "SELECT expires, seal FROM leases WHERE caller = ?1 AND guest = ?2 AND expires > ?3",
                    &values,
                )
            })
            .await?;
        let Some(row) = found.first() else {
            return Ok(false);
        };
        let (expires, seal) = (row.number(0)?, row.text(1)?);
        Ok(self
            .keys
            .is_sealed(&lease(caller, guest, &expires.to_be_bytes()), &seal))
    }
}

fn lease<'a>(caller: &'a str, guest: &'a str, expires: &'a [u8]) -> [&'a [u8]; 4] {
    [b"lease", caller.as_bytes(), guest.as_bytes(), expires]
}
