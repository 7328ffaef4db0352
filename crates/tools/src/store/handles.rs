//! How far the plans are that were begun: who sends their steps, what became of each step, and whether they are to end.

use super::audit::{Written, chain};
use super::database::{Transaction, Trouble, Value};
use super::plans::{NewPlan, take};
use super::{AuditEntry, PlanState, Store, StoredPlan, json};
use crate::fault::Fault;
use crate::keys::Keys;
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

/// That a plan is about to be sent.
pub struct Opening<'a> {
    /// Who sends it.
    pub worker: &'a str,
    /// Its steps, unsent.
    pub steps: &'a [StepOutcome],
    /// The entry in the audit trail that says so.
    pub opened: &'a AuditEntry,
    /// Unix time.
    pub now: i64,
}

/// The same as rows.
struct Rows {
    handle: [Value; 3],
    steps: Vec<[Value; 3]>,
    opened: String,
}

impl Rows {
    fn of(plan: &str, opening: &Opening<'_>) -> Result<Self, Fault> {
        let mut steps = Vec::new();
        for (position, step) in (0_i64..).zip(opening.steps) {
            steps.push([plan.into(), position.into(), (&json(step)?).into()]);
        }
        Ok(Self {
            handle: [plan.into(), opening.worker.into(), opening.now.into()],
            steps,
            opened: json(opening.opened)?,
        })
    }

    fn insert(&self, tx: &mut dyn Transaction, keys: &Keys) -> Result<Written, Trouble> {
        tx.execute(
            "INSERT INTO handles (plan, worker, begun, updated) VALUES (?1, ?2, ?3, ?3)",
            &self.handle,
        )?;
        for row in &self.steps {
            tx.execute(
                "INSERT INTO steps (plan, position, outcome) VALUES (?1, ?2, ?3)",
                row,
            )?;
        }
        chain(tx, keys, &self.opened)
    }
}

impl Store {
    /// An open plan is taken and about to be sent, and the audit trail says so: all of it or nothing. True exactly once,
    /// whoever else tries at the same time.
    pub async fn begin_plan(
        &self,
        plan: &str,
        from: PlanState,
        opening: &Opening<'_>,
    ) -> Result<bool, Fault> {
        let (rows, keys) = (Rows::of(plan, opening)?, self.keys.clone());
        let (plan, now) = (plan.to_owned(), opening.now);
        let begun = self.record(move |tx| {
            if !take(tx, &plan, from, now)? {
                return Ok((false, Vec::new()));
            }
            Ok((true, vec![rows.insert(tx, &keys)?]))
        });
        Ok(begun.await?)
    }

    /// The same for a plan that nobody was asked about: it is kept and begun.
    pub async fn begin_unasked(
        &self,
        stored: &StoredPlan,
        opening: &Opening<'_>,
    ) -> Result<(), Fault> {
        let (rows, keys) = (Rows::of(&stored.id, opening)?, self.keys.clone());
        let plan = NewPlan::of(stored)?;
        let begun = self.record(move |tx| {
            plan.insert(tx)?;
            Ok(((), vec![rows.insert(tx, &keys)?]))
        });
        Ok(begun.await?)
    }

    /// What is known of a step now, and how things stood before it, where it is about to be sent. False: somebody has
    /// closed the plan.
    pub async fn keep_step(
        &self,
        plan: &str,
        position: usize,
        outcome: &StepOutcome,
        before: Option<&str>,
        now: i64,
    ) -> Result<bool, Fault> {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        let step: [Value; 4] = [
            (&json(outcome)?).into(),
            before.into(),
            plan.into(),
            position.into(),
        ];
        let handle: [Value; 2] = [now.into(), plan.into()];
        let kept = self.write(move |tx| {
            let changed = tx.execute(
                "UPDATE steps SET outcome = ?1, before = COALESCE(?2, before) WHERE plan = ?3 AND position = ?4",
                &step,
            )?;
            tx.execute("UPDATE handles SET updated = ?1 WHERE plan = ?2", &handle)?;
            Ok(changed == 1)
        });
        Ok(kept.await?)
    }

