//! Closes what workers left open that are dead, so that the audit trail tells how it ended though nobody asks.

use pve::Request;
use serde_json::Value;

use super::{Engine, Handle, State};
use crate::fault::Fault;
use crate::store::Store;

impl Engine {
    /// Reads what became of the plans whose worker has died, and closes those of which that is the last word. Sends
    /// nothing. A plan whose cluster does not answer now, or whose task still runs, is left for another time.
    pub async fn close_left_open(&self) -> Result<Vec<Handle>, Fault> {
        let mut closed = Vec::new();
        // Looking makes no store.
        if matches!(&self.state, State::Dir(dir) if !Store::is_in(dir)) {
            return Ok(closed);
        }
        for (id, worker) in self.store().await?.open_handles().await? {
            if self.is_at_work(&worker, &id).await? || !self.can_be_asked(&id).await {
                continue;
            }
            // One that cannot be read must not keep the others open.
            if let Ok(handle) = self.handle(&id).await
                && handle.ended
            {
                closed.push(handle);
            }
        }
        Ok(closed)
    }

    /// Whether the cluster of a plan answers. One that does not would have its steps closed as unknown for good.
    async fn can_be_asked(&self, plan: &str) -> bool {
        let Ok(store) = self.store().await else {
            return false;
        };
        let Ok(Some(stored)) = store.plan(plan).await else {
            return false;
        };
        let Ok(cluster) = self.cluster(&stored.plan.cluster) else {
            return false;
        };
        let version = cluster.pve.get::<Value>(Request::get("/version")).await;
        version.is_ok()
    }
}
