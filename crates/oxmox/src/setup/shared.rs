//! Who else needs the files that setup wrote: what they need stays when a cluster is taken back.

use std::path::Path;

use tools::fault::Fault;

use super::journal::{Entered, Journal};
use crate::config::{Edit, Environment};
use crate::files::behind_links;

/// Whether others need the files, too.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    /// Another cluster stands in the same configuration.
    pub(super) config: bool,
    /// Another cluster of setup's that is in use: the clients start oxmox for all of them.
    pub(super) heir: Option<String>,
    /// The other clusters that the configuration has.
    beside: Vec<String>,
    /// The clusters that somebody lets go by the certificate of this one's authority.
    pub(super) authority: Vec<String>,
}

/// How long something stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stays {
    /// It goes.
    No,
    /// Another cluster of setup's is in use, this one, with which it is taken back.
    WithAnother(String),
    /// A person has added a cluster themselves: it is theirs now.
    ForGood,
}

impl Shared {
    /// Who else needs the files.
    pub(super) fn of(
        journal: &Journal,
        state: &Path,
        environment: &Environment,
    ) -> Result<Self, Fault> {
        let mut others = Journal::all_of(state)?;
        others.retain(|other| other.cluster != journal.cluster);
        let file = |journal: &Journal| journal.config.as_ref().map(|it| it.path.clone());
        let heir = others.iter().find(|other| other.is_in_use());
        let beside = match &journal.config {
            Some(config) if heir.is_none() && !journal.clients.is_empty() => {
                let now = Edit::open(&config.path)?;
                let now = now.clusters().filter(|name| *name != journal.cluster);
                now.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        };
        let authority = match (&journal.config, &journal.ca_file) {
            (Some(config), Some(file)) => {
                let config = Edit::open(&config.path)?;
                trusting(file, &journal.cluster, &config, environment)
            }
            _ => Vec::new(),
        };
        Ok(Self {
            config: others.iter().any(|other| file(other) == file(journal)),
            heir: heir.map(|other| other.cluster.clone()),
            beside,
            authority,
        })
    }

    /// How long a client's entry stays. The clusters that were there before it went without.
    pub(super) fn stays(&self, entered: &Entered) -> Stays {
        if let Some(other) = &self.heir {
            return Stays::WithAnother(other.clone());
        }
        let known = entered.beside.as_ref();
        let is_added = |name: &String| known.is_some_and(|known| !known.contains(name));
        if self.beside.iter().any(is_added) {
            Stays::ForGood
        } else {
            Stays::No
        }
    }
}

/// The clusters besides this one that are trusted by this file, the certificate of its authority. That lies beside the
/// configuration as it is named, which may be a link to elsewhere.
pub(super) fn trusting(
    file: &Path,
    cluster: &str,
    config: &Edit,
    environment: &Environment,
) -> Vec<String> {
    let dir = file.parent().unwrap_or(Path::new("."));
    let file = behind_links(file);
    let all = config.ca_files(dir, environment);
    let others = all.filter(|(name, other)| *name != cluster && behind_links(other) == file);
    others.map(|(name, _)| name.to_owned()).collect()
}
