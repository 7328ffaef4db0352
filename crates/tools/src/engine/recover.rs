//! Closes what workers left open that are dead, so that the audit trail tells how it ended though nobody asks.

use super::{Engine, State};
use crate::fault::Fault;
use crate::outcome::Status;
use crate::store::{AuditEntry, Store};

/// Something that was left open and is closed now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// The id that its entries in the audit trail share.
    pub plan: String,
    /// As what.
    pub result: &'static str,
    /// What it was.
    pub summary: String,
}

impl Engine {
    /// Reads what became of the plans whose worker has died, and closes those of which that is the last word. Closes the
    /// looks inside guests that nobody takes any more, too, and removes files of which only a part came. Sends nothing. A
    /// plan whose cluster does not answer now, or whose task still runs, is left for another time.
    pub async fn close_left_open(&self) -> Result<Vec<Closed>, Fault> {
        // Looking makes no store.
        if matches!(&self.state, State::Dir(dir) if !Store::is_in(dir)) {
            return Ok(Vec::new());
        }
        self.remove_parts_left_behind();
        self.drop_secret_texts().await?;
        let mut closed = self.close_looks().await?;
        closed.extend(self.close_plans().await?);
        Ok(closed)
    }

    async fn close_plans(&self) -> Result<Vec<Closed>, Fault> {
        let mut closed = Vec::new();
        for (id, worker) in self.store().await?.open_handles().await? {
            if self.is_at_work(&worker, &id).await? || !self.is_quiet_about(&id).await? {
                continue;
            }
            // One that cannot be read must not keep the others open.
            if let Ok(handle) = self.handle(&id).await
                && handle.ended
            {
                closed.push(Closed {
                    plan: handle.outcome.plan,
                    result: handle.outcome.status.word(),
                    summary: handle.outcome.summary,
                });
            }
        }
        Ok(closed)
    }

    /// Whether a plan's cluster can be asked without anybody noticing. Nobody waits for this: a password manager would show its
    /// dialogue again and again. Whoever asks after the plan, or uses the cluster, is worth one.
    async fn is_quiet_about(&self, plan: &str) -> Result<bool, Fault> {
        let Some(stored) = self.store().await?.plan(plan).await? else {
            return Ok(false);
        };
        let cluster = self.cluster(&stored.plan.cluster);
        Ok(cluster.is_ok_and(|cluster| cluster.pve.is_quiet()))
    }

    /// Nobody can tell whether PVE was asked by then, or whether the caller got to see the answer.
    async fn close_looks(&self) -> Result<Vec<Closed>, Fault> {
        let store = self.store().await?;
        let mut closed = Vec::new();
        for look in store.open_looks().await? {
            if self.is_at_work(&look.worker, &look.id).await? {
                continue;
            }
            let result = Status::Unknown.word();
            let reason = "oxmox ended in the middle of it: whether anything was seen is not known";
            let closing = AuditEntry::Closed {
                at: self.now(),
                plan: look.id.clone(),
                result: result.to_owned(),
                reason: Some(reason.to_owned()),
                affects: Vec::new(),
                steps: Vec::new(),
            };
            if store.close_look(&look.id, &closing).await? {
                closed.push(Closed {
                    plan: look.id,
                    result,
                    summary: look.summary,
                });
            }
        }
        Ok(closed)
    }
}
