//! Who else needs the files that setup wrote: what they need stays when a cluster is taken back.

use std::path::Path;

use tools::fault::Fault;

use super::journal::Journal;
use crate::config::{Edit, Environment};
use crate::files::behind_links;

/// Whether others need the files, too.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    /// Another cluster stands in the same configuration.
    pub(super) config: bool,
    /// The clients start oxmox for all clusters.
    pub(super) clients: Stays,
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
        let clients = if let Some(other) = others.iter().find(|other| other.is_in_use()) {
            Stays::WithAnother(other.cluster.clone())
        } else if has_added(journal)? {
            Stays::ForGood
        } else {
            Stays::No
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
            clients,
            authority,
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
