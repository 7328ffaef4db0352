//! One configured cluster: where it is, who we are to it, how its certificate is trusted.

use std::path::Path;
use std::time::Duration;

use pve::{Credentials, Host, IdError, NodeName, Secret, Settings, StorageId, TokenId, Trust};
use tools::context::{Cluster, Defaults};
use tools::fault::Fault;
use tools::policy::Mode;
use tools::rights;

use super::file::ClusterTable;
use super::secret::{Kept, SecretSource};
use super::{Environment, paths};
use crate::program;

/// A cluster as configured, its secret still where it is kept.
#[derive(Debug, Clone)]
pub struct ClusterConfig {
    /// What callers and rules know it by.
    pub name: String,
    /// Its nodes, best first.
    pub hosts: Vec<Host>,
    /// Who we are.
    pub login: Login,
    /// How a certificate without a pin is checked.
    pub trust: Trust,
    /// What holds for it alone.
    pub prefers: Preferences,
}

/// What holds for one cluster alone.
#[derive(Debug, Clone)]
pub struct Preferences {
    /// Where new guests go if nobody says.
    pub node: Option<NodeName>,
    /// Where their disks go.
    pub storage: Option<StorageId>,
    /// How much oxmox may do there on its own.
    pub mode: Option<Mode>,
    /// Words that rules can name it by.
    pub tags: Vec<String>,
    /// How long lists over several clusters wait for it.
    pub timeout: Duration,
    /// How long a request may take, if not as long as usual.
    pub request_timeout: Option<Duration>,
    /// How long the program that prints its secret may take.
    pub secret_timeout: Duration,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            node: None,
            storage: None,
            mode: None,
            tags: Vec::new(),
            timeout: Cluster::PATIENCE,
            request_timeout: None,
            secret_timeout: program::LIMIT,
        }
    }
}

/// The longest that a cluster may be waited for.
const LONGEST: u64 = 600;

/// Who we are to a cluster.
#[derive(Debug, Clone)]
pub enum Login {
    /// By an API token.
    Token {
        /// `root@pam`
        user: String,
        /// The part after `!`.
        name: String,
        /// Where its secret is.
        secret: SecretSource,
    },
    /// By a password.
    Password {
        /// `root@pam`
        user: String,
        /// Where the password is.
        password: SecretSource,
    },
}

impl Login {
    /// A token by its full name, `root@pam!oxmox`.
    pub fn token(id: &str, secret: SecretSource) -> Result<Self, Fault> {
        if id.contains('=') {
            return Err(whole_token());
        }
        let TokenId { user, name } = id.parse().map_err(|error: IdError| {
            Fault::bad_input(error.to_string())
                .hint("it has a user, a realm and a name: root@pam!oxmox")
        })?;
        Ok(Self::Token { user, name, secret })
    }

    /// A user with a password.
    pub fn password(user: &str, password: SecretSource) -> Result<Self, Fault> {
        if user.contains('=') {
            return Err(whole_token());
        }
        if !has_realm(user) {
            return Err(
                Fault::bad_input("the user is not one of PVE").hint("it has a realm: root@pam")
            );
        }
        Ok(Self::Password {
            user: user.to_owned(),
            password,
        })
    }
}

/// Neither this nor the other refusals quote what was given: it may hold the secret.
fn whole_token() -> Fault {
    Fault::bad_input("what names the user or the token looks like a whole token, USER!NAME=SECRET").hint(
        "set its parts one by one: in the environment PROXMOX_USER (root@pam), PROXMOX_TOKEN_NAME (oxmox) and \
         PROXMOX_TOKEN_VALUE (the part after \"=\"); in the file `token` without the secret, and token_secret_file",
    )
}

impl Login {
    /// Where the secret is.
    pub fn source(&self) -> &SecretSource {
        match self {
            Self::Token { secret, .. } => secret,
            Self::Password { password, .. } => password,
        }
    }

    /// With its secret from somewhere else.
    pub fn source_mut(&mut self) -> &mut SecretSource {
        match self {
            Self::Token { secret, .. } => secret,
            Self::Password { password, .. } => password,
        }
    }

    /// How the keys of the configuration begin that name where the secret is.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Token { .. } => "token_secret",
            Self::Password { .. } => "password",
        }
    }
}

