//! What the tokens may do, learnt while a server already serves: its list of tools waits for nobody.

use std::sync::Arc;
use std::time::Duration;

use tools::engine::Engine;

/// How long a cluster is left alone that did not answer.
const SILENT: Duration = Duration::from_mins(1);

/// How long all are left alone after they have answered: rights are given and taken while a server runs.
pub const NOW_AND_THEN: Duration = Duration::from_mins(5);

/// Asks every cluster, again and again; `pause` is what happens in between.
pub async fn learn<P: Future<Output = ()>>(engine: Arc<Engine>, pause: impl Fn(Duration) -> P) {
    loop {
        let missing = engine.learn_rights().await;
        let leave_alone = if missing.is_empty() {
            NOW_AND_THEN
        } else {
            SILENT
        };
        for (cluster, fault) in missing {
            tracing::info!(cluster, %fault, "cannot learn what the token may do");
        }
        pause(leave_alone).await;
    }
}
