//! What servers left open that ended in the middle of a change: a server looks at it when it starts, and now and then, for
//! a replica that ends later or a task that still runs.

use std::sync::Arc;
use std::time::Duration;

use tools::engine::Engine;
use tools::words::continued;

use super::out;

/// How often it is looked. A replica counts as dead only if it is missed for some seconds, so that a second look is needed.
const EVERY: Duration = Duration::from_secs(10);

/// Looks until it is dropped. Sends nothing to any cluster.
pub async fn keep_closing(engine: Arc<Engine>) {
    let mut looks = tokio::time::interval(EVERY);
    loop {
        looks.tick().await;
        match engine.close_left_open().await {
            Ok(closed) => {
                for left in closed {
                    out::say(format_args!(
                        "plan {}, left open by an oxmox that ended, is closed as {}: {}",
                        left.plan,
                        left.result,
                        continued(&left.summary)
                    ));
                }
            }
            Err(fault) => {
                tracing::warn!(%fault, "cannot look at what was left open");
            }
        }
    }
}
