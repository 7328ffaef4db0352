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
    /// The others of setup's that are in use, first those of the same configuration: a client starts oxmox for all of these.
    others: Vec<Journal>,
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
        others.retain(|other| other.cluster != journal.cluster && other.is_in_use());
        others.sort_by_key(|other| !other.shares_config(journal));
        let is_shared = others.iter().any(|other| other.shares_config(journal));
        let beside = match &journal.config {
            Some(config) if !is_shared && !journal.clients.is_empty() => {
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
            config: is_shared,
            others,
            beside,
            authority,
        })
    }

    /// Whether none of setup's is in use besides.
    pub(super) fn is_last(&self) -> bool {
        self.others.is_empty()
    }

    /// How long a client's entry stays. The clusters that were there before it went without.
    pub(super) fn stays(&self, entered: &Entered) -> Stays {
        if let Some(other) = self.heir(entered) {
            return Stays::WithAnother(other.cluster.clone());
        }
        let known = entered.beside.as_ref();
        let is_added = |name: &String| known.is_some_and(|known| !known.contains(name));
        if self.beside.iter().any(is_added) {
            Stays::ForGood
        } else {
            Stays::No
        }
    }

    /// Who takes a client's entry along at last: one of the same configuration, which the entry names, or else one that has
    /// entered oxmox there as well.
    fn heir(&self, entered: &Entered) -> Option<&Journal> {
        if self.config {
            return self.others.first();
        }
        let file = behind_links(&entered.file);
        let is_there = |known: &Entered| behind_links(&known.file) == file;
        let mut others = self.others.iter();
        others.find(|other| other.clients.iter().any(is_there))
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
