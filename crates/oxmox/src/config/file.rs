//! The configuration file: its shape, and errors that say where and what instead.
//!
//! Errors show a line's number and never its text: it may hold what somebody took for the place of a secret.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use pve::{Fingerprint, Host, NodeName, StorageId};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use tools::fault::Fault;
use tools::policy::{Mode, Rule};

use super::cluster::Login;
use super::http::{HttpTable, OAuthTable};
use super::secret::SecretSource;
use crate::http::Limits;
use crate::syslog;

/// What may stand in `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    /// `read-only`, `ask` or `trusted`.
    pub mode: Option<Mode>,
    /// The toolsets to offer.
    pub toolsets: Option<Vec<String>>,
    /// Where plans, approvals and the audit trail are.
    pub state_dir: Option<PathBuf>,
    /// The database that replicas share: `postgres://USER@HOST/DATABASE`.
    pub store: Option<String>,
    /// Certificates of those who may vouch for it.
    pub store_ca_file: Option<PathBuf>,
    /// Where its password is.
    pub store_password_file: Option<PathBuf>,
    /// The variable that holds it.
    pub store_password_env: Option<String>,
    /// The program that prints it.
    pub store_password_command: Option<Vec<String>>,
    /// Known only so that it can be refused with the right words, unread.
    pub store_password: Option<IgnoredAny>,
    /// A clone of the community's scripts.
    pub community_scripts: Option<PathBuf>,
    /// Whether a model may confirm what destroys or grants.
    pub allow_model_confirm: bool,
    /// Whether whoever asks for a change may not be the one who says yes to it.
    pub four_eyes: bool,
    /// Where a copy of the audit trail goes.
    pub audit_copy: Option<AuditCopy>,
    /// Where the system's log listens, if not where it usually does.
    pub audit_copy_socket: Option<PathBuf>,
    /// Directories of this machine whose files may be uploaded.
    pub upload_from: Vec<PathBuf>,
    /// `[clusters.NAME]`
    pub clusters: BTreeMap<String, ClusterTable>,
    /// `[[rules]]`
    pub rules: Vec<Rule>,
    /// `[http]`
    pub http: HttpTable,
    /// `[limits]`
    pub limits: Limits,
    /// `[oauth]`
    pub oauth: Option<OAuthTable>,
}

/// Where a copy of the audit trail goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditCopy {
    /// To the system's log.
    Syslog,
}

/// `[clusters.NAME]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterTable {
    pub(super) hosts: Vec<HostEntry>,
    pub(super) pin: Option<Fingerprint>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) default_node: Option<NodeName>,
    pub(super) default_storage: Option<StorageId>,
    pub(super) mode: Option<Mode>,
    pub(super) tags: Vec<String>,
    /// Seconds.
    pub(super) timeout: Option<u64>,
    token: Option<String>,
    token_secret_file: Option<PathBuf>,
    token_secret_env: Option<String>,
    token_secret_command: Option<Vec<String>>,
    user: Option<String>,
    password_file: Option<PathBuf>,
    password_env: Option<String>,
    password_command: Option<Vec<String>>,
    // Known only so that they can be refused with the right words, unread.
    token_secret: Option<IgnoredAny>,
    password: Option<IgnoredAny>,
}

impl ClusterTable {
    /// Who we are, from the keys that say so. `resolve` makes a path of the file a real one.
    pub(super) fn login(&self, resolve: &dyn Fn(&Path) -> PathBuf) -> Result<Login, Fault> {
        for (key, given) in [
            ("token_secret", &self.token_secret),
            ("password", &self.password),
        ] {
            if given.is_some() {
                return Err(
                    Fault::bad_input(format!("`{key}` does not belong into the file")).hint(format!(
                        "keep it in a file, a variable or a password manager and name that: {key}_file, {key}_env or {key}_command"
                    )),
                );
            }
        }
        let file = |path: &Option<PathBuf>| {
            path.as_deref()
                .map(|path| SecretSource::File(resolve(path)))
        };
        let variable = |name: &Option<String>| name.clone().map(SecretSource::Variable);
        let command = |words: &Option<Vec<String>>| words.clone().map(SecretSource::Command);
        match (&self.token, &self.user) {
            (Some(token), None) => {
                let sources = [
                    file(&self.token_secret_file),
                    variable(&self.token_secret_env),
                    command(&self.token_secret_command),
                ];
                Login::token(token, one(sources, "token_secret")?)
            }
            (None, Some(user)) => {
                let sources = [
                    file(&self.password_file),
                    variable(&self.password_env),
                    command(&self.password_command),
                ];
                Login::password(user, one(sources, "password")?)
            }
            _ => Err(Fault::bad_input("it needs either `token` or `user`").hint(
                "token = \"root@pam!oxmox\" with token_secret_file, or user = \"root@pam\" with password_file",
            )),
        }
    }
}

