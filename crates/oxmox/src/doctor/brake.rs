//! Whether a person has stopped all changes, which nothing else here would show.

use tools::store::Store;

use super::finding::Finding;
use crate::config::Config;

const CHECK: &str = "freeze";

/// `store`: the one that replicas share, if there is one.
pub(super) async fn check(config: &Config, store: Option<&Store>) -> Option<Finding> {
    // What cannot be looked at counts as frozen.
    let is_here = config.freeze_file().try_exists().unwrap_or(true);
    let by = match store {
        Some(store) => store.frozen_by().await.ok().flatten(),
        None => None,
    };
    if !is_here && by.is_none() {
        return None;
    }
    let by = by.unwrap_or_else(|| "a person".to_owned());
    let what = format!("{by} stopped all changes: none is sent");
    Some(Finding::warning(CHECK, what).hint("`oxmox thaw` lets changes run again"))
}
