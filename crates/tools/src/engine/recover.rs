//! Closes what workers left open that are dead, so that the audit trail tells how it ended though nobody asks.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::Semaphore;

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

/// How many plans are worked out at a time. Most of the time each waits for a task to show up in PVE's list; how many
/// requests are under way at once is bounded by the client of each cluster.
const AT_A_TIME: usize = 64;

/// The results of all jobs, in their order, of which a bounded number run at a time.
async fn side_by_side<O: Send>(jobs: Vec<BoxFuture<'_, O>>) -> Vec<O> {
    let turns = &Semaphore::new(AT_A_TIME);
    let mut all = Vec::new();
    for job in jobs {
        all.push(async move {
            let _turn = turns.acquire().await;
            job.await
        });
    }
    join_all(all).await
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
        let open = self.store().await?.open_handles().await?;
        let mut jobs = Vec::new();
        for (id, worker) in &open {
            jobs.push(self.close_plan(id, worker).boxed());
        }
        // One that cannot be read must not keep the others open.
        let closed = side_by_side(jobs).await.into_iter();
        Ok(closed.filter_map(Result::ok).flatten().collect())
    }

    /// Closes one plan, if its worker is dead and that is the last word on it.
    async fn close_plan(&self, id: &str, worker: &str) -> Result<Option<Closed>, Fault> {
        if self.is_at_work(worker, id).await? || !self.is_quiet_about(id).await? {
            return Ok(None);
        }
        let handle = self.handle(id).await?;
        Ok(handle.ended.then(|| Closed {
            plan: handle.outcome.plan,
            result: handle.outcome.status.word(),
            summary: handle.outcome.summary,
        }))
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Barrier;

    use super::*;

    #[tokio::test]
    async fn one_round_works_on_many_plans_at_a_time_and_on_all_of_them() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // None of the first gets on before all of them have begun.
        let first = Barrier::new(AT_A_TIME);
        let items = 0..AT_A_TIME * 3;
        let job = async |item| {
            let now = running.fetch_add(1, Ordering::Relaxed) + 1;
            most.fetch_max(now, Ordering::Relaxed);
            first.wait().await;
            running.fetch_sub(1, Ordering::Relaxed);
            item
        };
        let jobs = items.clone().map(|item| job(item).boxed()).collect();
        let done = side_by_side(jobs).await;
        assert_eq!(done, items.collect::<Vec<_>>());
        assert_eq!(most.load(Ordering::Relaxed), AT_A_TIME);
    }
}
