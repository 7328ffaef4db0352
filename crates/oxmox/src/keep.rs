//! Where the secret of a token is kept: the keyring of the person's session, or a file that only they can read.
//!
//! The keyring is reached through the program that comes with it (`secret-tool` of libsecret, `security` of macOS): the
//! configuration then names that program, which any other tool can be asked to check. A client of the Secret Service in
//! here would be some forty crates more, and could do no more. The kernel's own keyring forgets at the next boot, and
//! Windows has no such program: there it is a file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tools::fault::{Fault, Kind};
use tools::{clean, keys};

use crate::config::{self, Environment, Reference, System};
use crate::files::{Draft, behind_links};
use crate::program::{self, Ended, Trouble};

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

/// Where new secrets go. Has been tried, with something that is no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    /// The program that reaches the keyring; `None`: into files.
    keyring: Option<PathBuf>,
    dir: PathBuf,
    /// Why it is not the keyring where that would have been better.
    pub why_no_keyring: Option<String>,
}

impl Shelf {
    /// The keyring if it answers and is wanted, else a directory that can be written.
    pub fn find(
        wanted: Wanted,
        config_dir: &Path,
        environment: &Environment,
    ) -> Result<Self, Fault> {
        Self::find_within(program::LIMIT, wanted, config_dir, environment)
    }

    fn find_within(
        limit: Duration,
        wanted: Wanted,
        config_dir: &Path,
        environment: &Environment,
    ) -> Result<Self, Fault> {
        let dir = config_dir.join("secrets");
        let keyring = match wanted {
            Wanted::File => Err(None),
            Wanted::Auto | Wanted::Keyring => answering(environment, limit).map_err(Some),
        };
        let (keyring, why_no_keyring) = match (keyring, wanted) {
            (Ok(program), _) => (Some(program), None),
            (Err(Some(why)), Wanted::Keyring) => {
                return Err(Fault::new(Kind::Failed, format!("there is no keyring: {why}"))
                    .hint("leave out `--secret-store keyring`: the secret then goes into a file that only you can read"));
            }
            (Err(why), _) => (None, why),
        };
        if keyring.is_none() {
            Draft::open(&dir.join("secret"))?.private().check()?;
        }
        Ok(Self {
            keyring,
            dir,
            why_no_keyring,
        })
    }

    /// A place of its own for this cluster's secret. Nothing is there yet: what somebody keeps under the cluster's name stays
    /// theirs, and an earlier secret is good until the new one has shown that it is.
    pub fn place(&self, cluster: &str) -> Keep {
        match &self.keyring {
            Some(program) => Keep::Keyring {
                program: program.clone(),
                entry: entry(cluster),
            },
            None => Keep::File {
                path: free(&self.dir, cluster),
            },
        }
    }
}

/// One that is locked does not tell which names are taken.
fn entry(name: &str) -> String {
    format!("{name}-{}", keys::short_id())
}

