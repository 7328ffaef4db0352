//! The estate as it was, by name.

use super::Store;
use crate::baseline::Baseline;
use crate::fault::{Fault, Kind};

impl Store {
    /// Keeps a baseline; one of the same name goes.
    pub async fn keep_baseline(&self, name: &str, baseline: &Baseline) -> Result<(), Fault> {
        let estate =
            serde_json::to_string(&baseline.clusters).map_err(|error| unreadable(name, &error))?;
        let values = [name.into(), baseline.taken.into(), (&estate).into()];
        self.write(move |tx| {
            tx.execute(
                "INSERT INTO baselines (name, taken, estate) VALUES (?1, ?2, ?3)
                 ON CONFLICT (name) DO UPDATE SET taken = excluded.taken, estate = excluded.estate",
                &values,
            )
        })
        .await?;
        Ok(())
    }

    /// The baseline of that name.
    pub async fn baseline(&self, name: &str) -> Result<Option<Baseline>, Fault> {
        let values = [name.into()];
        let found = self
            .read(move |tx| {
                tx.query(
                    "SELECT taken, estate FROM baselines WHERE name = ?1",
                    &values,
                )
            })
            .await?;
        let Some(row) = found.first() else {
            return Ok(None);
        };
        let clusters =
            serde_json::from_str(&row.text(1)?).map_err(|error| unreadable(name, &error))?;
        let taken = row.number(0)?;
        Ok(Some(Baseline { taken, clusters }))
    }

    /// The names of all baselines and when each was taken, the latest first.
    pub async fn baselines(&self) -> Result<Vec<(String, i64)>, Fault> {
        let rows = self
            .read(|tx| tx.query("SELECT name, taken FROM baselines ORDER BY taken DESC", &[]))
            .await?;
        let mut names = Vec::new();
        for row in rows {
            names.push((row.text(0)?, row.number(1)?));
        }
        Ok(names)
    }
}

fn unreadable(name: &str, error: &serde_json::Error) -> Fault {
    Fault::new(
        Kind::Internal,
        format!("the baseline {name} is unreadable: {error}"),
    )
    .hint("a person can take it anew with `oxmox baseline save`")
}
