//! Frozen plans and the decisions on them.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{AuditEntry, Store, json};
use crate::fault::Fault;
use crate::outcome::Outcome;
use crate::plan::Plan;

/// Where a stored plan stands. A plan leaves `Waiting` or `Approved` once, for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanState {
    /// Shown, waiting for a person.
    Waiting,
    /// A person said yes.
    Approved,
    /// A person said no.
    Rejected,
    /// Being applied, or applied.
    Used,
    /// A newer plan for the same call took its place.
    Replaced,
}

impl PlanState {
    fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Used => "used",
            Self::Replaced => "replaced",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "waiting" => Self::Waiting,
            "approved" => Self::Approved,
            "rejected" => Self::Rejected,
            "replaced" => Self::Replaced,
            // A word that is not known must never count as permission.
            _ => Self::Used,
        }
    }
}

/// A plan as it was shown.
#[derive(Debug, Clone)]
pub struct StoredPlan {
    /// Short enough to type.
    pub id: String,
    /// Who asked for it.
    pub caller: String,
    /// Hash of the arguments that it was planned from.
    pub arguments: String,
    /// Of the plan; a confirmation is bound to it.
    pub digest: String,
    /// The plan.
    pub plan: Plan,
    /// Where it stands.
    pub state: PlanState,
    /// Unix time after which it is worth nothing.
    pub expires: i64,
    /// Who decided.
    pub decided_by: Option<String>,
}

/// How long plans without an outcome stay after they have expired, in seconds.
const KEPT: i64 = 30 * 24 * 3600;
/// The same for plans with one. The audit trail keeps what they did for good.
const KEPT_WITH_OUTCOME: i64 = 90 * 24 * 3600;

const COLUMNS: &str = "id, caller, arguments, digest, plan, state, expires, decided_by, seal";

impl Store {
    /// Keeps a plan that is about to be shown, or to be applied without asking. Earlier plans of the same call that
    /// nobody has decided on are replaced: there is one question at a time.
    pub fn keep_plan(&self, stored: &StoredPlan) -> Result<(), Fault> {
        let json = json(&stored.plan)?;
        self.write(|tx| {
            // What nobody decided on in a month, and what was over a quarter of a year ago, nobody will ask about.
            let old = tx.execute(
                "DELETE FROM plans WHERE expires < ?1 AND (outcome IS NULL OR expires < ?2)",
                [stored.expires - KEPT, stored.expires - KEPT_WITH_OUTCOME],
            )?;
            if old > 0 {
                tx.execute("DELETE FROM handles WHERE plan NOT IN (SELECT id FROM plans)", [])?;
                tx.execute("DELETE FROM steps WHERE plan NOT IN (SELECT id FROM plans)", [])?;
            }
            tx.execute("DELETE FROM leases WHERE expires < ?1", [stored.expires - KEPT])?;
            tx.execute(
                "UPDATE plans SET state = 'replaced' WHERE caller = ?1 AND tool = ?2 AND arguments = ?3 AND state IN ('waiting', 'approved')",
                params![stored.caller, stored.plan.tool, stored.arguments],
            )?;
            tx.execute(
                "INSERT INTO plans (id, caller, tool, arguments, digest, plan, state, expires) VALUES (?1,?2,?3,?4,?5,?6,?7,?8)",
                params![stored.id, stored.caller, stored.plan.tool, stored.arguments, stored.digest, json,
                        stored.state.word(), stored.expires],
            )
        })?;
        Ok(())
    }

    /// The plan of that id.
    pub fn plan(&self, id: &str) -> Result<Option<StoredPlan>, Fault> {
        let sql = format!("SELECT {COLUMNS} FROM plans WHERE id = ?1");
        Ok(self
            .lock()
            .query_row(&sql, [id], |row| self.stored(row))
            .optional()?)
    }

    /// The undecided or approved plan of this very call, if it has not expired.
    pub fn open_plan(
        &self,
        caller: &str,
        tool: &str,
        arguments: &str,
        now: i64,
    ) -> Result<Option<StoredPlan>, Fault> {
        let sql = format!(
            "SELECT {COLUMNS} FROM plans WHERE caller = ?1 AND tool = ?2 AND arguments = ?3
             AND state IN ('waiting', 'approved') AND expires > ?4 ORDER BY state LIMIT 1"
        );
        Ok(self
            .lock()
            .query_row(&sql, params![caller, tool, arguments, now], |row| {
                self.stored(row)
            })
            .optional()?)
    }

    /// What waits for a person, oldest first.
    pub fn waiting_plans(&self, now: i64) -> Result<Vec<StoredPlan>, Fault> {
        let sql = format!(
            "SELECT {COLUMNS} FROM plans WHERE state = 'waiting' AND expires > ?1 ORDER BY rowid"
        );
        let connection = self.lock();
        let mut statement = connection.prepare(&sql)?;
        // One row that cannot be read must not hide the others.
        let plans = statement
            .query_map([now], |row| self.stored(row))?
            .filter_map(Result::ok)
            .collect();
        Ok(plans)
    }