/// The program of a keyring that keeps what it is given, or why there is none.
fn answering(environment: &Environment, limit: Duration) -> Result<PathBuf, String> {
    let program = keyring(environment)?;
    let keep = Keep::Keyring {
        program: program.clone(),
        entry: entry("probe"),
    };
    keep.keeps(limit).map_err(|fault| fault.message)?;
    Ok(program)
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
            Self::Keyring { program, entry } => {
                let mut words = vec![program.to_string_lossy().into_owned()];
                words.extend(arguments(Act::Read, entry));
                Reference::Command(words)
            }
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

    /// Whether both are one place.
    pub fn is(&self, other: &Self) -> bool {
        self.is_named_by(&other.reference())
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
        self.store_within(program::LIMIT, secret)
    }

    fn store_within(&self, limit: Duration, secret: &SecretString) -> Result<(), Fault> {
        // What comes back is one line, and one of these programs is told whole lines.
        config::is_text(secret)?;
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
                        quoted(secret.expose_secret())
                    ),
                    _ => secret.expose_secret().to_owned(),
                };
                let ended = asked(program, (Act::Store, entry), Some(&text), limit)
                    .map_err(|trouble| refused(&trouble.to_string()))?;
                if ended.status.success() {
                    return Ok(());
                }
                // Which may repeat what it was told.
                let said = said(&ended).replace(&quoted(secret.expose_secret()), "***");
                let said = said.replace(secret.expose_secret(), "***");
                Err(refused(&said))
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
        self.remove_within(program::LIMIT)
    }

    fn remove_within(&self, limit: Duration) -> Result<(), Fault> {
        match self {
            Self::File { path } => Draft::open(path)?.private().gone().write(),
            Self::Keyring { program, entry } => {
                let ended = asked(program, (Act::Remove, entry), None, limit)
                    .map_err(|trouble| held_on(&trouble.to_string()))?;
                // One program passes over what is locked and calls it done; the other one fails if there was nothing.
                let failed = System::HERE == System::Linux && !ended.status.success();
                if failed || self.is_there(limit)? {
                    return Err(held_on(&said(&ended)));
                }
                Ok(())
            }
        }
    }

    /// Whether the keyring has it, locked or not: what is locked can be found, and not read.
    fn is_there(&self, limit: Duration) -> Result<bool, Fault> {
        let Self::Keyring { program, entry } = self else {
            return Ok(false);
        };
        let ended = asked(program, (Act::Find, entry), None, limit)
            .map_err(|trouble| held_on(&trouble.to_string()))?;
        match System::HERE {
            System::Mac => Ok(ended.status.success()),
            // It succeeds with nothing found, too.
            _ if ended.status.success() => Ok(!ended.stdout.is_empty()),
            _ => Err(held_on(&said(&ended))),
        }
    }

    /// What is in the keyring, if it can be read.
    fn read(&self, limit: Duration) -> Option<SecretString> {
        let Self::Keyring { program, entry } = self else {
            return None;
        };
        let ended = asked(program, (Act::Read, entry), None, limit).ok()?;
        let text = String::from_utf8(ended.stdout).ok()?;
        let line = text.lines().next().filter(|line| !line.is_empty());
        line.map(SecretString::from)
    }

    /// Whether it keeps what it is given: better known before a token is made than after.
    fn keeps(&self, limit: Duration) -> Result<(), Fault> {
        self.store_within(
            limit,
            &SecretString::from("oxmox looks whether you are there"),
        )?;
        let is_kept = self.read(limit).is_some();
        self.remove_within(limit)?;
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

/// Asks the program of the keyring. One that hangs, because the daemon behind it does, is ended.
fn asked(
    program: &Path,
    (act, entry): (Act, &str),
    input: Option<&str>,
    limit: Duration,
) -> Result<Ended, Trouble> {
    let mut command = Command::new(program);
    command.args(arguments(act, entry));
    program::run(&mut command, input, limit)
}

/// One word of a line as `security -i` splits it.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', r"\\").replace('"', r#"\""#);
    format!("\"{text}\"")
}

/// Why it did not, in its own words, or else by how it ended.
fn said(ended: &Ended) -> String {
    let said = clean::line(String::from_utf8_lossy(&ended.stderr).trim());
    if said.is_empty() && !ended.status.success() {
        return format!("its program said nothing, and failed ({})", ended.status);
    }
    said
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
    Find,
    Read,
    Store,
    Remove,
}

fn arguments(act: Act, entry: &str) -> Vec<String> {
    let label = format!("--label=oxmox: the token of {entry}");
    let words: Vec<&str> = match (System::HERE, act) {
        (System::Mac, Act::Find) => vec!["find-generic-password", "-s", SERVICE, "-a", entry],
        (System::Mac, Act::Read) => {
            vec!["find-generic-password", "-s", SERVICE, "-a", entry, "-w"]
        }
        (System::Mac, Act::Store) => vec!["-i"],
        (System::Mac, Act::Remove) => vec!["delete-generic-password", "-s", SERVICE, "-a", entry],
        (_, Act::Find) => vec!["search", "service", SERVICE, "cluster", entry],
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_keyring_that_hangs_is_told_of_and_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("secret-tool");
        std::fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", dir.path().display());
        let environment = Environment::from([("PATH", path.as_str())]);
        let find = |wanted| {
            let limit = Duration::from_millis(50);
            Shelf::find_within(limit, wanted, dir.path(), &environment)
        };
        let shelf = find(Wanted::Auto).unwrap();
        let why = shelf.why_no_keyring.clone().unwrap();
        assert!(why.contains("did not answer within"), "{why}");
        assert!(shelf.place("home").file().is_some());
        let fault = find(Wanted::Keyring).unwrap_err();
        assert!(fault.message.contains("did not answer within"), "{fault}");
        let keyring = Keep::Keyring {
            program,
            entry: "x".to_owned(),
        };
        let limit = Duration::from_millis(50);
        let fault = keyring.remove_within(limit).unwrap_err();
        assert!(fault.message.contains("did not answer within"), "{fault}");
        assert!(fault.hint.is_some_and(|hint| hint.contains("unlock it")));
    }

    #[test]
    fn what_is_told_in_a_line_stays_one_word() {
        assert_eq!(quoted("plain"), r#""plain""#);
        assert_eq!(quoted(r#"a "b\c" 'd"#), r#""a \"b\\c\" 'd""#);
    }

    #[test]
    fn a_keyring_that_fails_without_a_word_is_told_by_how_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("secret-tool");
        std::fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let keyring = Keep::Keyring {
            program,
            entry: "x".to_owned(),
        };
        for fault in [
            keyring.store(&SecretString::from("hush")).unwrap_err(),
            keyring.remove().unwrap_err(),
        ] {
            assert!(fault.message.contains("(exit status: 3)"), "{fault}");
        }
    }
}
