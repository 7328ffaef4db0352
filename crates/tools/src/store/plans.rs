//! Frozen plans and the decisions on them.

use super::audit::chain;
use super::database::{Row, Transaction, Trouble, Value};
use super::limits::{self, Full};
use super::{AuditEntry, Store, json};
use crate::fault::Fault;
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

    /// Why nothing is to be decided on a plan in this state, after its name: "plan 7kq2 …".
    pub fn why_not_open(self) -> &'static str {
        match self {
            Self::Waiting => "has expired",
            Self::Approved => "is approved already",
            Self::Rejected => "was rejected already",
            Self::Used => "was used already",
            Self::Replaced => "was replaced by a newer one of the same call",
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

/// How long plans that never began stay after they have expired, in seconds.
const KEPT_UNUSED: i64 = 24 * 3600;
/// How long plans that began and have no outcome stay after they have expired, in seconds.
const KEPT: i64 = 30 * 24 * 3600;
/// The same for plans with one. The audit trail keeps what they did for good.
const KEPT_WITH_OUTCOME: i64 = 90 * 24 * 3600;

/// The columns that [`Store::stored`] reads.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, caller, arguments, digest, plan, state, expires, decided_by, seal FROM plans ",
            $rest
        )
    };
}

impl Store {
    /// Stores a plan that waits for approval. Earlier plans of the same call that nobody has decided on are replaced:
    /// there is one question at a time. Fails, and stores nothing, if the caller or the store has as many waiting plans as
    /// are allowed, or if the plan is too large.
    pub async fn keep_plan(&self, stored: &StoredPlan, now: i64) -> Result<(), Fault> {
        let row = NewPlan::of(stored)?;
        let (caller, call) = (stored.caller.clone(), row.call.clone());
        let kept = self.write(move |tx| {
            // Others must not add one between the count and the insert.
            tx.hold_audit()?;
            if let Some(full) = limits::full(tx, &caller, &call, now)? {
                return Ok(Err(full));
            }
            row.insert(tx).map(Ok)
        });
        kept.await?.map_err(Full::fault)
    }

    /// The plan of that id.
    pub async fn plan(&self, id: &str) -> Result<Option<StoredPlan>, Fault> {
        let values = [id.into()];
        let rows = self
            .read(move |tx| tx.query(select!("WHERE id = ?1"), &values))
            .await?;
        self.only(&rows)
    }

