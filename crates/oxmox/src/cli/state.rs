//! The store, for commands that look at what is there: they make none in the state directory.

use std::path::Path;

use tools::engine::State;
use tools::fault::Fault;
use tools::store::Store;

use crate::config::{Config, Environment};

/// The configured store, if anything was ever recorded.
pub async fn existing(config: &Config) -> Result<Option<Store>, Fault> {
    match place(config)? {
        State::Dir(dir) => in_dir(&dir),
        State::Shared(at, dir) => Store::shared(&at, &dir).await.map(Some),
        State::Memory => Ok(None),
    }
}

/// The configured store, made if there is none.
pub async fn open(config: &Config) -> Result<Store, Fault> {
    match place(config)? {
        State::Dir(dir) => Store::open(&dir),
        State::Shared(at, dir) => Store::shared(&at, &dir).await,
        State::Memory => Store::in_memory(),
    }
}

/// Whether there are keys for the configured store; without, it would be made with new ones.
pub fn has_keys(config: &Config) -> Result<bool, Fault> {
    Ok(match place(config)? {
        State::Dir(dir) | State::Shared(_, dir) => Store::has_keys(&dir),
        State::Memory => false,
    })
}

/// The database that replicas share, if there is one.
pub async fn shared(config: &Config) -> Result<Option<Store>, Fault> {
    match place(config)? {
        State::Shared(at, dir) => Store::shared(&at, &dir).await.map(Some),
        State::Dir(_) | State::Memory => Ok(None),
    }
}

/// The same if this machine has keys for it. Warns of nothing: whoever goes on opens the store once more.
pub async fn known_shared(config: &Config) -> Result<Option<Store>, Fault> {
    if !config.has_shared_store() || !Store::has_keys(&config.state_dir) {
        return Ok(None);
    }
    match config.state(&Environment::of_process())? {
        State::Shared(at, dir) => Store::shared(&at, &dir).await.map(Some),
        State::Dir(_) | State::Memory => Ok(None),
    }
}

fn place(config: &Config) -> Result<State, Fault> {
    config.state(&Environment::of_process())
}

/// The store in this directory, if there is one. A wrong directory must not look like an empty trail.
pub fn in_dir(dir: &Path) -> Result<Option<Store>, Fault> {
    if Store::is_in(dir) {
        Store::open(dir).map(Some)
    } else {
        Ok(None)
    }
}
