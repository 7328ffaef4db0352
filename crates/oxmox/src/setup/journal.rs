//! What setup made, written down before it is made, so that it can be taken back by whoever comes later.

use std::path::{Path, PathBuf};

use pve::{Fingerprint, Host, Request, encode_segment};
use serde::{Deserialize, Serialize};
use tools::fault::{Fault, Kind};

use super::facts::Rule;
use crate::clients::Before;
use crate::files::Draft;
use crate::keep::Keep;

/// One thing that was made on the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    /// A role, or other privileges in one that was there.
    Role {
        /// Its name.
        name: String,
        /// What it held before; `None`: it was not there.
        before: Option<Vec<String>>,
    },
    /// A user.
    User {
        /// Its name.
        name: String,
    },
    /// A token.
    Token {
        /// Its user.
        user: String,
        /// Its name.
        name: String,
    },
    /// A role given to users and tokens.
    Rule {
        /// Where.
        path: String,
        /// Which.
        role: String,
        /// To which users.
        users: Vec<String>,
        /// To which tokens.
        tokens: Vec<String>,
    },
}

impl Made {
    /// What takes it back.
    pub fn undo(&self) -> Request {
        match self {
            Self::Role { name, before: None } => Request::delete(format!("/access/roles/{name}")),
            Self::Role {
                name,
                before: Some(before),
            } => Request::put(format!("/access/roles/{name}")).with("privs", before.join(",")),
            Self::User { name } => {
                Request::delete(format!("/access/users/{}", encode_segment(name)))
            }
            Self::Token { user, name } => Request::delete(format!(
                "/access/users/{}/token/{name}",
                encode_segment(user)
            )),
            Self::Rule {
                path,
                role,
                users,
                tokens,
            } => {
                let list = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
                Request::put("/access/acl")
                    .with("path", path.as_str())
                    .with("roles", role.as_str())
                    .maybe("users", list(users))
                    .maybe("tokens", list(tokens))
                    .with("delete", 1)
            }
        }
    }

    /// The rules that it is.
    pub fn rules(&self) -> Vec<Rule> {
        let Self::Rule {
            path,
            role,
            users,
            tokens,
        } = self
        else {
            return Vec::new();
        };
        let rule = |ugid: &String| Rule {
            path: path.clone(),
            ugid: ugid.clone(),
            roleid: role.clone(),
        };
        users.iter().chain(tokens).map(rule).collect()
    }

    /// A rule without what it gives to users, if anything is left of it then.
    pub fn for_tokens_only(&self) -> Option<Self> {
        match self {
            Self::Rule {
                path, role, tokens, ..
            } if !tokens.is_empty() => Some(Self::Rule {
                path: path.clone(),
                role: role.clone(),
                users: Vec::new(),
                tokens: tokens.clone(),
            }),
            _ => None,
        }
    }

    /// What it is, for people.
    pub fn says(&self) -> String {
        match self {
            Self::Role { name, before: None } => format!("the role {name}"),
            Self::Role { name, .. } => format!("what was changed in the role {name}"),
            Self::User { name } => format!("the user {name}"),
            Self::Token { user, name } => format!("the token {user}!{name}"),
            Self::Rule {
                path,
                role,
                users,
                tokens,
            } => {
                let whom: Vec<_> = users.iter().chain(tokens).map(String::as_str).collect();
                format!("the role {role} on {path} for {}", whom.join(" and "))
            }
        }
    }
}

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
}

/// All that one run of setup made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The cluster's name in the configuration.
    pub cluster: String,
    /// Where it is.
    pub hosts: Vec<At>,
    /// Who may vouch for it.
    pub ca_file: Option<PathBuf>,
    /// Who logged in.
    pub login: Option<String>,
    /// What was made there, in order.
    pub made: Vec<Made>,
    /// The configuration file with its section.
    pub config: Option<Configured>,
    /// Where the secret is.
    pub secret: Option<Keep>,
    /// The files of clients that oxmox was entered in.
    pub clients: Vec<Entered>,
    /// The directories that were made for all these, each before those in it.
    pub dirs: Vec<PathBuf>,
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
        serde_json::from_str(&text).map(Some).map_err(wrong)
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
