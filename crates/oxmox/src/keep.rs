//! Where the secret of a token is kept: the keyring of the person's session, or a file that only they can read.
//!
//! The keyring is reached through the program that comes with it (`secret-tool` of libsecret, `security` of macOS): the
//! configuration then names that program, which any other tool can be asked to check. A client of the Secret Service in
//! here would be some forty crates more, and could do no more. The kernel's own keyring forgets at the next boot, and
//! Windows has no such program: there it is a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tools::fault::{Fault, Kind};
use tools::keys;

use crate::config::{Environment, Reference, System};
use crate::files::Draft;

/// What the secrets are filed under.
const SERVICE: &str = "oxmox";

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
    Keyring {
        /// The program that reaches it.
        program: PathBuf,
        /// What it is filed under there.
        entry: String,
    },
}

/// Which place a person wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Wanted {
    /// The keyring if there is one, else a file
    #[default]
    Auto,
    /// The keyring of this session
    Keyring,
    /// A file that only you can read
    File,
}

impl Keep {
    /// A new place for this cluster's secret, and why it is not the keyring where that would have been better. Tries whether
    /// the keyring answers. Nothing is there yet: what somebody keeps under the cluster's name stays theirs, and an earlier
    /// secret is good until the new one has shown that it is.
    pub fn find(
        wanted: Wanted,
        cluster: &str,
        config_dir: &Path,
        environment: &Environment,
    ) -> Result<(Self, Option<String>), Fault> {
        let file = Self::File {
            path: free(&config_dir.join("secrets"), cluster),
        };
        if wanted == Wanted::File {
            return Ok((file, None));
        }
        // One that is locked does not tell which names are taken.
        let entry = format!("{cluster}-{}", keys::short_id());
        let keyring = keyring(environment).and_then(|program| {
            let keyring = Self::Keyring { program, entry };
            keyring.keeps().map_err(|fault| fault.message)?;
            Ok(keyring)
        });
        match (keyring, wanted) {
            (Ok(keyring), _) => Ok((keyring, None)),
            (Err(why), Wanted::Auto) => Ok((file, Some(why))),
            (Err(why), _) => Err(Fault::new(Kind::Failed, format!("there is no keyring: {why}"))
                .hint("leave out `--secret-store keyring`: the secret then goes into a file that only you can read")),
        }
    }

    /// What the configuration says of it.
    pub fn reference(&self) -> Reference {
        match self {
            Self::File { path } => Reference::File(path.clone()),
            Self::Keyring { program, entry } => {
                let mut words = vec![program.to_string_lossy().into_owned()];
                words.extend(arguments(Act::Read, entry));
                Reference::Command(words)
            }
        }
    }

    /// The place that a configuration names, if it is one of ours.
    pub fn named(words: &[String]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        // Both programs are told it at this place.
        let entry = rest.get(4)?;
        (rest == arguments(Act::Read, entry)).then(|| Self::Keyring {
            program: PathBuf::from(program),
            entry: entry.clone(),
        })
    }