impl ClusterTable {
    fn preferences(&self) -> Result<Preferences, String> {
        let usual = Preferences::default();
        let seconds = |key: &str, said: Option<u64>, usual: Duration| match said {
            None => Ok(usual),
            Some(seconds @ 1..=LONGEST) => Ok(Duration::from_secs(seconds)),
            Some(_) => Err(format!("`{key}` is in seconds, 1 to {LONGEST}")),
        };
        Ok(Preferences {
            node: self.default_node.clone(),
            storage: self.default_storage.clone(),
            mode: self.mode,
            tags: self.tags.clone(),
            timeout: seconds("timeout", self.timeout, usual.timeout)?,
            request_timeout: None,
            secret_timeout: seconds("secret_timeout", self.secret_timeout, usual.secret_timeout)?,
        })
    }
}

fn has_realm(user: &str) -> bool {
    user.split_once('@')
        .is_some_and(|(name, realm)| !name.is_empty() && !realm.is_empty())
}

impl ClusterConfig {
    /// From its section of the file.
    pub(super) fn from_table(
        name: &str,
        table: &ClusterTable,
        dir: &Path,
        environment: &Environment,
    ) -> Result<Self, Fault> {
        let wrong = |what: &str| Fault::bad_input(format!("clusters.{name}: {what}"));
        let mut hosts: Vec<Host> = table.hosts.iter().map(|entry| entry.0.clone()).collect();
        match (hosts.as_mut_slice(), table.pin) {
            ([], _) => return Err(wrong("it has no hosts").hint("hosts = [\"pve1:8006\"]")),
            ([only], Some(pin)) => only.pin = Some(pin),
            (_, Some(_)) => {
                return Err(wrong("`pin` is for a cluster with one host").hint(
                    "each node has its own certificate: hosts = [{ host = \"pve1\", pin = \"AA:…\" }, …]",
                ));
            }
            (_, None) => {}
        }
        let login = table
            .login(&|path| paths::resolve(dir, path, environment))
            .map_err(|fault| Fault {
                message: format!("clusters.{name}: {}", fault.message),
                ..fault
            })?;
        Ok(Self {
            name: name.to_owned(),
            hosts,
            login,
            trust: table.ca_file.as_ref().map_or(Trust::System, |file| {
                Trust::CaFile(paths::resolve(dir, file, environment))
            }),
            prefers: Preferences {
                request_timeout: environment.request_timeout()?,
                ..table.preferences().map_err(|what| wrong(&what))?
            },
        })
    }

    /// What a tool knows of it, behind this Reader.
    pub fn to_read(&self, pve: pve::Reader) -> Cluster {
        let Preferences {
            node,
            storage,
            timeout,
            ..
        } = self.prefers.clone();
        let defaults = Defaults { node, storage };
        Cluster::new(&self.name, pve)
            .preferring(defaults)
            .patient(timeout)
    }

    /// Who we are there: `root@pam!oxmox` for a token.
    pub fn identity(&self) -> String {
        match &self.login {
            Login::Token { user, name, .. } => format!("{user}!{name}"),
            Login::Password { user, .. } => user.clone(),
        }
    }

    /// By what our rights there are known.
    pub fn rights_key(&self) -> rights::Key {
        let hosts: Vec<_> = self.hosts.iter().map(ToString::to_string).collect();
        rights::Key::new(&self.name, &hosts, &self.identity())
    }

    /// The file that holds its secret, if one does.
    pub fn secret_file(&self) -> Option<&Path> {
        match self.login.source() {
            SecretSource::File(path) => Some(path),
            _ => None,
        }
    }

    /// What `pve::connect` takes. The secret stays where it is until the cluster is asked for something.
    pub fn settings(&self, environment: &Environment) -> Settings {
        let secret = |source: &SecretSource, what: &str| {
            let what = format!("the {what} of cluster {}", self.name);
            let limit = self.prefers.secret_timeout;
            if let SecretSource::Held(_) = source
                && let Ok(secret) = source.read((&what, self.login.key()), environment, limit)
            {
                return secret.into();
            }
            // One that cannot be used is told of when it is needed, too: the other clusters do not need it.
            Secret::kept(Kept {
                cluster: self.name.clone(),
                what,
                key: self.login.key(),
                source: source.clone(),
                environment: environment.clone(),
                limit,
            })
        };
        let credentials = match &self.login {
            Login::Token {
                user,
                name,
                secret: source,
            } => Credentials::Token {
                user: user.clone(),
                name: name.clone(),
                secret: secret(source, "token secret"),
            },
            Login::Password { user, password } => Credentials::Password {
                user: user.clone(),
                password: secret(password, "password"),
            },
        };
        let mut settings = Settings::new(self.hosts.clone(), credentials);
        settings.trust = self.trust.clone();
        if let Some(timeout) = self.prefers.request_timeout {
            settings.timeouts.answer = timeout;
        }
        settings
    }
}
