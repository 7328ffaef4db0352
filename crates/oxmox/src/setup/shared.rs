//! Who else needs the files that setup wrote: what they need stays when a cluster is taken back.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tools::fault::Fault;

use super::journal::{Entered, Journal};
use crate::clients::{Before, Client};
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
    /// The configuration of this one, and that which an entry means that names none.
    own: Option<PathBuf>,
    default: Option<PathBuf>,
}

/// How long something stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stays {
    /// It goes.
    No,
    /// Another cluster of setup's is in use, this one, with which it is taken back.
    WithAnother(String),
    /// It says again what it said before, for this other one of setup's.
    GoesBack(String),
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
        let own = journal.config.as_ref();
        let default = environment.default_config_file();
        Ok(Self {
            config: is_shared,
            others,
            beside,
            authority,
            own: own.map(|config| behind_links(&config.path)),
            default: default.as_deref().map(behind_links),
        })
    }

    /// Whether none of setup's is in use besides.
    pub(super) fn is_last(&self) -> bool {
        self.others.is_empty()
    }

    /// How long a client's entry stays. The clusters that were there before it went without.
    pub(super) fn stays(&self, entered: &Entered) -> Stays {
        if let Some(stays) = self.by_configuration(entered) {
            return stays;
        }
        if let Some(other) = self.heir(entered) {
            return Stays::WithAnother(other.cluster.clone());
        }
        if self.is_needed_by_a_person(entered) {
            Stays::ForGood
        } else {
            Stays::No
        }
    }

    /// Whether a person has added a cluster to the configuration since.
    fn is_needed_by_a_person(&self, entered: &Entered) -> bool {
        let known = entered.beside.as_ref();
        let is_added = |name: &String| known.is_some_and(|known| !known.contains(name));
        self.beside.iter().any(is_added)
    }

    /// The same where clusters of several configurations have entered oxmox in one file: by the one that the entry names. `None`:
    /// that cannot be told, or decides nothing.
    fn by_configuration(&self, entered: &Entered) -> Option<Stays> {
        if self.config {
            return None;
        }
        let client = Client::parse(&entered.client)?;
        let text = std::fs::read_to_string(&entered.file).ok()?;
        let now = self.named(&client.before(Some(&text)))?;
        if let Some(other) = self.entered_for(&now, entered) {
            return Some(Stays::WithAnother(other.cluster.clone()));
        }
        let before = self.named(&entered.before)?;
        let other = self.entered_for(&before, entered)?;
        let is_over = self.own == Some(now) && !self.is_needed_by_a_person(entered);
        is_over.then(|| Stays::GoesBack(other.cluster.clone()))
    }

    /// The other one of this configuration that has entered oxmox in the same file.
    fn entered_for(&self, config: &Path, entered: &Entered) -> Option<&Journal> {
        let is_its = |path: &Path| behind_links(path) == config;
        let mut others = self
            .others
            .iter()
            .filter(|other| has_entered(other, entered));
        others.find(|other| (other.config.iter()).any(|config| is_its(&config.path)))
    }

    /// The configuration that oxmox is started with by what a client's file said of it.
    fn named(&self, entry: &Before) -> Option<PathBuf> {
        let entry = match entry {
            Before::Words(words) => serde_json::from_str(words).ok()?,
            Before::Entry(entry) => entry.clone(),
            _ => return None,
        };
        match config_flag(&entry) {
            Some(file) => Some(behind_links(Path::new(file))),
            None => self.default.clone(),
        }
    }

    /// Who takes a client's entry along at last: one of the same configuration, which the entry names, or else one that has
    /// entered oxmox there as well.
    fn heir(&self, entered: &Entered) -> Option<&Journal> {
        if self.config {
            return self.others.first();
        }
        let mut others = self.others.iter();
        others.find(|other| has_entered(other, entered))
    }
}

/// Whether this one has entered oxmox in the same file.
fn has_entered(other: &Journal, entered: &Entered) -> bool {
    let file = behind_links(&entered.file);
    let mut clients = other.clients.iter();
    clients.any(|known| behind_links(&known.file) == file)
}

/// What stands behind `--config`, wherever a client keeps the arguments.
fn config_flag(entry: &Value) -> Option<&str> {
    match entry {
        Value::Array(words) => {
            let at = words.iter().position(|word| word == "--config")?;
            words.get(at + 1)?.as_str()
        }
        Value::Object(fields) => fields.values().find_map(config_flag),
        _ => None,
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
