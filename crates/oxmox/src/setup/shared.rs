//! Who else needs the files that setup wrote: what they need stays when a cluster is taken back.

use std::path::Path;

use tools::fault::Fault;

use super::journal::Journal;
use crate::config::Edit;

/// Whether others need the files, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared {
    /// Another cluster stands in the same configuration.
    pub(super) config: bool,
    /// The clients start oxmox for all clusters.
    pub(super) clients: Stays,
}

/// How long something stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stays {
    /// It goes.
    No,
    /// Another cluster of setup's is in use, with which it is taken back.
    WithAnother,
    /// A person has added a cluster themselves: it is theirs now.
    ForGood,
}

impl Shared {
    /// Who else needs the files.
    pub(super) fn of(journal: &Journal, state: &Path) -> Result<Self, Fault> {
        let mut others = Journal::all_of(state)?;
        others.retain(|other| other.cluster != journal.cluster);
        let file = |journal: &Journal| journal.config.as_ref().map(|it| it.path.clone());
        let clients = if others.iter().any(Journal::is_in_use) {
            Stays::WithAnother
        } else if has_added(journal)? {
            Stays::ForGood
        } else {
            Stays::No
        };
        Ok(Self {
            config: others.iter().any(|other| file(other) == file(journal)),
            clients,
        })
    }
}

/// Whether somebody has put another cluster beside this one since. What was there before setup went without the clients.
fn has_added(journal: &Journal) -> Result<bool, Fault> {
    let config = journal.config.as_ref();
    let known = config.and_then(|config| Some((config, config.beside.as_ref()?)));
    let Some((config, beside)) = known else {
        return Ok(false);
    };
    let is_known = |name: &str| name == journal.cluster || beside.iter().any(|it| it == name);
    let now = Edit::open(&config.path)?;
    Ok(now.clusters().any(|name| !is_known(name)))
}
