//! Where the secret of a token is kept: the keyring of the person's session, or a file that only they can read.

mod keyring;
mod shelf;

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tools::fault::Fault;

use crate::config::{self, Environment, Reference};
use crate::files::{Draft, behind_links};

pub use keyring::Keyring;
pub use shelf::{Shelf, Wanted};

/// A place for the secret of one cluster's token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// A file.
    File {
        /// Where it is.
        path: PathBuf,
    },
    /// The session's keyring.
    Keyring(Keyring),
}

impl Keep {
    /// A new place for this cluster's secret, and why it is not the keyring where that would have been better. Tries whether
    /// the keyring answers.
    pub fn find(
        wanted: Wanted,
        cluster: &str,
        config_dir: &Path,
        environment: &Environment,
    ) -> Result<(Self, Option<String>), Fault> {
        let shelf = Shelf::find(wanted, config_dir, environment)?;
        Ok((shelf.place(cluster), shelf.why_no_keyring))
    }

    /// What the configuration says of it.
    pub fn reference(&self) -> Reference {
        match self {
            Self::File { path } => Reference::File(path.clone()),
            Self::Keyring(keyring) => Reference::Command(keyring.command()),
        }
    }

    /// Whether that is what the configuration says of it, where a file may be named by way of links.
    pub fn is_named_by(&self, reference: &Reference) -> bool {
        match (self, reference) {
            (Self::File { path }, Reference::File(named)) => {
                behind_links(path) == behind_links(named)
            }
            _ => self.reference() == *reference,
        }
    }

    /// Whether both are one place, by whatever names.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.is_named_by(&other.reference())
    }

    /// The place that a configuration names, if it is one of ours.
    pub fn named(words: &[String]) -> Option<Self> {
        Keyring::named(words).map(Self::Keyring)
    }

    /// Puts the secret there.
    pub fn store(&self, secret: &SecretString) -> Result<(), Fault> {
        // What comes back is one line, and one of the keyrings' programs is told whole lines.
        config::is_text(secret)?;
        match self {
            Self::File { path } => Draft::open(path)?
                .private()
                .holding(format!("{}\n", secret.expose_secret()))
                .write(),
            Self::Keyring(keyring) => keyring.store(secret),
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path } => Some(path),
            Self::Keyring(_) => None,
        }
    }

    /// Takes the secret away; one that is not there is no error.
    pub fn remove(&self) -> Result<(), Fault> {
        match self {
            Self::File { path } => Draft::open(path)?.private().gone().write(),
            Self::Keyring(keyring) => keyring.remove(),
        }
    }
}

impl std::fmt::Display for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path } => write!(f, "{} (only you can read it)", path.display()),
            Self::Keyring(keyring) => {
                let program = keyring.program.display();
                write!(f, "the keyring of your session, by {program}")
            }
        }
    }
}