    /// Puts the secret there.
    pub fn store(&self, secret: &SecretString) -> Result<(), Fault> {
        match self {
            Self::File { path } => {
                let draft = Draft::open(path)?.private();
                draft
                    .holding(format!("{}\n", secret.expose_secret()))
                    .write()
            }
            Self::Keyring { program, entry } => {
                let text = match System::HERE {
                    // It reads whole commands, so that the secret is on no command line.
                    System::Mac => format!(
                        "add-generic-password -U -s {SERVICE} -a {entry} -w {}\n",
                        secret.expose_secret()
                    ),
                    _ => secret.expose_secret().to_owned(),
                };
                let mut child = Command::new(program)
                    .args(arguments(Act::Store, entry))
                    .stdin(Stdio::piped())
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .spawn()
                    .map_err(|error| refused(&error.to_string()))?;
                if let Some(mut stdin) = child.stdin.take() {
                    let _ = stdin.write_all(text.as_bytes());
                }
                let output = child.wait_with_output();
                let output = output.map_err(|error| refused(&error.to_string()))?;
                if output.status.success() {
                    return Ok(());
                }
                Err(refused(String::from_utf8_lossy(&output.stderr).trim()))
            }
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path } => Some(path),
            Self::Keyring { .. } => None,
        }
    }

    /// Takes the secret away; one that is not there is no error.
    pub fn remove(&self) -> Result<(), Fault> {
        match self {
            Self::File { path } => Draft::open(path)?.private().gone().write(),
            Self::Keyring { program, entry } => {
                let ended = Command::new(program)
                    .args(arguments(Act::Remove, entry))
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .output()
                    .map_err(|error| held_on(&error.to_string()))?;
                let said = String::from_utf8_lossy(&ended.stderr);
                // One program passes over what is locked and calls it done; the other one fails if there was nothing.
                let failed = System::HERE == System::Linux && !ended.status.success();
                if failed || self.read().is_some() {
                    return Err(held_on(said.trim()));
                }
                Ok(())
            }
        }
    }

    /// What is there, if it can be read.
    fn read(&self) -> Option<SecretString> {
        let text = match self {
            Self::File { path } => std::fs::read_to_string(path).ok()?,
            Self::Keyring { program, entry } => {
                let output = Command::new(program)
                    .args(arguments(Act::Read, entry))
                    .stdin(Stdio::null())
                    .stderr(Stdio::null())
                    .output();
                String::from_utf8(output.ok()?.stdout).ok()?
            }
        };
        let line = text.lines().next().filter(|line| !line.is_empty());
        line.map(SecretString::from)
    }

    /// Whether it keeps what it is given: better known before a token is made than after.
    fn keeps(&self) -> Result<(), Fault> {
        self.store(&SecretString::from("oxmox looks whether you are there"))?;
        let is_kept = self.read().is_some();
        self.remove()?;
        if is_kept {
            return Ok(());
        }
        Err(refused("it does not give back what it is given"))
    }
}

impl std::fmt::Display for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path } => write!(f, "{} (only you can read it)", path.display()),
            Self::Keyring { program, .. } => {
                write!(f, "the keyring of your session, by {}", program.display())
            }
        }
    }
}

fn refused(why: &str) -> Fault {
    Fault::new(
        Kind::Failed,
        format!("the keyring did not take the secret: {why}"),
    )
    .hint("unlock it, or use `--secret-store file`")
}

fn held_on(why: &str) -> Fault {
    let mut what = "the keyring still has the secret".to_owned();
    if !why.is_empty() {
        what = format!("{what}: {why}");
    }
    Fault::new(Kind::Failed, what).hint("unlock it, and run the command again")
}

#[derive(Clone, Copy)]
enum Act {
    Read,
    Store,
    Remove,
}

fn arguments(act: Act, entry: &str) -> Vec<String> {
    let label = format!("--label=oxmox: the token of {entry}");
    let words: Vec<&str> = match (System::HERE, act) {
        (System::Mac, Act::Read) => {
            vec!["find-generic-password", "-s", SERVICE, "-a", entry, "-w"]
        }
        (System::Mac, Act::Store) => vec!["-i"],
        (System::Mac, Act::Remove) => vec!["delete-generic-password", "-s", SERVICE, "-a", entry],
        (_, Act::Read) => vec!["lookup", "service", SERVICE, "cluster", entry],
        (_, Act::Store) => vec!["store", &label, "service", SERVICE, "cluster", entry],
        (_, Act::Remove) => vec!["clear", "service", SERVICE, "cluster", entry],
    };
    words.into_iter().map(str::to_owned).collect()
}

/// A file of this name that is not there yet, or with a number to it.
fn free(dir: &Path, name: &str) -> PathBuf {
    let mut path = dir.join(name);
    for number in 2.. {
        if path.symlink_metadata().is_err() {
            break;
        }
        path = dir.join(format!("{name}-{number}"));
    }
    path
}

/// The program that reaches the keyring, if there is one.
fn keyring(environment: &Environment) -> Result<PathBuf, String> {
    let name = match System::HERE {
        System::Linux => "secret-tool",
        System::Mac => "security",
        System::Windows => return Err("this system has no program that reaches it".to_owned()),
    };
    let path = environment.get("PATH").unwrap_or_default();
    let program = std::env::split_paths(path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| format!("{name} is not installed"))?;
    Ok(program)
}
