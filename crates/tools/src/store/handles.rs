//! How far the plans are that were begun: who sends their steps, what became of each step, and whether they are to end.

use rusqlite::{OptionalExtension as _, params};

use super::{Store, json};
use crate::fault::Fault;
use crate::outcome::StepOutcome;

/// A plan that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHandle {
    /// Who sends its steps.
    pub worker: String,
    /// Unix time at which the first step was about to be sent.
    pub begun: i64,
    /// Unix time at which something was last known of it.
    pub updated: i64,
    /// Who wants it to end.
    pub cancelled_by: Option<String>,
    /// The second decision, on what is unsafe to stop: whether to stop it all the same.
    pub insists: Option<bool>,
}

/// What is known of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredStep {
    /// What became of it.
    pub outcome: StepOutcome,
    /// How things stood right before it was sent, as JSON.
    pub before: Option<String>,
}

impl Store {
    /// A plan is about to be sent by `worker`.
    pub fn begin_handle(
        &self,
        plan: &str,
        worker: &str,
        steps: &[StepOutcome],
        now: i64,
    ) -> Result<(), Fault> {
        let steps: Vec<String> = steps.iter().map(json).collect::<Result<_, _>>()?;
        self.write(|tx| {
            tx.execute(
                "INSERT INTO handles (plan, worker, begun, updated) VALUES (?1, ?2, ?3, ?3)",
                params![plan, worker, now],
            )?;
            for (position, step) in (0_i64..).zip(steps) {
                tx.execute(
                    "INSERT INTO steps (plan, position, outcome) VALUES (?1, ?2, ?3)",
                    params![plan, position, step],
                )?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// What is known of a step now, and how things stood before it, where it is about to be sent.
    pub fn keep_step(
        &self,
        plan: &str,
        position: usize,
        outcome: &StepOutcome,
        before: Option<&str>,
        now: i64,
    ) -> Result<(), Fault> {
        let outcome = json(outcome)?;
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        self.write(|tx| {
            tx.execute(
                "UPDATE steps SET outcome = ?1, before = COALESCE(?2, before) WHERE plan = ?3 AND position = ?4",
                params![outcome, before, plan, position],
            )?;
            tx.execute(
                "UPDATE handles SET updated = ?1 WHERE plan = ?2",
                params![now, plan],
            )
        })?;
        Ok(())
    }

    /// How a plan is known to have been begun; `None` if it was not.
    pub fn handle(&self, plan: &str) -> Result<Option<StoredHandle>, Fault> {
        Ok(self
            .lock()
            .query_row(
                "SELECT worker, begun, updated, cancelled_by, insists FROM handles WHERE plan = ?1",
                [plan],
                |row| {
                    Ok(StoredHandle {
                        worker: row.get(0)?,
                        begun: row.get(1)?,
                        updated: row.get(2)?,
                        cancelled_by: row.get(3)?,
                        insists: row.get(4)?,
                    })
                },
            )
            .optional()?)
    }

    /// Its steps, in order. None are left once its outcome was written.
    pub fn steps(&self, plan: &str) -> Result<Vec<StoredStep>, Fault> {
        let connection = self.lock();
        let mut statement = connection
            .prepare("SELECT outcome, before FROM steps WHERE plan = ?1 ORDER BY position")?;
        let rows = statement.query_map([plan], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
        })?;
        let mut steps = Vec::new();
        for row in rows {
            let (outcome, before) = row?;
            let outcome = serde_json::from_str(&outcome).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(
                    0,
                    rusqlite::types::Type::Text,
                    Box::new(error),
                )
            })?;
            steps.push(StoredStep { outcome, before });
        }
        Ok(steps)
    }

    /// Somebody wants it to end: what was not sent by now is not sent. The first to say so is remembered.
    pub fn cancel_handle(&self, plan: &str, by: &str, now: i64) -> Result<(), Fault> {
        self.write(|tx| {
            tx.execute(
                "UPDATE handles SET cancelled_by = ?1, updated = ?2 WHERE plan = ?3 AND cancelled_by IS NULL",
                params![by, now, plan],
            )
        })?;
        Ok(())
    }

    /// The second decision on a plan that is to end. It is taken once; false: it was taken before.
    pub fn insist_on_handle(&self, plan: &str, stop: bool, now: i64) -> Result<bool, Fault> {
        let changed = self.write(|tx| {
            tx.execute(
                "UPDATE handles SET insists = ?1, updated = ?2
                 WHERE plan = ?3 AND cancelled_by IS NOT NULL AND insists IS NULL",
                params![stop, now, plan],
            )
        })?;
        Ok(changed == 1)
    }
}
