//! Looks inside guests that are not over: each with who takes it, so that one whose worker has died is closed by another.

use super::audit::{Written, chain, tell};
use super::database::{Purpose, Transaction, Trouble, Value};
use super::{AuditEntry, Store, json};
use crate::fault::Fault;
use crate::keys::Keys;

/// A look that was begun and whose end is not written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLook {
    /// What its entries in the audit trail share.
    pub id: String,
    /// Who takes it.
    pub worker: String,
    /// What it is.
    pub summary: String,
}

impl Store {
    /// A look is about to be taken, and the audit trail says so: both or neither.
    pub async fn open_look(&self, look: &OpenLook, opened: &AuditEntry) -> Result<(), Fault> {
        let (opened, keys) = (json(opened)?, self.keys.clone());
        let values: [Value; 3] = [
            (&look.id).into(),
            (&look.worker).into(),
            (&look.summary).into(),
        ];
        self.record(move |tx| {
            tx.execute(
                "INSERT INTO looks (id, worker, summary) VALUES (?1, ?2, ?3)",
                &values,
            )?;
            Ok(((), vec![chain(tx, &keys, &opened)?]))
        })
        .await?;
        Ok(())
    }

    /// Those that are open, in no order that means anything.
    pub async fn open_looks(&self) -> Result<Vec<OpenLook>, Fault> {
        let rows = self
            .read(|tx| tx.query("SELECT id, worker, summary FROM looks ORDER BY id", &[]))
            .await?;
        let mut open = Vec::new();
        for row in rows {
            open.push(OpenLook {
                id: row.text(0)?,
                worker: row.text(1)?,
                summary: row.text(2)?,
            });
        }
        Ok(open)
    }

    /// What became of a look. Written once: false if somebody else was first.
    pub async fn close_look(&self, id: &str, closing: &AuditEntry) -> Result<bool, Fault> {
        let (id, entry, keys) = (id.to_owned(), json(closing)?, self.keys.clone());
        let closed = self.record(move |tx| {
            let written = close(tx, &keys, &id, &entry)?;
            Ok((written.is_some(), Vec::from_iter(written)))
        });
        Ok(closed.await?)
    }

    /// The same for whoever cannot wait for it.
    pub fn close_look_soon(&self, id: &str, closing: &AuditEntry) {
        let Ok(entry) = json(closing) else { return };
        let (id, keys, copyist) = (id.to_owned(), self.keys.clone(), self.copyist.clone());
        self.threads.give(move |database| {
            let mut closed = None;
            let done = database.transact(Purpose::Write, &mut |tx| {
                closed = close(tx, &keys, &id, &entry)?;
                Ok(())
            });
            if done.is_ok() {
                tell(copyist.as_ref(), closed.as_slice());
            }
        });
    }
}

/// `None`: somebody else was first.
fn close(
    tx: &mut dyn Transaction,
    keys: &Keys,
    id: &str,
    entry: &str,
) -> Result<Option<Written>, Trouble> {
    let closed = tx.execute("DELETE FROM looks WHERE id = ?1", &[id.into()])?;
    if closed == 0 {
        return Ok(None);
    }
    chain(tx, keys, entry).map(Some)
}