    /// The undecided or approved plan of this very call, if it has not expired.
    pub async fn open_plan(
        &self,
        caller: &str,
        tool: &str,
        arguments: &str,
        now: i64,
    ) -> Result<Option<StoredPlan>, Fault> {
        let values = [caller.into(), tool.into(), arguments.into(), now.into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    select!(
                        "WHERE caller = ?1 AND tool = ?2 AND arguments = ?3
                         AND state IN ('waiting', 'approved') AND expires > ?4 ORDER BY state LIMIT 1"
                    ),
                    &values,
                )
            })
            .await?;
        self.only(&rows)
    }

    /// What waits for a person, oldest first.
    pub async fn waiting_plans(&self, now: i64) -> Result<Vec<StoredPlan>, Fault> {
        let values = [now.into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    select!("WHERE state = 'waiting' AND expires > ?1 ORDER BY expires, id"),
                    &values,
                )
            })
            .await?;
        // One row that cannot be read must not hide the others.
        let plans = rows.iter().filter_map(|row| self.stored(row).ok());
        Ok(plans.collect())
    }

    /// How many wait.
    pub async fn count_waiting(&self, now: i64) -> Result<u64, Fault> {
        let sql = "SELECT COUNT(*) FROM plans WHERE state = 'waiting' AND expires > ?1";
        let values = [now.into()];
        let rows = self.read(move |tx| tx.query(sql, &values)).await?;
        let count = rows.first().map(|row| row.number(0)).transpose()?;
        Ok(count.and_then(|it| u64::try_from(it).ok()).unwrap_or(0))
    }

    /// The plans of a caller that were begun and of which it is not known how they ended, newest first.
    pub async fn unended_plans(&self, caller: &str) -> Result<Vec<StoredPlan>, Fault> {
        let values = [caller.into()];
        let rows = self
            .read(move |tx| {
                tx.query(
                    select!(
                        "WHERE caller = ?1 AND id IN (SELECT plan FROM handles)
                         AND (outcome IS NULL OR outcome LIKE '%\"status\":\"running\"%'
                              OR outcome LIKE '%\"status\":\"unknown\"%')
                         ORDER BY expires DESC"
                    ),
                    &values,
                )
            })
            .await?;
        // One row that cannot be read must not hide the others.
        let plans = rows.iter().filter_map(|row| self.stored(row).ok());
        Ok(plans.collect())
    }

    /// A person's decision on a plan, and its entry in the audit trail: both or neither. A rejection also revokes an approval
    /// that was not used yet. False: it was too late. Approving a plan that types a secret is refused: it takes
    /// `approve_shown_secret`.
    pub async fn decide_plan(
        &self,
        stored: &StoredPlan,
        approve: bool,
        by: &str,
        now: i64,
    ) -> Result<bool, Fault> {
        if approve && stored.plan.types_secret() {
            return Err(cannot_show_secret(&stored.id));
        }
        self.record_decision(stored, approve, by, now).await
    }

    /// The approval of a plan that types a secret, by a person whom this process can show that secret.
    pub(crate) async fn approve_shown_secret(
        &self,
        stored: &StoredPlan,
        by: &str,
        now: i64,
    ) -> Result<bool, Fault> {
        self.record_decision(stored, true, by, now).await
    }

    async fn record_decision(
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
        let values = [
            state.word().into(),
            by.into(),
            (&seal).into(),
            (&stored.id).into(),
            now.into(),
        ];
        let entry = json(&AuditEntry::Decided {
            at: now,
            plan: stored.id.clone(),
            decision: state.word().to_owned(),
            decided_by: by.to_owned(),
            caller: stored.caller.clone(),
            cluster: Some(stored.plan.cluster.clone()),
            tool: stored.plan.tool.clone(),
            summary: crate::echo::summary(&stored.plan.summary),
            risk: stored.plan.risk(),
            digest: stored.digest.clone(),
        })?;
        let keys = self.keys.clone();
        let decided = self.record(move |tx| {
            let changed = tx.execute(
                "UPDATE plans SET state = ?1, decided_by = ?2, seal = ?3 WHERE id = ?4
                 AND (state = 'waiting' OR (state = 'approved' AND ?1 = 'rejected')) AND expires > ?5",
                &values,
            )?;
            if changed == 0 {
                return Ok((false, Vec::new()));
            }
            Ok((true, vec![chain(tx, &keys, &entry)?]))
        });
        Ok(decided.await?)
    }

    fn only(&self, rows: &[Row]) -> Result<Option<StoredPlan>, Fault> {
        let stored = rows.first().map(|row| self.stored(row));
        Ok(stored.transpose()?)
    }

    fn stored(&self, row: &Row) -> Result<StoredPlan, Trouble> {
        let mut stored = StoredPlan {
            id: row.text(0)?,
            caller: row.text(1)?,
            arguments: row.text(2)?,
            digest: row.text(3)?,
            plan: serde_json::from_str(&row.text(4)?)?,
            state: PlanState::parse(&row.text(5)?),
            expires: row.number(6)?,
            decided_by: row.maybe_text(7)?,
        };
        let seal = row.maybe_text(8)?;
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

/// The refusal to approve a plan where its secret text cannot be shown.
pub fn cannot_show_secret(plan: &str) -> Fault {
    Fault::refused(format!(
        "plan {plan} types a secret that cannot be shown here, and nobody approves a text unseen"
    ))
    .hint(
        "it can be approved where the text can be shown: in the client that asked, if that can ask a person, or at the page of \
         the oxmox process that got the call; after a restart the same call has to be made again",
    )
}

/// A plan on its way into the store.
pub(super) struct NewPlan {
    row: [Value; 8],
    /// Caller, tool and arguments.
    call: [Value; 3],
    expires: i64,
}

impl NewPlan {
    pub(super) fn of(stored: &StoredPlan) -> Result<Self, Fault> {
        let call: [Value; 3] = [
            (&stored.caller).into(),
            (&stored.plan.tool).into(),
            (&stored.arguments).into(),
        ];
        let [caller, tool, arguments] = call.clone();
        Ok(Self {
            row: [
                (&stored.id).into(),
                caller,
                tool,
                arguments,
                (&stored.digest).into(),
                (&limits::sized(json(&stored.plan)?)?).into(),
                stored.state.word().into(),
                stored.expires.into(),
            ],
            call,
            expires: stored.expires,
        })
    }

    pub(super) fn insert(&self, tx: &mut dyn Transaction) -> Result<(), Trouble> {
        let (old, oldest) = (self.expires - KEPT, self.expires - KEPT_WITH_OUTCOME);
        // A plan that never began holds the arguments of a call that came to nothing.
        tx.execute(
            "DELETE FROM plans WHERE expires < ?1 AND outcome IS NULL AND id NOT IN (SELECT plan FROM handles)",
            &[(self.expires - KEPT_UNUSED).into()],
        )?;
        // A plan that began and has no outcome goes after 30 days, one with an outcome after 90.
        let gone = tx.execute(
            "DELETE FROM plans WHERE expires < ?1 AND (outcome IS NULL OR expires < ?2)",
            &[old.into(), oldest.into()],
        )?;
        if gone > 0 {
            tx.execute(
                "DELETE FROM handles WHERE plan NOT IN (SELECT id FROM plans)",
                &[],
            )?;
            tx.execute(
                "DELETE FROM steps WHERE plan NOT IN (SELECT id FROM plans)",
                &[],
            )?;
        }
        tx.execute("DELETE FROM leases WHERE expires < ?1", &[old.into()])?;
        tx.execute(
            "UPDATE plans SET state = 'replaced'
             WHERE caller = ?1 AND tool = ?2 AND arguments = ?3 AND state IN ('waiting', 'approved')",
            &self.call,
        )?;
        tx.execute(
            "INSERT INTO plans (id, caller, tool, arguments, digest, plan, state, expires)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            &self.row,
        )?;
        Ok(())
    }
}

/// Takes an open plan for applying. True exactly once, whoever else tries at the same time.
pub(super) fn take(
    tx: &mut dyn Transaction,
    id: &str,
    from: PlanState,
    now: i64,
) -> Result<bool, Trouble> {
    if !matches!(from, PlanState::Waiting | PlanState::Approved) {
        return Ok(false);
    }
    let changed = tx.execute(
        // Without its seal the row is worth nothing, whatever state somebody writes into it.
        "UPDATE plans SET state = 'used', seal = NULL WHERE id = ?1 AND state = ?2 AND expires > ?3",
        &[id.into(), from.word().into(), now.into()],
    )?;
    Ok(changed == 1)
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
