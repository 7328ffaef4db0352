//! What became of the plans that were begun.

use super::audit::chain;
use super::database::{Row, Transaction, Trouble};
use super::{AuditEntry, Store, json};
use crate::fault::Fault;
use crate::outcome::{Outcome, StepOutcome};
use crate::plan::Plan;

/// A plan that was under way at some time, with what is known of its steps.
#[derive(Debug)]
pub struct UnderWay {
    /// Its id.
    pub id: String,
    /// The plan.
    pub plan: Plan,
    /// Its steps, in order.
    pub steps: Vec<StepOutcome>,
    /// Who sends them, or has left them behind; `None` once it has ended.
    pub worker: Option<String>,
}

impl Store {
    /// What became of it, for whoever asks again, and its closing entry in the audit trail. Both are written once: false
    /// if somebody else was first. With `seen`, its steps must still be known as they were then: who looks from outside
    /// does not close what is going on.
    pub async fn finish_plan(
        &self,
        outcome: &Outcome,
        closing: &AuditEntry,
        seen: Option<&[StepOutcome]>,
    ) -> Result<bool, Fault> {
        let seen: Option<Vec<String>> = match seen {
            Some(steps) => Some(steps.iter().map(json).collect::<Result<_, _>>()?),
            None => None,
        };
        let (kept, entry) = (json(outcome)?, json(closing)?);
        let (plan, keys) = (outcome.plan.clone(), self.keys.clone());
        let closed = self.record(move |tx| {
            // Whoever is about to send one of them, taken for dead though they live, has written that down by now, or
            // finds the plan closed: between the look at the steps and their end nobody writes.
            let hold = "UPDATE steps SET outcome = outcome WHERE plan = ?1";
            tx.execute(hold, &[(&plan).into()])?;
            if let Some(seen) = &seen {
                let sql = "SELECT outcome FROM steps WHERE plan = ?1 ORDER BY position";
                let rows = tx.query(sql, &[(&plan).into()])?;
                let now: Vec<_> = rows
                    .iter()
                    .map(|row| row.text(0))
                    .collect::<Result<_, _>>()?;
                if now != *seen {
                    return Ok((false, Vec::new()));
                }
            }
            let changed = tx.execute(
                "UPDATE plans SET outcome = ?1 WHERE id = ?2 AND outcome IS NULL",
                &[(&kept).into(), (&plan).into()],
            )?;
            let is_kept = |tx: &mut dyn Transaction| -> Result<bool, Trouble> {
                let found = tx.query("SELECT id FROM plans WHERE id = ?1", &[(&plan).into()])?;
                Ok(!found.is_empty())
            };
            if changed == 0 && is_kept(tx)? {
                return Ok((false, Vec::new()));
            }
            tx.execute("DELETE FROM steps WHERE plan = ?1", &[(&plan).into()])?;
            Ok((true, vec![chain(tx, &keys, &entry)?]))
        });
        Ok(closed.await?)
    }

    /// More has come to be known of a plan that was closed as running or unknown.
    pub async fn mend_outcome(&self, outcome: &Outcome) -> Result<(), Fault> {
        let values = [(&json(outcome)?).into(), (&outcome.plan).into()];
        self.write(move |tx| {
            tx.execute(
                "UPDATE plans SET outcome = ?1 WHERE id = ?2 AND outcome IS NOT NULL",
                &values,
            )
        })
        .await?;
        Ok(())
    }

    /// What became of it, if it came to an end.
    pub async fn plan_outcome(&self, id: &str) -> Result<Option<Outcome>, Fault> {
        let values = [id.into()];
        let rows = self
            .read(move |tx| tx.query("SELECT outcome FROM plans WHERE id = ?1", &values))
            .await?;
        let json = match rows.first() {
            Some(row) => row.maybe_text(0)?,
            None => None,
        };
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// The plans that something was sent for, or known of, between these two times, whether or not they have ended.
    pub async fn under_way(&self, from: i64, until: i64) -> Result<Vec<UnderWay>, Fault> {
        let values = [from.into(), until.into()];
        let (plans, steps) = self
            .read(move |tx| {
                let plans = tx.query(
                    "SELECT plans.id, plans.plan, plans.outcome, handles.worker
                     FROM plans JOIN handles ON handles.plan = plans.id
                     WHERE handles.updated >= ?1 AND handles.begun <= ?2",
                    &values,
                )?;
                // Of what has not ended; that is never much.
                let sql = "SELECT plan, outcome FROM steps ORDER BY plan, position";
                Ok((plans, tx.query(sql, &[])?))
            })
            .await?;
        let read = |row: &Row| -> Result<UnderWay, Trouble> {
            let id = row.text(0)?;
            let (known, worker) = match row.maybe_text(2)? {
                Some(outcome) => (serde_json::from_str::<Outcome>(&outcome)?.steps, None),
                None => (steps_of(&steps, &id)?, Some(row.text(3)?)),
            };
            Ok(UnderWay {
                plan: serde_json::from_str(&row.text(1)?)?,
                steps: known,
                id,
                worker,
            })
        };
        // One row that cannot be read must not hide the others.
        Ok(plans.iter().filter_map(|row| read(row).ok()).collect())
    }
}

fn steps_of(rows: &[Row], plan: &str) -> Result<Vec<StepOutcome>, Trouble> {
    let mut steps = Vec::new();
    for row in rows {
        if row.text(0)? == plan {
            steps.push(serde_json::from_str(&row.text(1)?)?);
        }
    }
    Ok(steps)
}
