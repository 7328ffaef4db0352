//! Whether a person has stopped all changes, which nothing else here would show.

use tools::store::Store;

use super::finding::Finding;
use crate::config::Config;

const CHECK: &str = "freeze";

/// `store`: the one that replicas share, if there is one that can be opened.
pub(super) async fn check(config: &Config, store: Option<&Store>) -> Option<Finding> {
    // What cannot be looked at counts as frozen, as it does for whoever sends.
    let is_here = config.freeze_file().try_exists().unwrap_or(true);
    let by = match store {
        Some(store) => store.frozen_by().await,
        None => Ok(None),
    };
    let by = match by {
        Ok(Some(by)) => by,
        Ok(None) | Err(_) if is_here => "a person".to_owned(),
        Ok(None) => return None,
        Err(fault) => {
            let hint = "mend the store that replicas share";
            return Some(Finding::failed(CHECK, fault, hint));
        }
    };
    let what = format!("{by} stopped all changes: none is sent");
    // The demo has a state of its own.
    let program = if config.is_demo {
        "oxmox --demo"
    } else {
        "oxmox"
    };
    Some(Finding::warning(CHECK, what).hint(format!("`{program} thaw` lets changes run again")))
}
