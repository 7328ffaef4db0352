//! The environment as it was at start, and the cluster that the usual `PROXMOX_` variables describe.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pve::{Host, Trust};
use tools::fault::Fault;

use super::ENVIRONMENT_CLUSTER;
use super::cluster::{ClusterConfig, Login, Preferences};
use super::secret::SecretSource;

/// The variables that stand for no key, or for one in their own way, and what they say; the others are named with their keys.
pub const VARIABLES: &[(&str, &str)] = &[
    ("OXMOX_CONFIG", "where the file is, as `--config`"),
    (
        "PROXMOX_HOST",
        "a node of a cluster that is named `default`, beside those of the file",
    ),
    ("PROXMOX_PORT", "its port, if not 8006"),
    ("PROXMOX_USER", "`oxmox@pve`"),
    (
        "PROXMOX_TOKEN_NAME",
        "the token's name: `agent`, or in full `oxmox@pve!agent`",
    ),
    ("PROXMOX_TOKEN_VALUE", "its secret"),
    (
        "PROXMOX_API_TOKEN",
        "the whole token, `oxmox@pve!agent=SECRET`, instead of the three before",
    ),
    ("PROXMOX_PASSWORD", "the user's, instead of a token"),
    (
        "PROXMOX_TIMEOUT",
        "seconds for a request to a cluster, if not 45",
    ),
    (
        "PROXMOX_READ_ONLY",
        "`1`, `true` or `yes`: mode `read-only`, whatever the file and the flags say",
    ),
    (
        "PROXMOX_DISABLE_RAW_API",
        "`1`, `true` or `yes`: `read_proxmox_api` and `write_proxmox_api` are refused and not listed",
    ),
    (
        "TOOL_ROUTING",
        "`1`, `true` or `yes`: `toolsets = [\"lean\"]`, unless `--toolsets` says otherwise",
    ),
    (
        "ROUTER_TOP_K",
        "how many tools `search_proxmox_tools` returns, 1 to 50, if not 6",
    ),
    ("FASTEMBED_CACHE_DIR", "has no effect; oxmox says so"),
    ("PROXMOX_FINGERPRINT", "as `pin`"),
    ("PROXMOX_CA_FILE", "as `ca_file`"),
    (
        "PROXMOX_VERIFY_SSL",
        "has no effect; oxmox says so if it is false, since certificates are always checked",
    ),
    (
        "NOTIFY_SOCKET",
        "set by systemd; `oxmox serve --http` tells there when it is ready, reloads and stops",
    ),
    (
        "XDG_CONFIG_HOME",
        "where `oxmox/config.toml` is; the default is `~/.config`",
    ),
    (
        "XDG_STATE_HOME",
        "where `oxmox` keeps its state; the default is `~/.local/state`",
    ),
    ("HOME", "where both are, and what `~/` means"),
    (
        "CLAUDE_CONFIG_DIR",
        "where `oxmox setup` looks for the file of Claude Code",
    ),
    (
        "APPDATA",
        "on Windows, where `oxmox\\config.toml` is, and where setup looks for the files of clients",
    ),
    ("LOCALAPPDATA", "on Windows, where `oxmox` keeps its state"),
    ("USERPROFILE", "`HOME`, on Windows"),
];

/// The variables, read once. Has no `Debug`: some of them are secrets.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Of this process. A variable that is not UTF-8 counts as not set.
    pub fn of_process() -> Self {
        let pairs = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self(pairs.collect())
    }

    /// The value; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The names of those that are set.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Where the service manager listens for how the service is.
    pub fn notify_socket(&self) -> Option<&str> {
        self.get("NOTIFY_SOCKET")
    }

    /// Whether a cluster is described in here; it then stands in the place of one of that name in the file.
    pub fn has_cluster(&self) -> bool {
        self.get("PROXMOX_HOST").is_some()
    }

    /// The cluster that `PROXMOX_HOST` and its companions describe.
    pub(super) fn cluster(&self) -> Result<Option<ClusterConfig>, Fault> {
        let Some(host) = self.get("PROXMOX_HOST") else {
            return Ok(None);
        };
        Ok(Some(ClusterConfig {
            name: ENVIRONMENT_CLUSTER.to_owned(),
            hosts: vec![self.host(host)?],
            login: self.login()?,
            trust: self
                .get("PROXMOX_CA_FILE")
                .map_or(Trust::System, |file| Trust::CaFile(PathBuf::from(file))),
            prefers: Preferences {
                request_timeout: self.request_timeout()?,
                ..Preferences::default()
            },
        }))
    }

    fn host(&self, host: &str) -> Result<Host, Fault> {
        let mut host: Host = host
            .parse()
            .map_err(|error| wrong("PROXMOX_HOST", &error))?;
        if let Some(port) = self.get("PROXMOX_PORT") {
            host.port = port
                .parse()
                .map_err(|error| wrong("PROXMOX_PORT", &error))?;
        }
        if let Some(pin) = self.get("PROXMOX_FINGERPRINT") {
            let pin = pin
                .parse()
                .map_err(|error| wrong("PROXMOX_FINGERPRINT", &error))?;
            host = host.with_pin(pin);
        }
        Ok(host)
    }

    fn login(&self) -> Result<Login, Fault> {
        let missing = |name: &str| {
            Fault::bad_input(format!("PROXMOX_HOST is set, but {name} is not")).hint(
                "set PROXMOX_USER (root@pam) with PROXMOX_TOKEN_NAME and PROXMOX_TOKEN_VALUE, or with PROXMOX_PASSWORD; or PROXMOX_API_TOKEN alone",
            )
        };
        let held = |value: &str| SecretSource::Held(value.into());
        if let Some(whole) = self.get("PROXMOX_API_TOKEN") {
            if self.get("PROXMOX_TOKEN_NAME").is_some() {
                return Err(Fault::bad_input(
                    "PROXMOX_API_TOKEN and PROXMOX_TOKEN_NAME are both set",
                )
                .hint("unset one of them"));
            }
            // Not quoted: the secret is in it.
            let whole = whole.trim();
            let (id, secret) = whole.split_once('=').ok_or_else(|| {
                Fault::bad_input("PROXMOX_API_TOKEN is not USER@REALM!NAME=SECRET")
                    .hint("set it to the token's full name, an equals sign and its secret, as in root@pam!oxmox=SECRET")
            })?;
            return Login::token(id, held(secret));
        }
        // Some tools want the token's full name here; both are understood.
        if let Some(token) = self.get("PROXMOX_TOKEN_NAME") {
            let secret = self
                .get("PROXMOX_TOKEN_VALUE")
                .ok_or_else(|| missing("PROXMOX_TOKEN_VALUE"))?;
            let id = if token.contains('!') {
                token.to_owned()
            } else {
                let user = self
                    .get("PROXMOX_USER")
                    .ok_or_else(|| missing("PROXMOX_USER"))?;
                format!("{user}!{token}")
            };
            return Login::token(&id, held(secret));
        }
        let user = self
            .get("PROXMOX_USER")
            .ok_or_else(|| missing("PROXMOX_USER"))?;
        let password = self
            .get("PROXMOX_PASSWORD")
            .ok_or_else(|| missing("PROXMOX_TOKEN_NAME"))?;
        Login::password(user, held(password))
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Environment {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self(pairs.into_iter().map(owned).collect())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Self {
        pairs.into_iter().collect()
    }
}

fn wrong(variable: &str, error: &dyn std::fmt::Display) -> Fault {
    Fault::bad_input(format!("{variable}: {error}"))
}
