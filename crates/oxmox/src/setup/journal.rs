//! What setup made, written down before it is made, so that it can be taken back by whoever comes later.

use std::path::{Path, PathBuf};

use pve::{Fingerprint, Host, Trust};
use serde::{Deserialize, Serialize};
use tools::fault::{Fault, Kind};

use super::made::Made;
use crate::cli::commands::Commands;
use crate::clients::Before;
use crate::files::Draft;
use crate::keep::Keep;

/// A node's address, with its pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct At {
    host: String,
    pin: Option<Fingerprint>,
}

impl From<&Host> for At {
    fn from(host: &Host) -> Self {
        Self {
            host: host.to_string(),
            pin: host.pin,
        }
    }
}

/// The configuration file that got a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configured {
    /// Where it is.
    pub path: PathBuf,
    /// What the section said before; `None`: there was none.
    pub before: Option<String>,
}

/// A client's file that oxmox was entered in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered {
    /// The client.
    pub client: String,
    /// Its file.
    pub file: PathBuf,
    /// What it said of oxmox before.
    pub before: Before,
    /// The clusters that the configuration had before that, of whoever they were; `None`: nobody can tell. Not to be read from
    /// the copy of a file: taking back removes that, and may have to be run again.
    #[serde(default)]
    pub beside: Option<Vec<String>>,
}

impl Entered {
    /// Entered twice: what came between the two was not there before both of them.
    fn narrow(&mut self, other: &Self) {
        if let (Some(beside), Some(known)) = (&mut self.beside, &other.beside) {
            beside.retain(|name| known.contains(name));
        }
    }
}

/// All that one run of setup made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The cluster's name in the configuration.
    pub cluster: String,
    /// The fingerprint of its own authority, by which it is known again under any address.
    pub authority: Option<Fingerprint>,
    /// Where it is.
    pub hosts: Vec<At>,
    /// Who may vouch for it.
    pub ca_file: Option<PathBuf>,
    /// What that file holds: the way back must not hang on a file that is not written yet, or not there any more.
    pub ca: Option<String>,
    /// Who logged in.
    pub login: Option<String>,
    /// What was made there, in order.
    pub made: Vec<Made>,
    /// The configuration file with its section.
    pub config: Option<Configured>,
    /// Where its secrets are: that of the token in use, and those before it that could not be removed.
    pub secrets: Vec<Keep>,
    /// The files of clients that oxmox was entered in.
    pub clients: Vec<Entered>,
    /// The directories that were made for all these, each before those in it.
    pub dirs: Vec<PathBuf>,
    /// Whether a person has said already that the cluster is not to be asked: only what is on it is left.
    #[serde(default)]
    pub is_left: bool,
}

impl Journal {
    /// Where that of a cluster is.
    pub fn path(state: &Path, cluster: &str) -> PathBuf {
        state.join("setup").join(format!("{cluster}.json"))
    }

    /// What was written down for this cluster.
    pub fn read(state: &Path, cluster: &str) -> Result<Option<Self>, Fault> {
        let draft = Draft::open(&Self::path(state, cluster))?;
        let Some(text) = draft.before else {
            return Ok(None);
        };
        let wrong = |error: serde_json::Error| {
            let what = format!("{} is not understood: {error}", draft.path.display());
            Fault::new(Kind::Failed, what)
                .hint("take back by hand what setup made, and remove the file")
        };
        let read: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
        // One that an earlier oxmox wrote names the file only. Where none is asked, that file is what others have put there.
        let tells_of_file_only = read.get("ca").is_none();
        let mut journal: Self = serde_json::from_value(read).map_err(wrong)?;
        if tells_of_file_only && let Some(file) = &journal.ca_file {
            journal.ca = std::fs::read_to_string(file).ok();
        }
        Ok(Some(journal))
    }

    /// What stands for all of them where somebody changes them.
    pub fn all(state: &Path) -> PathBuf {
        state.join("setup").join("journals")
    }

