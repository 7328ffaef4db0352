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

use crate::config::{Environment, Reference, System};
use crate::files::Draft;

/// What the secrets are filed under.
const SERVICE: &str = "oxmox";

/// What a secret is called that had to make room.
const ASIDE: &str = ".before-oxmox";

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
        /// The cluster.
        cluster: String,
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
    /// The place for this cluster's secret, and why it is not the keyring where that would have been better. Tries whether
    /// the keyring answers.
    pub fn find(
        wanted: Wanted,
        cluster: &str,
        config_dir: &Path,
        environment: &Environment,
    ) -> Result<(Self, Option<String>), Fault> {
        let file = Self::File {
            path: config_dir.join("secrets").join(cluster),
        };
        if wanted == Wanted::File {
            return Ok((file, None));
        }
        match (keyring(environment), wanted) {
            (Ok(program), _) => {
                let cluster = cluster.to_owned();
                Ok((Self::Keyring { program, cluster }, None))
            }
            (Err(why), Wanted::Auto) => Ok((file, Some(why))),
            (Err(why), _) => Err(Fault::new(Kind::Failed, format!("there is no keyring: {why}"))
                .hint("leave out `--secret-store keyring`: the secret then goes into a file that only you can read")),
        }
    }

    /// What the configuration says of it.
    pub fn reference(&self) -> Reference {
        match self {
            Self::File { path } => Reference::File(path.clone()),
            Self::Keyring { program, cluster } => {
                let mut words = vec![program.to_string_lossy().into_owned()];
                words.extend(arguments(Act::Read, cluster));
                Reference::Command(words)
            }
        }
    }

    /// The place that a configuration names, if it is one of ours.
    pub fn named(words: &[String], cluster: &str) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        (rest == arguments(Act::Read, cluster)).then(|| Self::Keyring {
            program: PathBuf::from(program),
            cluster: cluster.to_owned(),
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
            Self::Keyring { program, cluster } => {
                let text = match System::HERE {
                    // It reads whole commands, so that the secret is on no command line.
                    System::Mac => format!(
                        "add-generic-password -U -s {SERVICE} -a {cluster} -w {}\n",
                        secret.expose_secret()
                    ),
                    _ => secret.expose_secret().to_owned(),
                };
                let mut child = Command::new(program)
                    .args(arguments(Act::Store, cluster))
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

    /// Keeps a secret that is there already in another place, until [`Keep::give_back`].
    pub fn set_aside(&self) -> Result<(), Fault> {
        match self.read()? {
            Some(secret) => self.beside().store(&secret),
            None => Ok(()),
        }
    }

    /// Takes the secret away, and puts the one that was set aside in its place again.
    pub fn give_back(&self) -> Result<(), Fault> {
        let beside = self.beside();
        match beside.read()? {
            Some(secret) => {
                self.store(&secret)?;
                beside.remove()
            }
            None => self.remove(),
        }
    }

    /// Where a secret is set aside.
    fn beside(&self) -> Self {
        match self {
            Self::File { path } => {
                let mut name = path.clone().into_os_string();
                name.push(ASIDE);
                Self::File { path: name.into() }
            }
            Self::Keyring { program, cluster } => Self::Keyring {
                program: program.clone(),
                cluster: format!("{cluster}{ASIDE}"),
            },
        }
    }

    /// The secret, if there is one.
    fn read(&self) -> Result<Option<SecretString>, Fault> {
        match self {
            Self::File { path } => {
                let text = Draft::open(path)?.before;
                Ok(text.map(|text| text.trim_end_matches('\n').into()))
            }
            Self::Keyring { program, cluster } => {
                let output = Command::new(program)
                    .args(arguments(Act::Read, cluster))
                    .stdin(Stdio::null())
                    .output()
                    .map_err(|error| refused(&error.to_string()))?;
                let text = String::from_utf8_lossy(&output.stdout);
                let text = text.trim_end_matches('\n');
                Ok((output.status.success() && !text.is_empty()).then(|| text.into()))
            }
        }
    }

    /// Takes the secret away; one that is not there is no error.
    pub fn remove(&self) -> Result<(), Fault> {
        match self {
            Self::File { path } => Draft::open(path)?.private().gone().write(),
            Self::Keyring { program, cluster } => {
                let ended = Command::new(program)
                    .args(arguments(Act::Remove, cluster))
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                ended.map(drop).map_err(|error| refused(&error.to_string()))
            }
        }
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

#[derive(Clone, Copy)]
enum Act {
    Read,
    Store,
    Remove,
}

fn arguments(act: Act, cluster: &str) -> Vec<String> {
    let label = format!("--label=oxmox: the token of {cluster}");
    let words: Vec<&str> = match (System::HERE, act) {
        (System::Mac, Act::Read) => {
            vec!["find-generic-password", "-s", SERVICE, "-a", cluster, "-w"]
        }
        (System::Mac, Act::Store) => vec!["-i"],
        (System::Mac, Act::Remove) => vec!["delete-generic-password", "-s", SERVICE, "-a", cluster],
        (_, Act::Read) => vec!["lookup", "service", SERVICE, "cluster", cluster],
        (_, Act::Store) => vec!["store", &label, "service", SERVICE, "cluster", cluster],
        (_, Act::Remove) => vec!["clear", "service", SERVICE, "cluster", cluster],
    };
    words.into_iter().map(str::to_owned).collect()
}

/// The program that reaches the keyring, if there is one that answers.
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
    if System::HERE == System::Linux {
        // Nothing is filed under this name. A keyring that is there says nothing at all; one that is not says why.
        let output = Command::new(&program)
            .args(arguments(Act::Read, "oxmox-looks-whether-you-are-there"))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if !said.is_empty() {
            return Err(said);
        }
    }
    Ok(program)
}
