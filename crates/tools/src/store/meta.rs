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

/// As much as a long plan takes.
const TRIAL: usize = 64 * 1024;

impl Store {
    /// Whether something can be written: writes it, and takes it away again. Tells the version of the store's schema.
    pub async fn try_writing(&self) -> Result<i64, Fault> {
        let text = ["x".repeat(TRIAL).as_str().into()];
        let writing = self.write(move |tx| {
            let sql = "INSERT INTO meta (name, value) VALUES ('trial', ?1)
                       ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            tx.execute(sql, &text).map(drop)
        });
        writing.await?;
        // By itself: what is gone before its transaction ends takes no room on any disk.
        let removing = self.write(|tx| {
            let sql = "DELETE FROM meta WHERE name = 'trial'";
            tx.execute(sql, &[]).map(drop)
        });
        removing.await?;
        Ok(super::VERSION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::VERSION;
    use crate::store::life::Life;
    use crate::store::sqlite::Sqlite;

    #[tokio::test]
    async fn a_full_disk_cannot_be_written_to() {
        let store = |database| Store::on(vec![Box::new(database)], Keys::ephemeral(), Life::Alone);
        let roomy = store(Sqlite::in_memory().unwrap());
        assert_eq!(roomy.try_writing().await.unwrap(), VERSION);
        assert_eq!(roomy.try_writing().await.unwrap(), VERSION);
        let left = roomy.read(|tx| tx.query("SELECT name FROM meta", &[]));
        assert_eq!(left.await.unwrap(), []);
        let full = store(Sqlite::full().unwrap());
        let fault = full.try_writing().await.unwrap_err();
        assert!(fault.message.contains("full"), "{fault}");
    }
}
