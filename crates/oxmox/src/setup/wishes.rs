//! What a person said they want, by flags. What they left out is asked for, or has a default.

use std::path::{Path, PathBuf};

use pve::Fingerprint;
use secrecy::SecretString;
use tools::caller::Scope;

use crate::cli::commands::Commands;
use crate::clients::Client;
use crate::keep::Wanted;

/// How the certificates of a cluster's nodes are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Trusting {
    /// By a fingerprint for each node
    Pins,
    /// By the cluster's own certificate authority
    Ca,
}

/// Everything that can be said beforehand.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct Wishes {
    /// `--host`, with `--port`.
    pub host: Option<String>,
    /// `--port`
    pub port: Option<u16>,
    /// `--user`
    pub user: Option<String>,
    /// From stdin or a file.
    pub password: Option<SecretString>,
    /// `--totp`
    pub totp: Option<SecretString>,
    /// `--level`
    pub level: Option<Scope>,
    /// `--pools`; `None`: not said.
    pub pools: Option<Vec<String>>,
    /// `--storages`
    pub storages: Vec<String>,
    /// `--screens`
    pub screens: bool,
    /// `--pin`
    pub pin: Option<Fingerprint>,
    /// `--accept-pin`
    pub accept_pin: bool,
    /// `--only-host`
    pub only_host: bool,
    /// `--trust`
    pub trusting: Option<Trusting>,
    /// `--token`, an existing one.
    pub token: Option<String>,
    /// Its secret, from stdin or a file.
    pub token_secret: Option<SecretString>,
    /// `--client`; `None`: not said.
    pub clients: Option<Vec<Client>>,
    /// `--name`
    pub name: Option<String>,
    /// `--secret-store`
    pub secret: Wanted,
    /// `--yes`
    pub yes: bool,
    /// `--dry-run`
    pub dry_run: bool,
    /// `--local-only`, of `--undo`.
    pub local_only: bool,
    /// The cluster that is to be taken back, if this is about taking back.
    pub undone: Option<String>,
    /// What they may have to type next.
    pub commands: Commands,
}

impl Wishes {
    /// What to type to come to this host once more.
    pub fn command(&self, host: &str) -> String {
        match &self.undone {
            Some(cluster) => self.commands.undo(cluster),
            None => self.commands.with(&format!("setup --host {host}")),
        }
    }
}

/// Where things are on this machine.
#[derive(Debug, Clone)]
pub struct Here {
    /// The configuration file.
    pub config: PathBuf,
    /// Where setup writes down what it did.
    pub state: PathBuf,
    /// The flags with which a client has to start oxmox, so that it finds both.
    pub arguments: Vec<String>,
}

impl Here {
    /// Where the configuration file is.
    pub fn config_dir(&self) -> &Path {
        self.config.parent().unwrap_or(Path::new("."))
    }
}
