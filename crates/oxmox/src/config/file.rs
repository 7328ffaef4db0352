//! The configuration file: its shape, and errors that say where and what instead.
//!
//! Errors show a line's number and never its text: it may hold what somebody took for the place of a secret.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use pve::{Fingerprint, Host, NodeName, StorageId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};
use tools::context::Cluster;
use tools::fault::Fault;
use tools::policy::{Confirm, Mode, Rule};
use tools::spec::Toolset;

use super::cluster::Login;
use super::http::{HttpTable, OAuthTable};
use super::secret::SecretSource;
use super::token_secret;
use crate::http::Limits;
use crate::program;
use crate::syslog;

/// What may stand in `config.toml`. The words here are those of docs/CONFIG.md, which `oxmox generate` makes from them:
/// `toml` is an example, `env` and `flag` count before the key.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    /// How much oxmox may do without asking: `read-only` changes nothing, `ask` asks before what interrupts, destroys or
    /// grants, `trusted` asks nothing. Said here, `read-only` wins over the flag and over the mode of a cluster.
    #[schemars(extend("default" = Mode::default(), "flag" = "--mode", "toml" = "\"read-only\""))]
    pub mode: Option<Mode>,
    /// The groups of tools that clients are offered, or `["all"]`: [TOOLS.md](TOOLS.md) has them.
    #[schemars(extend("default" = [Toolset::Core.word()], "flag" = "--toolsets", "toml" = "[\"core\", \"ops\"]"))]
    pub toolsets: Option<Vec<String>>,
    /// Where plans, approvals, the audit trail and the freeze are; every oxmox that shares it shares them.
    #[schemars(extend("default" = "~/.local/state/oxmox", "env" = "OXMOX_STATE_DIR", "flag" = "--state-dir", "toml" = "\"/var/lib/oxmox\""))]
    pub state_dir: Option<PathBuf>,
    /// The PostgreSQL database that several replicas share, without its password; without it `state_dir` holds everything.
    /// In the variable the address may hold the password.
    #[schemars(extend("env" = "OXMOX_STORE", "flag" = "--store", "toml" = "\"postgres://oxmox@db.example.com/oxmox\""))]
    pub store: Option<String>,
    /// Certificates of those who may vouch for the database; the default is the system's.
    #[schemars(extend("env" = "OXMOX_STORE_CA_FILE", "toml" = "\"db-ca.pem\""))]
    pub store_ca_file: Option<PathBuf>,
    /// The file that holds the database's password, in its first line. One of the three ways; `store_password` itself is refused.
    #[schemars(extend("env" = "OXMOX_STORE_PASSWORD", "toml" = "\"db.secret\""))]
    pub store_password_file: Option<PathBuf>,
    /// The variable of the environment that holds it.
    #[schemars(extend("toml" = "\"DB_PASSWORD\""))]
    pub store_password_env: Option<String>,
    /// The program, with its arguments, that prints it.
    #[schemars(extend("toml" = "[\"pass\", \"show\", \"oxmox/db\"]"))]
    pub store_password_command: Option<Vec<String>>,
    /// Known only so that it can be refused with the right words, unread.
    #[schemars(skip)]
    pub store_password: Option<IgnoredAny>,
    /// A clone of the community's scripts (github.com/community-scripts/ProxmoxVE) for the toolset `homelab` to look things
    /// up in; nothing is fetched or run.
    #[schemars(extend("toml" = "\"~/src/ProxmoxVE\""))]
    pub community_scripts: Option<PathBuf>,
    /// Who confirms a change that interrupts a running guest or service, where the client cannot ask a person: `client` lets the
    /// client repeat the call with the `confirm` value that it was given, `person` waits for a person's approval. Changes that
    /// destroy or grant are always a person's to approve.
    #[schemars(extend("toml" = "\"person\""))]
    pub confirm: Confirm,
    /// Known only so that it can be refused with the setting that replaces it.
    #[schemars(skip)]
    pub allow_model_confirm: Option<IgnoredAny>,
    /// Whether whoever asks for a change may not be the one who says yes to it: nobody is asked through the client then, and
    /// another person decides with `oxmox approve` or at the page.
    #[schemars(extend("toml" = "true"))]
    pub four_eyes: bool,
    /// Where a copy of each entry of the audit trail goes: the system's log, which syslog daemons and systemd's journal read
    /// (facility authpriv, one line of JSON as `oxmox audit export` prints it, with its number and its link: any copied
    /// `link` is a head that `oxmox audit verify --head` takes). Nothing waits for it: what cannot be delivered is left out,
    /// which is said on stderr once. Of an entry longer than 8000 bytes the steps, arguments and so on are left out, and
    /// `left_out` names them. Each replica sends what it writes itself.
    #[schemars(extend("toml" = "\"syslog\""))]
    pub audit_copy: Option<AuditCopy>,
    /// Where the system's log listens.
    #[schemars(extend("default" = syslog::SOCKET, "toml" = "\"/run/systemd/journal/dev-log\""))]
    pub audit_copy_socket: Option<PathBuf>,
    /// Directories of this machine whose files `upload_to_storage` may send to a storage: regular files in and below them,
    /// links only as far as they stay inside, and nothing of oxmox's own state and configuration nor of the files that hold
    /// its secrets. Without it no file of this machine is read.
    #[schemars(extend("toml" = "[\"~/images\"]"))]
    pub upload_from: Vec<PathBuf>,
    /// One table for each cluster, under the name that callers and rules know it by. With more than one, every tool takes
    /// `cluster`.
    pub clusters: BTreeMap<String, ClusterTable>,
    /// Refinements of the mode. The first rule whose conditions all hold decides; a plan that none matches follows the
    /// mode. [configuration.md](configuration.md#rules) tells what a
    /// plan is about, and what comes before every rule.
    pub rules: Vec<Rule>,
    /// How `oxmox serve --http` serves others.
    pub http: HttpTable,
    /// How much a caller over the network may ask for, a person at the page, or an address where those are not known. Who asks
    /// for more gets a 429 that says when to try again.
    pub limits: Limits,
    /// An OAuth 2.1 server whose tokens let in, too: JWTs that this issuer signed for this server.
    pub oauth: Option<OAuthTable>,
}

