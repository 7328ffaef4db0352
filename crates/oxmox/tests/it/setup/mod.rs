//! `oxmox setup` from an empty home directory, against a simulator of its own, as a script runs it.

mod at_once;
mod authority;
mod certificates;
mod ended;
mod entered;
mod errors;
mod exactly;
mod gone;
mod hostile;
mod inherited;
mod journey;
mod keyring;
mod places;
mod remembered;
mod rerun;
mod roles;
mod secrets;
mod sweep;
mod trail;
mod trust;
mod undone;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sim::worlds::ROOT_PASSWORD;
use sim::{Sim, World};

use crate::cli::{Machine, Ran};

/// Looks only, under the name `home`, and asks nothing.
const READ_HOME: &[&str] = &[
    "--level",
    "read",
    "--name",
    "home",
    "--secret-store",
    "file",
    "--yes",
];

/// A machine with nothing on it, and a cluster that it could reach.
pub(crate) struct Place {
    pub(crate) sim: Sim,
    pub(crate) machine: Arc<Machine>,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(sim::worlds::homelab(), Machine::new()).await
    }

    pub(crate) async fn with(world: World, machine: Machine) -> Self {
        let sim = Sim::start(world).await.unwrap();
        Self {
            sim,
            machine: Arc::new(machine),
        }
    }

    /// What says where the cluster is, and that its certificate is the right one.
    pub(crate) fn address(&self) -> Vec<String> {
        let address = self.sim.addr();
        let words = [
            "setup",
            "--host",
            &address.ip().to_string(),
            "--port",
            &address.port().to_string(),
            "--only-host",
            "--pin",
            self.sim.fingerprint(),
        ];
        words.map(str::to_owned).to_vec()
    }

    /// Runs it with the right password on stdin.
    pub(crate) async fn setup(&self, more: &[&str]) -> Ran {
        self.setup_with(more, ROOT_PASSWORD).await
    }

    pub(crate) async fn setup_with(&self, more: &[&str], password: &str) -> Ran {
        let mut words = self.address();
        words.extend(["--user", "root@pam", "--password-stdin"].map(str::to_owned));
        words.extend(more.iter().map(|word| (*word).to_owned()));
        self.fed(words, password).await
    }

    /// The simulator lives in this process, so that the binary must not hold up its threads.
    pub(crate) async fn fed(&self, words: Vec<String>, input: &str) -> Ran {
        let (machine, input) = (Arc::clone(&self.machine), input.to_owned());
        let run = tokio::task::spawn_blocking(move || {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            machine.fed(&words, &input)
        });
        run.await.unwrap()
    }

    /// `oxmox setup` with just these words.
    pub(crate) async fn told(&self, words: &[&str], input: &str) -> Ran {
        let words = ["setup"].iter().chain(words);
        self.fed(words.map(|word| (*word).to_owned()).collect(), input)
            .await
    }

    /// The same at this address, without a pin.
    pub(crate) async fn at(&self, address: SocketAddr, more: &[&str], input: &str) -> Ran {
        let (ip, port) = (address.ip().to_string(), address.port().to_string());
        let words = ["--host", &ip, "--port", &port, "--yes"];
        self.told(&[&words, more].concat(), input).await
    }

    /// The same with a token that is there already.
    pub(crate) async fn with_token(&self, token: &str, more: &[&str], secret: &str) -> Ran {
        let mut words = self.address();
        words.extend(["--token", token, "--token-secret-stdin", "--yes"].map(str::to_owned));
        words.extend(more.iter().map(|word| (*word).to_owned()));
        self.fed(words, secret).await
    }

    /// Takes it back.
    pub(crate) async fn undo(&self) -> Ran {
        let words = ["--undo", "--yes", "--password-stdin"];
        self.told(&words, ROOT_PASSWORD).await
    }

    /// Writes a file below the home directory.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) async fn run(&self, words: &[&str]) -> Ran {
        self.fed(words.iter().map(|word| (*word).to_owned()).collect(), "")
            .await
    }

    /// Any command, started in this directory below the home directory.
    pub(crate) async fn run_in(&self, dir: &str, words: Vec<String>, input: &str) -> Ran {
        let dir = self.home(dir);
        std::fs::create_dir_all(&dir).unwrap();
        let (machine, input) = (Arc::clone(&self.machine), input.to_owned());
        let run = tokio::task::spawn_blocking(move || {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            machine.fed_by(machine.command(&words).current_dir(dir), &input)
        });
        run.await.unwrap()
    }

    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.machine.home_dir().join(path)
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.home(path)).unwrap_or_default()
    }

    /// The same without the audit trail, which tells of what is not there any more, too.
    pub(crate) fn files_but_trail(&self) -> Vec<String> {
        let is_trail =
            |file: &String| file.starts_with("state/") && !file.starts_with("state/setup");
        let files = self.files().into_iter();
        files.filter(|file| !is_trail(file)).collect()
    }

    /// Everything below the home directory, by path; directories too, if nothing is in them.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut dirs = vec![self.machine.home_dir().to_owned()];
        while let Some(dir) = dirs.pop() {
            let entries: Vec<_> = std::fs::read_dir(&dir).unwrap().flatten().collect();
            if entries.is_empty() && dir != self.machine.home_dir() {
                found.push(dir);
            }
            for path in entries.into_iter().map(|entry| entry.path()) {
                if path.is_dir() {
                    dirs.push(path);
                } else {
                    found.push(path);
                }
            }
        }
        let below = |path: PathBuf| {
            let below = path.strip_prefix(self.machine.home_dir()).unwrap();
            below.to_str().unwrap().to_owned()
        };
        let mut found: Vec<_> = found.into_iter().map(below).collect();
        found.sort();
        found
    }

    /// What the cluster has of ours: roles, users, tokens, rules.
    pub(crate) fn ours(&self) -> Vec<String> {
        self.sim.world(|world| {
            let access = &world.access;
            let roles = access.roles.keys().filter(|name| name.starts_with("oxmox"));
            let mut found: Vec<String> = roles.map(|name| format!("role {name}")).collect();
            if let Some(user) = access.users.get("oxmox@pve") {
                found.push("user".to_owned());
                found.extend(user.tokens.keys().map(|name| format!("token {name}")));
            }
            let given = (access.acl.iter()).filter(|rule| rule.role.starts_with("oxmox"));
            found.extend(given.map(|rule| format!("{} on {}", rule.role, rule.path)));
            found
        })
    }

    pub(crate) async fn lists(&self) -> Value {
        let ran = self
            .run(&["call", "list_proxmox_resources", "--json"])
            .await;
        ran.exits(0).json()
    }
}
