//! The store, for commands that look at what is there: they make none.

use std::path::Path;

use tools::fault::Fault;
use tools::store::Store;

use crate::config::Config;

/// The configured store, if anything was ever recorded.
pub fn existing(config: &Config) -> Result<Option<Store>, Fault> {
    in_dir(&config.state_dir)
}

/// The configured store, made if there is none.
pub fn open(config: &Config) -> Result<Store, Fault> {
    Store::open(&config.state_dir)
}

/// The store in this directory, if there is one. A wrong directory must not look like an empty trail.
pub fn in_dir(dir: &Path) -> Result<Option<Store>, Fault> {
    if Store::is_in(dir) {
        Store::open(dir).map(Some)
    } else {
        Ok(None)
    }
}
