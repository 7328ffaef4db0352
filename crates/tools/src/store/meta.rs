//! What is known of the store itself.

use std::path::Path;

use super::Store;
use crate::fault::{Fault, Kind};

impl Store {
    /// Whoever has other keys than the one who made the store could use nothing that is in it, and would break the chain
    /// of the audit trail.
    pub(super) async fn insist_on_keys(&self, dir: &Path) -> Result<(), Fault> {
        let name = self.keys.name();
        let values = [(&name).into()];
        let found = self
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO meta (name, value) VALUES ('keys', ?1) ON CONFLICT (name) DO NOTHING",
                    &values,
                )?;
                let rows = tx.query("SELECT value FROM meta WHERE name = 'keys'", &[])?;
                rows.first().map_or(Ok(String::new()), |row| row.text(0))
            })
            .await?;
        if found == name {
            return Ok(());
        }
        let file = dir.join("key");
        Err(Fault::new(
            Kind::Refused,
            format!(
                "the store was made with other keys than those in {}",
                file.display()
            ),
        )
        .hint("copy the file `key` from the state directory of a replica that works, readable by its owner only"))
    }
}
