//! What the tokens may do, learnt while a server already serves: its list of tools waits for nobody.

use std::sync::Arc;
use std::time::Duration;

use tools::engine::Engine;

/// How long a cluster is left alone that did not answer.
const AGAIN: Duration = Duration::from_mins(1);

/// Asks until every cluster has answered.
pub async fn learn(engine: Arc<Engine>) {
    loop {
        let missing = engine.learn_rights().await;
        if missing.is_empty() {
            return;
        }
        for (cluster, fault) in missing {
            tracing::info!(cluster, %fault, "cannot learn what the token may do");
        }
        tokio::time::sleep(AGAIN).await;
    }
}