    /// The plans of a caller that were begun and of which it is not known how they ended, newest first.
    pub fn unended_plans(&self, caller: &str) -> Result<Vec<StoredPlan>, Fault> {
        let sql = format!(
            "SELECT {COLUMNS} FROM plans WHERE caller = ?1 AND id IN (SELECT plan FROM handles)
             AND (outcome IS NULL OR outcome ->> 'status' IN ('running', 'unknown')) ORDER BY rowid DESC"
        );
        let connection = self.lock();
        let mut statement = connection.prepare(&sql)?;
        // One row that cannot be read must not hide the others.
        let plans = statement
            .query_map([caller], |row| self.stored(row))?
            .filter_map(Result::ok)
            .collect();
        Ok(plans)
    }

    /// A person's decision on a plan. A no also takes back a yes that was not used yet. False: it was too late.
    pub fn decide_plan(
        &self,
        stored: &StoredPlan,
        approve: bool,
        by: &str,
        now: i64,
    ) -> Result<bool, Fault> {
        let state = if approve {
            PlanState::Approved
        } else {
            PlanState::Rejected
        };
        let seal = self
            .keys
            .seal(&decision(stored, state, by, &stored.expires.to_be_bytes()));
        let changed = self.write(|tx| {
            tx.execute(
                "UPDATE plans SET state = ?1, decided_by = ?2, seal = ?3 WHERE id = ?4
                 AND (state = 'waiting' OR (state = 'approved' AND ?1 = 'rejected')) AND expires > ?5",
                params![state.word(), by, seal, stored.id, now],
            )
        })?;
        Ok(changed == 1)
    }

    /// Takes a plan for applying. True exactly once, whoever else tries at the same time.
    pub fn use_plan(&self, id: &str, from: PlanState, now: i64) -> Result<bool, Fault> {
        if !matches!(from, PlanState::Waiting | PlanState::Approved) {
            return Ok(false);
        }
        let changed = self.write(|tx| {
            tx.execute(
                // Without its seal the row is worth nothing, whatever state somebody writes into it.
                "UPDATE plans SET state = 'used', seal = NULL WHERE id = ?1 AND state = ?2 AND expires > ?3",
                params![id, from.word(), now],
            )
        })?;
        Ok(changed == 1)
    }

    /// What became of it, for whoever asks again, and its closing entry in the audit trail. Both are written once: false
    /// if somebody else was first.
    pub fn finish_plan(&self, outcome: &Outcome, closing: &AuditEntry) -> Result<bool, Fault> {
        let (kept, entry) = (json(outcome)?, json(closing)?);
        Ok(self.write(|tx| {
            let changed = tx.execute(
                "UPDATE plans SET outcome = ?1 WHERE id = ?2 AND outcome IS NULL",
                params![kept, outcome.plan],
            )?;
            let closed_before = changed == 0
                && tx
                    .query_row("SELECT 1 FROM plans WHERE id = ?1", [&outcome.plan], |_| {
                        Ok(())
                    })
                    .optional()?
                    .is_some();
            if !closed_before {
                tx.execute("DELETE FROM steps WHERE plan = ?1", [&outcome.plan])?;
                self.chain(tx, &entry)?;
            }
            Ok(!closed_before)
        })?)
    }

    /// More has come to be known of a plan that was closed as running or unknown.
    pub fn mend_outcome(&self, outcome: &Outcome) -> Result<(), Fault> {
        let kept = json(outcome)?;
        self.write(|tx| {
            tx.execute(
                "UPDATE plans SET outcome = ?1 WHERE id = ?2 AND outcome IS NOT NULL",
                params![kept, outcome.plan],
            )
        })?;
        Ok(())
    }

    /// What became of it, if it came to an end.
    pub fn plan_outcome(&self, id: &str) -> Result<Option<Outcome>, Fault> {
        let json: Option<String> = self
            .lock()
            .query_row("SELECT outcome FROM plans WHERE id = ?1", [id], |row| {
                row.get(0)
            })
            .optional()?
            .flatten();
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }

    fn stored(&self, row: &Row<'_>) -> rusqlite::Result<StoredPlan> {
        let json: String = row.get(4)?;
        let plan: Plan = serde_json::from_str(&json).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(
                4,
                rusqlite::types::Type::Text,
                Box::new(error),
            )
        })?;
        let mut stored = StoredPlan {
            id: row.get(0)?,
            caller: row.get(1)?,
            arguments: row.get(2)?,
            digest: row.get(3)?,
            plan,
            state: PlanState::parse(&row.get::<_, String>(5)?),
            expires: row.get(6)?,
            decided_by: row.get(7)?,
        };
        let seal: Option<String> = row.get(8)?;
        // Neither a plan nor a decision that was edited in the file counts.
        let by = stored.decided_by.clone().unwrap_or_default();
        let expires = stored.expires.to_be_bytes();
        let genuine = seal.is_some_and(|seal| {
            self.keys
                .is_sealed(&decision(&stored, stored.state, &by, &expires), &seal)
        });
        if stored.digest != stored.plan.digest()
            || (stored.state == PlanState::Approved && !genuine)
        {
            stored.state = PlanState::Used;
        }
        Ok(stored)
    }
}

/// All that a decision is about: this plan, asked for by this caller with these arguments, until then.
fn decision<'a>(
    stored: &'a StoredPlan,
    state: PlanState,
    by: &'a str,
    expires: &'a [u8],
) -> [&'a [u8]; 8] {
    [
        b"decision",
        stored.id.as_bytes(),
        stored.digest.as_bytes(),
        stored.caller.as_bytes(),
        stored.arguments.as_bytes(),
        expires,
        state.word().as_bytes(),
        by.as_bytes(),
    ]
}