/// Where a copy of the audit trail goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditCopy {
    /// To the system's log.
    Syslog,
}

/// `[clusters.NAME]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterTable {
    /// Its nodes, best first: `"pve1"`, `"pve1:8006"`, or with the SHA-256 of the node's certificate. They stand in for each
    /// other: the one that answered last is asked first.
    #[schemars(with = "Vec<String>", extend("env" = "PROXMOX_HOST", "toml" = "[{ host = \"pve1:8006\", pin = \"AA:…\" }, \"pve2\"]"))]
    pub(super) hosts: Vec<HostEntry>,
    /// SHA-256 of the certificate (Node > System > Certificates), where there is one host.
    #[schemars(with = "Option<String>", extend("env" = "PROXMOX_FINGERPRINT", "toml" = "\"AA:…\""))]
    pub(super) pin: Option<Fingerprint>,
    /// The CA that signed the certificates of hosts without a pin: a copy of `/etc/pve/pve-root-ca.pem`. The default is the
    /// system's roots.
    #[schemars(extend("env" = "PROXMOX_CA_FILE", "toml" = "\"pve-root-ca.pem\""))]
    pub(super) ca_file: Option<PathBuf>,
    /// Where a new guest goes if the caller does not say; another place is taken where it does not fit.
    #[schemars(extend("toml" = "\"pve2\""))]
    pub(super) default_node: Option<NodeName>,
    /// Where its disks go, likewise.
    #[schemars(extend("toml" = "\"local-zfs\""))]
    pub(super) default_storage: Option<StorageId>,
    /// As `mode` above, for this cluster; `--mode` is never gone beyond, and `read-only` wins wherever it is said.
    #[schemars(extend("toml" = "\"trusted\""))]
    pub(super) mode: Option<Mode>,
    /// Words by which rules name clusters: `cluster_tag = "prod"` holds for each that has it.
    #[schemars(extend("toml" = "[\"prod\"]"))]
    pub(super) tags: Vec<String>,
    /// Seconds after which a list over several clusters goes on without this one, and says so.
    #[schemars(extend("default" = Cluster::PATIENCE.as_secs(), "toml" = "30"))]
    pub(super) timeout: Option<u64>,
    /// Seconds that the program which prints the secret may take, and whoever it asks: a keyring or a password manager may
    /// have to be unlocked. It is run when the cluster is first asked for something.
    #[schemars(extend("default" = program::LIMIT.as_secs(), "toml" = "60"))]
    pub(super) secret_timeout: Option<u64>,
    /// The API token's name, with its user. Either this or `user`.
    #[schemars(extend("env" = "PROXMOX_TOKEN_NAME", "toml" = "\"oxmox@pve!agent\""))]
    token: Option<String>,
    /// The file that holds the token's secret, in its first line. Exactly one of the three ways; `token_secret` itself is
    /// refused: a secret does not belong into this file.
    #[schemars(extend("env" = "PROXMOX_TOKEN_VALUE", "toml" = "\"home.secret\""))]
    token_secret_file: Option<PathBuf>,
    /// The variable of the environment that holds it.
    #[schemars(extend("toml" = "\"HOME_SECRET\""))]
    token_secret_env: Option<String>,
    /// The program, with its arguments, that prints it.
    #[schemars(extend("toml" = "[\"pass\", \"show\", \"oxmox/home\"]"))]
    token_secret_command: Option<Vec<String>>,
    /// Instead of `token`: a user with a password, for terminals and commands in containers, into which PVE lets no token.
    #[schemars(extend("env" = "PROXMOX_USER", "toml" = "\"oxmox@pve\""))]
    user: Option<String>,
    /// The file that holds the password. Exactly one of the three ways; `password` itself is refused.
    #[schemars(extend("env" = "PROXMOX_PASSWORD", "toml" = "\"home.password\""))]
    password_file: Option<PathBuf>,
    /// The variable of the environment that holds it.
    #[schemars(extend("toml" = "\"HOME_PASSWORD\""))]
    password_env: Option<String>,
    /// The program, with its arguments, that prints it.
    #[schemars(extend("toml" = "[\"pass\", \"show\", \"lab/oxmox\"]"))]
    password_command: Option<Vec<String>>,
    // Known only so that they can be refused with the right words, unread.
    #[schemars(skip)]
    token_secret: Option<IgnoredAny>,
    #[schemars(skip)]
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
        let file: Self = toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error
                .span()
                .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line
                .map(|line| format!("line {line}: "))
                .unwrap_or_default();
            let fault = Fault::bad_input(format!("{place}{}", untold(error.message())));
            match near_key(error.message()) {
                Some(near) => fault.hint(format!("did you mean `{near}`?")),
                None => fault,
            }
        })?;
        if file.allow_model_confirm.is_some() {
            return Err(Fault::bad_input("`allow_model_confirm` was removed").hint(
                "delete the line: a person approves each change that destroys or grants. `confirm = \"person\"` has a \
                 person approve interruptions as well",
            ));
        }
        Ok(file)
    }
}

/// The reason without the value that was there instead, from serde's "invalid type: string \"a b\", expected a sequence": a secret
/// may have been put where a program belongs. What is none of a few words is repeated, so that it is found, but for what looks
/// like a secret.
fn untold(message: &str) -> String {
    let untold = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|sort| {
            let (found, expected) = message.strip_prefix(sort)?.rsplit_once(", expected ")?;
            let kind = found.split(['"', '`']).next()?.trim_end();
            Some(format!("{sort}{kind}, expected {expected}"))
        });
    untold.unwrap_or_else(|| token_secret::veiled(message))
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
