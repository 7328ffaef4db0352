//! Where the secrets of new tokens go.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tools::fault::{Fault, Kind};

use super::{Keep, Keyring};
use crate::config::Environment;
use crate::files::Draft;
use crate::program;

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
            Wanted::Auto | Wanted::Keyring => Keyring::answering(environment, limit).map_err(Some),
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
            Some(program) => Keep::Keyring(Keyring::place(program, cluster)),
            None => Keep::File {
                path: free(&self.dir, cluster),
            },
        }
    }
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_keyring_that_hangs_is_passed_over() {
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
    }
}