/// One of the ways to a secret, or none.
pub(super) fn one_at_most(
    sources: [Option<SecretSource>; 3],
    key: &str,
) -> Result<Option<SecretSource>, Fault> {
    if sources.iter().all(Option::is_none) {
        return Ok(None);
    }
    one(sources, key).map(Some)
}

/// Exactly one of the ways to a secret.
fn one(sources: [Option<SecretSource>; 3], key: &str) -> Result<SecretSource, Fault> {
    let mut given = sources.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(source), None) => Ok(source),
        (found, _) => {
            let what = if found.is_some() {
                "more than one way"
            } else {
                "no way"
            };
            Err(
                Fault::bad_input(format!("there is {what} to its secret")).hint(format!(
                    "write one of {key}_file, {key}_env and {key}_command"
                )),
            )
        }
    }
}

impl File {
    /// The socket to which the audit trail is copied. `resolve` makes a path of the file a real one.
    pub(super) fn audit_copy_to(
        &self,
        resolve: &dyn Fn(&Path) -> PathBuf,
    ) -> Result<Option<PathBuf>, Fault> {
        match (self.audit_copy, &self.audit_copy_socket) {
            (Some(AuditCopy::Syslog), None) => Ok(Some(PathBuf::from(syslog::SOCKET))),
            (Some(AuditCopy::Syslog), Some(socket)) => Ok(Some(resolve(socket))),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(Fault::bad_input(
                "`audit_copy_socket` is there, and `audit_copy` is not",
            )
            .hint("write audit_copy = \"syslog\" as well")),
        }
    }

    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Fault::bad_input(format!("{} cannot be read: {error}", path.display()))
        })?;
        Self::parse(&text).map_err(|fault| Fault {
            message: format!("{}: {}", path.display(), fault.message),
            ..fault
        })
    }

    /// From its text.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error
                .span()
                .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line
                .map(|line| format!("line {line}: "))
                .unwrap_or_default();
            let fault = Fault::bad_input(format!("{place}{}", error.message()));
            match near_key(error.message()) {
                Some(near) => fault.hint(format!("did you mean `{near}`?")),
                None => fault,
            }
        })
    }
}

/// The key that was probably meant, from serde's "unknown field `a`, expected one of `b`, `c`".
fn near_key(message: &str) -> Option<&str> {
    let mut quoted = message
        .strip_prefix("unknown field ")?
        .split('`')
        .skip(1)
        .step_by(2);
    let unknown = quoted.next()?;
    tools::schema::nearest(unknown, quoted)
}

/// A host as `"pve1:8006"` or as `{ host = "pve1:8006", pin = "AA:…" }`.
#[derive(Debug)]
pub(super) struct HostEntry(pub(super) Host);

impl<'de> Deserialize<'de> for HostEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HostVisitor)
    }
}

struct HostVisitor;

impl<'de> Visitor<'de> for HostVisitor {
    type Value = HostEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a host like \"pve1:8006\" or { host = \"pve1\", pin = \"AA:…\" }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<HostEntry, E> {
        text.parse().map(HostEntry).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HostEntry, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Pinned {
            host: String,
            pin: Option<Fingerprint>,
        }
        let pinned = Pinned::deserialize(de::value::MapAccessDeserializer::new(map))?;
        let mut host: Host = pinned.host.parse().map_err(de::Error::custom)?;
        host.pin = pinned.pin;
        Ok(HostEntry(host))
    }
}
