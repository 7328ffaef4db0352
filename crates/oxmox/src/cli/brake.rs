//! Whether a person has stopped all changes, for what this process sends by itself, and not by an engine.

use std::path::PathBuf;

use tools::fault::{Fault, Kind};
use tools::store::Store;

use super::state;
use crate::cli::commands::Commands;
use crate::config::Config;

/// Where it is looked up. What cannot be looked at counts as stopped.
#[derive(Debug)]
pub struct Brake {
    file: PathBuf,
    is_shared: bool,
    /// What lets changes run again.
    thaw: String,
}

impl Brake {
    /// That of this state directory, and of the store that replicas share.
    pub fn of(config: &Config, commands: &Commands) -> Self {
        Self {
            file: config.freeze_file(),
            is_shared: config.has_shared_store(),
            thaw: format!("`{}` lets changes run again", commands.with("thaw")),
        }
    }

    /// The fault that stops every change, if there is one, before anybody has agreed to any. Opens the store that replicas
    /// share, unless this machine has no keys for it: a look makes none, and claims no database for them.
    pub async fn look(config: &Config, commands: &Commands) -> Result<(), Fault> {
        let brake = Self::of(config, commands);
        brake.is_off_here()?;
        match state::known_shared(config).await.map_err(untold)? {
            Some(store) => brake.is_off(Some(&store)).await,
            None => Ok(()),
        }
    }

    /// The same with the configured store, if it could be opened.
    pub async fn is_off(&self, store: Option<&Store>) -> Result<(), Fault> {
        self.is_off_here()?;
        let by = match store {
            _ if !self.is_shared => None,
            Some(store) => store.frozen_by().await.map_err(untold)?,
            None => {
                let what = "the store that replicas share cannot be opened";
                return Err(untold(Fault::new(Kind::Unreachable, what)));
            }
        };
        by.map_or(Ok(()), |by| {
            let what = format!("oxmox is frozen: {by} stopped all changes of all replicas");
            Err(Fault::refused(what).hint(&self.thaw))
        })
    }

    /// The same for what sends nothing: as far as this state directory tells.
    pub fn is_off_here(&self) -> Result<(), Fault> {
        let is_there = self.file.try_exists().map_err(|error| {
            let what = format!("{}: {error}", self.file.display());
            let fault = Fault::new(Kind::Failed, what);
            untold(fault.hint("see that the state directory can be read, or set --state-dir"))
        })?;
        if is_there {
            let what = "oxmox is frozen: nothing is changed until it is thawed";
            return Err(Fault::refused(what).hint(&self.thaw));
        }
        Ok(())
    }
}

fn untold(fault: Fault) -> Fault {
    Fault {
        message: format!(
            "nothing is changed while it cannot be looked up whether somebody has stopped all changes: {}",
            fault.message
        ),
        ..fault
    }
}
