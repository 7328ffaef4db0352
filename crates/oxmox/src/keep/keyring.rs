//! The keyring of a person's session.
//!
//! It is reached through the program that comes with it (`secret-tool` of libsecret, `security` of macOS): the configuration
//! then names that program, which any other tool can be asked to check. A client of the Secret Service in here would be some
//! forty crates more, and could do no more. The kernel's own keyring forgets at the next boot, and Windows has no such program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tools::fault::{Fault, Kind};
use tools::{clean, keys};

use crate::config::{Environment, System};
use crate::program::{self, Ended, Trouble};

/// What the secrets are filed under.
const SERVICE: &str = "oxmox";

/// A place in it for one secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyring {
    /// The program that reaches it.
    pub program: PathBuf,
    /// What the secret is filed under there.
    pub entry: String,
}

impl Keyring {
    /// A place of its own for this cluster's secret.
    pub(super) fn place(program: &Path, cluster: &str) -> Self {
        Self {
            program: program.to_owned(),
            // One that is locked does not tell which names are taken.
            entry: format!("{cluster}-{}", keys::short_id()),
        }
    }

    /// The program of a keyring that keeps what it is given, or why there is none.
    pub(super) fn answering(environment: &Environment, limit: Duration) -> Result<PathBuf, String> {
        let probe = Self::place(&installed(environment)?, "probe");
        probe.keeps(limit).map_err(|fault| fault.message)?;
        Ok(probe.program)
    }

    /// The program with its arguments that prints the secret.
    pub(super) fn command(&self) -> Vec<String> {
        let mut words = vec![self.program.to_string_lossy().into_owned()];
        words.extend(arguments(Act::Read, &self.entry));
        words
    }

    /// The place whose secret this command prints, if it is one of ours.
    pub(super) fn named(words: &[String]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        // Both programs are told it at this place.
        let entry = rest.get(4)?;
        (rest == arguments(Act::Read, entry)).then(|| Self {
            program: PathBuf::from(program),
            entry: entry.clone(),
        })
    }

    /// What a person types to clear it, where the program is in another place.
    pub fn clearing(&self) -> String {
        let name = self.program.file_name().unwrap_or_default();
        let arguments = arguments(Act::Remove, &self.entry).join(" ");
        format!("{} {arguments}", name.to_string_lossy())
    }

    pub(super) fn store(&self, secret: &SecretString) -> Result<(), Fault> {
        self.store_within(program::LIMIT, secret)
    }

    fn store_within(&self, limit: Duration, secret: &SecretString) -> Result<(), Fault> {
        let text = match System::HERE {
            // It reads whole commands, so that the secret is on no command line.
            System::Mac => format!(
                "add-generic-password -U -s {SERVICE} -a {} -w {}\n",
                self.entry,
                quoted(secret.expose_secret())
            ),
            _ => secret.expose_secret().to_owned(),
        };
        let ended = self
            .asked(Act::Store, Some(&text), limit)
            .map_err(|trouble| refused(&trouble.to_string()))?;
        if ended.status.success() {
            return Ok(());
        }
        // Which may repeat what it was told.
        let said = said(&ended).replace(&quoted(secret.expose_secret()), "***");
        let said = said.replace(secret.expose_secret(), "***");
        Err(refused(&said))
    }

    pub(super) fn remove(&self) -> Result<(), Fault> {
        self.remove_within(program::LIMIT)
    }

    fn remove_within(&self, limit: Duration) -> Result<(), Fault> {
        let ended = self
            .asked(Act::Remove, None, limit)
            .map_err(|trouble| held_on(&trouble.to_string()))?;
        // One program passes over what is locked and calls it done; the other one fails if there was nothing.
        let failed = System::HERE == System::Linux && !ended.status.success();
        if failed || self.is_there(limit)? {
            return Err(held_on(&said(&ended)));
        }
        Ok(())
    }

    /// Whether the keyring has it, locked or not: what is locked can be found, and not read.
    fn is_there(&self, limit: Duration) -> Result<bool, Fault> {
        let ended = self
            .asked(Act::Find, None, limit)
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
        let ended = self.asked(Act::Read, None, limit).ok()?;
        let text = String::from_utf8(ended.stdout).ok()?;
        let line = text.lines().next().filter(|line| !line.is_empty());
        line.map(SecretString::from)
    }

    /// Whether it keeps what it is given: better known before a token is made than after.
    fn keeps(&self, limit: Duration) -> Result<(), Fault> {
        let no_secret = SecretString::from("oxmox looks whether you are there");
        self.store_within(limit, &no_secret)?;
        let is_kept = self.read(limit).is_some();
        self.remove_within(limit)?;
        if is_kept {
            return Ok(());
        }
        Err(refused("it does not give back what it is given"))
    }

    /// Asks its program. One that hangs, because the daemon behind it does, is ended.
    fn asked(&self, act: Act, input: Option<&str>, limit: Duration) -> Result<Ended, Trouble> {
        let mut command = Command::new(&self.program);
        command.args(arguments(act, &self.entry));
        program::run(&mut command, input, limit)
    }
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

/// The program that reaches the keyring, if there is one.
fn installed(environment: &Environment) -> Result<PathBuf, String> {
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

    /// A keyring whose program does this.
    fn doing(script: &str, dir: &Path) -> std::io::Result<Keyring> {
        let program = dir.join("secret-tool");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n"))?;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
        Ok(Keyring::place(&program, "home"))
    }

    #[test]
    fn a_keyring_that_hangs_is_told_of() {
        let dir = tempfile::tempdir().unwrap();
        let limit = Duration::from_millis(50);
        let keyring = doing("exec sleep 600", dir.path()).unwrap();
        let fault = keyring.remove_within(limit).unwrap_err();
        assert!(fault.message.contains("did not answer within"), "{fault}");
        assert!(fault.hint.is_some_and(|hint| hint.contains("unlock it")));
    }

    #[test]
    fn a_keyring_that_fails_without_a_word_is_told_by_how_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        let keyring = doing("exit 3", dir.path()).unwrap();
        for fault in [
            keyring.store(&SecretString::from("hush")).unwrap_err(),
            keyring.remove().unwrap_err(),
        ] {
            assert!(fault.message.contains("(exit status: 3)"), "{fault}");
        }
    }

    #[test]
    fn what_is_told_in_a_line_stays_one_word() {
        assert_eq!(quoted("plain"), r#""plain""#);
        assert_eq!(quoted(r#"a "b\c" 'd"#), r#""a \"b\\c\" 'd""#);
    }
}
