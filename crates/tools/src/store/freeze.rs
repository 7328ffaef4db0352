//! The emergency brake of all replicas: a row, which stops whoever reads it.

use super::Store;
use crate::fault::Fault;

impl Store {
    /// Stops every change of everybody on this store. The first who does so is remembered.
    pub async fn freeze(&self, by: &str) -> Result<(), Fault> {
        let values = [by.into()];
        self.write(move |tx| {
            tx.execute(
                "INSERT INTO meta (name, value) VALUES ('frozen', ?1) ON CONFLICT (name) DO NOTHING",
                &values,
            )
        })
        .await?;
        Ok(())
    }

    /// Lets changes run again. False: nobody had stopped them.
    pub async fn thaw(&self) -> Result<bool, Fault> {
        let gone = self
            .write(|tx| tx.execute("DELETE FROM meta WHERE name = 'frozen'", &[]))
            .await?;
        Ok(gone == 1)
    }

    /// Who stopped all changes, if somebody did.
    pub async fn frozen_by(&self) -> Result<Option<String>, Fault> {
        let rows = self
            .read(|tx| tx.query("SELECT value FROM meta WHERE name = 'frozen'", &[]))
            .await?;
        Ok(rows.first().map(|row| row.text(0)).transpose()?)
    }
}