    /// The same for whoever only found it out: false, and nothing is written, if it is not known as `was` any more.
    pub async fn replace_step(
        &self,
        plan: &str,
        position: usize,
        was: &StepOutcome,
        found: &StepOutcome,
    ) -> Result<bool, Fault> {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        let values = [
            (&json(found)?).into(),
            plan.into(),
            position.into(),
            (&json(was)?).into(),
        ];
        let changed = self
            .write(move |tx| {
                tx.execute(
                    "UPDATE steps SET outcome = ?1 WHERE plan = ?2 AND position = ?3 AND outcome = ?4",
                    &values,
                )
            })
            .await?;
        Ok(changed == 1)
    }

    /// The plans that were begun and whose end is not written down, each with its worker; oldest first.
    pub async fn open_handles(&self) -> Result<Vec<(String, String)>, Fault> {
        let rows = self
            .read(|tx| {
                tx.query(
                    "SELECT plan, worker FROM handles
                     WHERE plan IN (SELECT id FROM plans WHERE outcome IS NULL) ORDER BY begun, plan",
                    &[],
                )
            })
            .await?;
        let mut open = Vec::new();
        for row in rows {
            open.push((row.text(0)?, row.text(1)?));
        }
        Ok(open)
    }

    /// How a plan is known to have been begun; `None` if it was not.
    pub async fn handle(&self, plan: &str) -> Result<Option<StoredHandle>, Fault> {
        let values = [plan.into()];
        let found = self
            .read(move |tx| {
                tx.query(
                    "SELECT worker, begun, updated, cancelled_by, insists FROM handles WHERE plan = ?1",
                    &values,
                )
            })
            .await?;
        let Some(row) = found.first() else {
            return Ok(None);
        };
        Ok(Some(StoredHandle {
            worker: row.text(0)?,
            begun: row.number(1)?,
            updated: row.number(2)?,
            cancelled_by: row.maybe_text(3)?,
            insists: row.maybe_number(4)?.map(|number| number != 0),
        }))
    }

    /// Its steps, in order. None are left once its outcome was written.
    pub async fn steps(&self, plan: &str) -> Result<Vec<StoredStep>, Fault> {
        let values = [plan.into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    "SELECT outcome, before FROM steps WHERE plan = ?1 ORDER BY position",
                    &values,
                )
            })
            .await?;
        let mut steps = Vec::new();
        for row in rows {
            let outcome = serde_json::from_str(&row.text(0)?).map_err(Trouble::from)?;
            let before = row.maybe_text(1)?;
            steps.push(StoredStep { outcome, before });
        }
        Ok(steps)
    }

    /// Somebody wants it to end: what was not sent by now is not sent. The first to say so is remembered.
    pub async fn cancel_handle(&self, plan: &str, by: &str, now: i64) -> Result<(), Fault> {
        let values = [by.into(), now.into(), plan.into()];
        self.write(move |tx| {
            tx.execute(
                "UPDATE handles SET cancelled_by = ?1, updated = ?2 WHERE plan = ?3 AND cancelled_by IS NULL",
                &values,
            )
        })
        .await?;
        Ok(())
    }

    /// The second decision on a plan that is to end. It is taken once; false: it was taken before.
    pub async fn insist_on_handle(&self, plan: &str, stop: bool, now: i64) -> Result<bool, Fault> {
        let values = [stop.into(), now.into(), plan.into()];
        let changed = self
            .write(move |tx| {
                tx.execute(
                    "UPDATE handles SET insists = ?1, updated = ?2
                     WHERE plan = ?3 AND cancelled_by IS NOT NULL AND insists IS NULL",
                    &values,
                )
            })
            .await?;
        Ok(changed == 1)
    }
}