    /// The clusters that something was written down for.
    pub fn known(state: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(state.join("setup")) else {
            return Vec::new();
        };
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(".json").map(str::to_owned)
        });
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// The files that were changed for any of them, as far as that can be read.
    pub fn changed_by_any(state: &Path) -> Vec<PathBuf> {
        let files = |journal: Self| journal.changed().map(Path::to_owned).collect::<Vec<_>>();
        Self::readable(state).flat_map(files).collect()
    }

    /// What was written down for others than this cluster, as far as that can be read.
    pub fn beside(state: &Path, cluster: &str) -> Vec<Self> {
        let others = Self::readable(state).filter(|other| other.cluster != cluster);
        others.collect()
    }

    fn readable(state: &Path) -> impl Iterator<Item = Self> {
        let known = Self::known(state).into_iter();
        known.filter_map(move |name| Self::read(state, &name).ok()?)
    }

    /// What was written down for any of them.
    pub fn all_of(state: &Path) -> Result<Vec<Self>, Fault> {
        let read = |name: String| Self::read(state, &name).transpose();
        Self::known(state).into_iter().filter_map(read).collect()
    }

    /// Writes it down.
    pub fn write(&self, state: &Path) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
        let draft = Draft::open(&Self::path(state, &self.cluster))?.private();
        draft.holding(text + "\n").write()
    }

    /// Forgets it.
    pub fn forget(state: &Path, cluster: &str) -> Result<(), Fault> {
        Draft::open(&Self::path(state, cluster))?
            .private()
            .gone()
            .write()
    }

    /// Whether this was written down for the same cluster and the same configuration. What was made for another is not
    /// added to, and not taken back with it.
    pub fn check(
        &self,
        config: &Path,
        (authority, host): (Option<Fingerprint>, &Host),
        commands: &Commands,
    ) -> Result<(), Fault> {
        let name = &self.cluster;
        let other = |what: String, besides: &str| {
            Fault::new(Kind::Conflict, what).hint(format!(
                "give this one another name with --name{besides}; or take the other one back first: `{}`",
                commands.undo(name)
            ))
        };
        if let Some(Configured { path, .. }) = &self.config {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            if path != config {
                let what = format!(
                    "setup has made {name} for another configuration, {}, with the same state directory",
                    path.display()
                );
                return Err(other(what, ", or a --state-dir of its own"));
            }
        }
        let is_same = match (self.authority, authority) {
            (Some(one), Some(other)) => one == other,
            _ => self.is_at(host),
        };
        if is_same {
            return Ok(());
        }
        let hosts: Vec<_> = self.hosts.iter().map(|at| at.host.as_str()).collect();
        let what = format!(
            "setup has made {name} for another cluster, at {}",
            hosts.join(", ")
        );
        let fault = other(what, "");
        let hint = fault.hint.clone().unwrap_or_default();
        Err(fault.hint(format!("{hint}; with --local-only if that one is gone")))
    }

    /// Whether both are about one cluster, under whatever addresses.
    pub fn is_of_the_same(&self, other: &Self) -> bool {
        match (self.authority, other.authority) {
            (Some(one), Some(other)) => one == other,
            _ => (self.hosts.iter()).any(|at| other.hosts.iter().any(|it| it.host == at.host)),
        }
    }

    /// Whether it is in a configuration, and not only left on a cluster.
    pub fn is_in_use(&self) -> bool {
        self.config.is_some()
    }

    /// Whether both are in use, and stand in one configuration.
    pub fn shares_config(&self, other: &Self) -> bool {
        let path = |journal: &Self| journal.config.as_ref().map(|config| config.path.clone());
        path(self).is_some_and(|own| path(other) == Some(own))
    }

    /// Takes over the clients of another one of the same configuration, which goes.
    pub fn take_clients(&mut self, other: &Self) {
        for entered in &other.clients {
            let is_it = |known: &&mut Entered| {
                (&known.client, &known.file) == (&entered.client, &entered.file)
            };
            match self.clients.iter_mut().find(is_it) {
                Some(known) => known.narrow(entered),
                None => self.clients.push(entered.clone()),
            }
        }
    }

    /// The files of a person that were changed.
    pub fn changed(&self) -> impl Iterator<Item = &Path> {
        let config = self.config.iter().map(|config| &config.path);
        let clients = self.clients.iter().map(|entered| &entered.file);
        let files = config.chain(clients).chain(&self.ca_file);
        files.map(PathBuf::as_path)
    }

    /// Whether the cluster was reached there.
    pub fn is_at(&self, host: &Host) -> bool {
        self.hosts.iter().any(|at| at.host == host.to_string())
    }

    /// A token was gone before: another one of its name may be there since, and have been written down here.
    pub fn forget_token(&mut self, gone: &Made) {
        self.made.retain(|made| made != gone);
        if !self.made.iter().any(|made| made.is_about_same(gone)) {
            self.unmake(gone);
        }
    }

    /// A token, or a token's role on a path, is there no more.
    pub fn unmake(&mut self, gone: &Made) {
        let (ids, place) = match gone {
            Made::Token { user, name, .. } => (vec![format!("{user}!{name}")], None),
            Made::Rule {
                path, role, tokens, ..
            } => (tokens.clone(), Some((path, role))),
            Made::Role { .. } | Made::User { .. } => (Vec::new(), None),
        };
        self.made.retain(|made| !made.is_about_same(gone));
        for made in &mut self.made {
            if let Made::Rule {
                path, role, tokens, ..
            } = made
                && place.is_none_or(|place| place == (&*path, &*role))
            {
                tokens.retain(|token| !ids.contains(token));
            }
        }
        let is_empty = |made: &Made| matches!(made, Made::Rule { users, tokens, .. } if users.is_empty() && tokens.is_empty());
        self.made.retain(|made| !is_empty(made));
    }

    /// Who vouches for the nodes without a pin.
    pub fn trust(&self) -> Trust {
        self.ca.clone().map_or(Trust::System, Trust::CaText)
    }

    /// What was made on this machine is there no more, but for secrets that could not be reached; what was made on the cluster
    /// is.
    pub fn keep_remote(&mut self) {
        self.ca_file = None;
        self.config = None;
        self.clients.clear();
    }

    /// The nodes, as they were.
    pub fn hosts(&self) -> Result<Vec<Host>, Fault> {
        let host = |at: &At| {
            let mut host: Host = (at.host.parse())
                .map_err(|error: pve::IdError| Fault::bad_input(error.to_string()))?;
            host.pin = at.pin;
            Ok(host)
        };
        self.hosts.iter().map(host).collect()
    }
}
