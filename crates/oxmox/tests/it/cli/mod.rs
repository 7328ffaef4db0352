//! The built binary, run as a person or a script runs it, on the demo's cluster.

mod approve;
mod audit;
mod baseline;
mod call;
mod commands;
mod leave;
mod service;
mod sim;
pub(crate) mod store;
mod undo;

use std::io::{ErrorKind, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A machine with nothing configured, on which oxmox is run.
pub(crate) struct Machine {
    home: TempDir,
    variables: Vec<(String, String)>,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// With a variable in its environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn home_dir(&self) -> &std::path::Path {
        self.home.path()
    }

    pub(crate) fn state_dir(&self) -> std::path::PathBuf {
        self.home.path().join("state")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxmox"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("OXMOX_STATE_DIR", self.state_dir())
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command(arguments).output().unwrap())
    }

    /// On the demo's cluster.
    pub(crate) fn demo(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["--demo"], arguments].concat())
    }

    /// With a text on its stdin.
    pub(crate) fn fed(&self, arguments: &[&str], input: &str) -> Ran {
        self.fed_by(&mut self.command(arguments), input)
    }

    /// The same of a command that was changed.
    #[expect(clippy::unused_self, reason = "it is this machine's")]
    pub(crate) fn fed_by(&self, command: &mut Command, input: &str) -> Ran {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let fed = child.stdin.take().unwrap().write_all(input.as_bytes());
        // What says no before it reads may be gone by then: what it said is looked at all the same.
        if let Err(error) = fed {
            assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{error}");
        }
        Ran::of(&child.wait_with_output().unwrap())
    }
}

impl Ran {
    fn of(output: &std::process::Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Insists on an exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Insists on words in its talk.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "no \"{words}\" in {self:#?}");
        self
    }

    /// Insists on words in its data.
    #[track_caller]
    pub(crate) fn prints(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "no \"{words}\" in {self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}
