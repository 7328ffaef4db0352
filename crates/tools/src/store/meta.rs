//! What is known of the store itself.

use std::path::Path;

use super::Store;
use super::database::{Database, Purpose, Trouble};
use crate::fault::{Fault, Kind};
use crate::keys::Keys;

/// The name of the keys that a store was made with: these, if it is new.
pub(super) fn made_with(database: &mut dyn Database, keys: &Keys) -> Result<String, Trouble> {
    let values = [(&keys.name()).into()];
    let mut found = String::new();
    database.transact(Purpose::Write, &mut |tx| {
        tx.execute(
            "INSERT INTO meta (name, value) VALUES ('keys', ?1) ON CONFLICT (name) DO NOTHING",
            &values,
        )?;
        let rows = tx.query("SELECT value FROM meta WHERE name = 'keys'", &[])?;
        found = rows.first().map_or(Ok(String::new()), |row| row.text(0))?;
        Ok(())
    })?;
    Ok(found)
}

/// Whoever has other keys than the one who made the store could use nothing that is in it, would break the chain of the
/// audit trail, and would take callers for strangers and strangers for callers.
pub(super) fn other_keys(dir: &Path) -> Fault {
    let file = dir.join("key");
    let what = format!(
        "the store was made with other keys than those in {}",
        file.display()
    );
    Fault::new(Kind::Refused, what).hint(
        "put back the file `key`, from a backup or from a replica that works, readable by its owner only; without it \
         tokens, approvals and the audit trail are worth nothing: to begin anew, move the store away",
    )
}

impl Store {
    /// Writes nothing, but as one who would: whether that can be done. Tells the version of the store's schema.
    pub async fn try_writing(&self) -> Result<i64, Fault> {
        let writing = self.write(|tx| {
            let sql = "DELETE FROM meta WHERE name = 'what no oxmox ever wrote'";
            tx.execute(sql, &[]).map(drop)
        });
        writing.await?;
        Ok(super::VERSION)
    }
}
