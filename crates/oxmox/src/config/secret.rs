//! Where a secret comes from. It never stands in the configuration file or on a command line.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use pve::{Error, Fetching, Keeper};
use secrecy::{ExposeSecret as _, SecretString};
use tools::fault::Fault;

use super::{Environment, secret_file, token_secret};
use crate::keep::Keep;
use crate::program;

/// Where to look for a secret.
#[derive(Debug, Clone)]
pub enum SecretSource {
    /// The first line of a file.
    File(PathBuf),
    /// A variable of the environment.
    Variable(String),
    /// The first line that a program prints: a password manager. Run without a shell, when the secret is first needed.
    Command(Vec<String>),
    /// Here it is already.
    Held(SecretString),
}

impl SecretSource {
    /// Fetches the secret; a program may take this long for it. `what` names it in errors, and `key` is how the keys of the
    /// configuration begin that say where it is; the secret itself is in none. Blocks.
    pub fn read(
        &self,
        (what, key): (&str, &str),
        environment: &Environment,
        limit: Duration,
    ) -> Result<SecretString, Fault> {
        let named = |mut fault: Fault| {
            fault.message = format!("{what}: {}", fault.message);
            fault
        };
        let text = match self {
            Self::Held(secret) => secret.expose_secret().to_owned(),
            Self::File(path) => secret_file::text(path, &format!("{key}_file")).map_err(named)?,
            Self::Variable(name) => {
                let value = environment.get(name).ok_or_else(|| unset(name, key));
                value.map_err(named)?.to_owned()
            }
            Self::Command(words) => printed(words, limit).map_err(named)?,
        };
        Self::first_line(&text, what)
    }

    /// The secret in a text, wherever that comes from: what stands on its first line, without blanks around it.
    pub fn first_line(text: &str, what: &str) -> Result<SecretString, Fault> {
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() {
            return Err(Fault::bad_input(format!("{what} is empty")));
        }
        let secret = SecretString::from(line);
        match is_text(&secret) {
            Ok(()) => Ok(secret),
            Err(fault) => Err(Fault {
                message: format!("{what}: {}", fault.message),
                ..fault
            }),
        }
    }

    /// What to do if it cannot be had, for the secret of a cluster whose keys begin with `key`.
    fn hint(&self, cluster: &str, key: &str) -> String {
        match self {
            Self::File(_) => format!("`oxmox secret set {cluster}` puts it there"),
            Self::Variable(name) => format!(
                "set {name} for whoever starts oxmox, or name a file in the configuration instead, by {key}_file"
            ),
            Self::Command(words) if Keep::named(words).is_some() => format!(
                "unlock the keyring of your session, then try again; `oxmox secret set {cluster}` puts the secret there anew; \
                 where there is no session, name a file in the configuration instead, by {key}_file"
            ),
            Self::Command(words) => format!(
                "run {} by hand, as it stands in {key}_command, and see what it says; then try again",
                (words.first())
                    .map_or_else(|| "it".to_owned(), |program| token_secret::veiled(program))
            ),
            Self::Held(_) => format!("mend where {key} comes from"),
        }
    }
}

fn unset(name: &str, key: &str) -> Fault {
    let fault = Fault::bad_input(format!("{} is not set", variable(name, key)));
    if is_usual(name) {
        return fault;
    }
    fault.hint(format!(
        "set it for whoever starts oxmox; its name is not told, since it is not in capitals and may be the secret itself: if it \
         is, put that into a file that only you can read, and name that by {key}_file; where others may have read it, make it anew"
    ))
}

/// A variable of the environment, by its name; or, where that may be the secret itself, by the key that names it.
pub(crate) fn variable(name: &str, key: &str) -> String {
    if is_usual(name) {
        format!("the environment variable {name}")
    } else {
        format!("the environment variable that {key}_env names")
    }
}

/// Whether a variable is called as they are: in capitals. Secrets hardly are.
fn is_usual(name: &str) -> bool {
    let is_in_names = |one: char| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_';
    name.chars().all(is_in_names) && !name.starts_with(|one: char| one.is_ascii_digit())
}

/// What a program prints. What it says besides is shown to nobody: it may be the secret.
fn printed(words: &[String], limit: Duration) -> Result<String, Fault> {
    let (program, arguments) = match words {
        [program, arguments @ ..] if !program.is_empty() => (program, arguments),
        _ => {
            return Err(Fault::bad_input("the command is empty").hint(
                "write the program that prints the secret and its arguments, each as a word of its own, as in \
                 [\"pass\", \"show\", \"lab/oxmox\"]",
            ));
        }
    };
    let shown = token_secret::veiled(program);
    let ended = program::run(Command::new(program).args(arguments), None, limit)
        .map_err(|trouble| Fault::bad_input(format!("{shown} {trouble}")))?;
    if !ended.status.success() {
        return Err(Fault::bad_input(format!(
            "{shown} failed ({})",
            ended.status
        )));
    }
    String::from_utf8(ended.stdout)
        .map_err(|_| Fault::bad_input(format!("{shown} did not print text")))
}

/// A secret is text: what moves a cursor, or cannot be seen at all, came there by mistake, and no request can carry it.
pub fn is_text(secret: &SecretString) -> Result<(), Fault> {
    let is_stray =
        |one: &char| one.is_control() || matches!(one, '\u{feff}' | '\u{200b}'..='\u{200f}');
    let Some(stray) = secret.expose_secret().chars().find(is_stray) else {
        return Ok(());
    };
    let what = format!(
        "it holds a character that cannot be seen (U+{:04X})",
        u32::from(stray)
    );
    Err(Fault::bad_input(what).hint(
        "store the secret anew, as one line of plain text; an editor or a copy from a page may have added the character",
    ))
}

/// The secret of one cluster, fetched when that cluster is first asked: one that cannot be had is that cluster's trouble, and
/// nobody else's.
pub(super) struct Kept {
    /// The cluster.
    pub(super) cluster: String,
    /// What it is to people.
    pub(super) what: String,
    /// How the keys of the configuration begin that say where it is.
    pub(super) key: &'static str,
    /// Where it is.
    pub(super) source: SecretSource,
    /// Where a variable is looked up.
    pub(super) environment: Environment,
    /// How long a program may take.
    pub(super) limit: Duration,
}

impl Keeper for Kept {
    fn fetch(&self) -> Fetching {
        let hint = self.source.hint(&self.cluster, self.key);
        let (what, key, source) = (self.what.clone(), self.key, self.source.clone());
        let (environment, limit) = (self.environment.clone(), self.limit);
        // On a thread of its own: others are served meanwhile, also by a runtime that has only one.
        let reading =
            tokio::task::spawn_blocking(move || source.read((&what, key), &environment, limit));
        let what = self.what.clone();
        Box::pin(async move {
            let read = reading.await;
            let read = read
                .unwrap_or_else(|_| Err(Fault::bad_input(format!("{what} could not be fetched"))));
            read.map_err(|fault| Error::Secret {
                what: fault.message,
                hint: fault.hint.unwrap_or(hint),
            })
        })
    }

    fn is_quiet(&self) -> bool {
        !matches!(self.source, SecretSource::Command(_))
    }
}
