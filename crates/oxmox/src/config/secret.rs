//! Where a secret comes from. It never stands in the configuration file or on a command line.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use secrecy::SecretString;
use tools::fault::Fault;

use super::Environment;

/// Where to look for a secret.
#[derive(Debug, Clone)]
pub enum SecretSource {
    /// The first line of a file.
    File(PathBuf),
    /// A variable of the environment.
    Variable(String),
    /// The first line that a program prints: a password manager. Run without a shell, once, when oxmox starts.
    Command(Vec<String>),
    /// Here it is already.
    Held(SecretString),
}

impl SecretSource {
    /// Fetches the secret. `what` names it in errors and warnings; the secret itself is in neither.
    pub fn read(
        &self,
        what: &str,
        environment: &Environment,
        warnings: &mut Vec<String>,
    ) -> Result<SecretString, Fault> {
        let text = match self {
            Self::Held(secret) => return Ok(secret.clone()),
            Self::File(path) => {
                warn_if_shared(path, what, warnings);
                std::fs::read_to_string(path).map_err(|error| {
                    Fault::bad_input(format!(
                        "{what}: {} cannot be read: {error}",
                        path.display()
                    ))
                })?
            }
            Self::Variable(name) => environment
                .get(name)
                .ok_or_else(|| {
                    Fault::bad_input(format!(
                        "{what}: the environment variable {name} is not set"
                    ))
                })?
                .to_owned(),
            Self::Command(words) => run(words, what)?,
        };
        Self::first_line(&text).ok_or_else(|| Fault::bad_input(format!("{what} is empty")))
    }

    /// The secret in a text, wherever that comes from: what stands on its first line, without blanks around it.
    pub fn first_line(text: &str) -> Option<SecretString> {
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.into())
    }
}

fn run(words: &[String], what: &str) -> Result<String, Fault> {
    let [program, arguments @ ..] = words else {
        return Err(Fault::bad_input(format!("{what}: the command is empty")));
    };
    let failed = |how: String| Fault::bad_input(format!("{what}: {program} {how}"));
    let output = Command::new(program)
        .args(arguments)
        // Our own stdin and stdout may be an MCP session.
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("failed ({})", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| failed("did not print text".to_owned()))
}

#[cfg(unix)]
fn warn_if_shared(path: &std::path::Path, what: &str, warnings: &mut Vec<String>) {
    use std::os::unix::fs::PermissionsExt as _;
    let shared = std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o077 != 0);
    if shared {
        warnings.push(format!(
            "{what}: other users of this machine may read {path}; `chmod 600 {path}` keeps it yours",
            path = path.display()
        ));
    }
}

#[cfg(not(unix))]
fn warn_if_shared(_: &std::path::Path, _: &str, _: &mut Vec<String>) {}
