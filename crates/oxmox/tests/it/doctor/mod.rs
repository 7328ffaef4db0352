//! `oxmox doctor`, run as a person runs it, on clusters of all sorts.

mod rights;
mod trouble;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use sim::Sim;
use sim::worlds::{ROOT_TOKEN, homelab};

use crate::cli::{Machine, Ran};

/// A machine that is configured for clusters of this process.
pub(crate) struct Clinic {
    pub(crate) machine: Machine,
    dir: tempfile::TempDir,
}

impl Clinic {
    pub(crate) fn new() -> Self {
        Self {
            machine: Machine::new(),
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// With a variable in its environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.machine = self.machine.with(name, value);
        self
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file that only its owner may read.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        fs::write(&path, text).unwrap();
        chmod(&path, 0o600);
        path
    }

    /// Configures it, with this secret in the file that the section of each cluster names.
    pub(crate) fn configure(&self, sections: &[String], secret: &str) {
        self.write("secret", secret);
        self.write("config.toml", &sections.join("\n"));
    }

    /// With its configuration.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let config = self.file("config.toml");
        let config = config.to_str().unwrap();
        self.machine
            .run(&[&["--config", config], arguments].concat())
    }

    /// The same with a text on its stdin.
    pub(crate) fn fed(&self, arguments: &[&str], input: &str) -> Ran {
        let config = self.file("config.toml");
        let config = config.to_str().unwrap();
        let words = [&["--config", config], arguments].concat();
        self.machine.fed(&words, input)
    }

    fn doctor(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["doctor"], arguments].concat())
    }
}

fn chmod(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The section of a cluster at this address.
fn section(name: &str, address: &str, pin: &str, token: &str) -> String {
    format!(
        "[clusters.{name}]\nhosts = [{{ host = \"{address}\", pin = \"{pin}\" }}]\ntoken = \"{token}\"\n\
         token_secret_file = \"secret\"\n"
    )
}

pub(crate) fn of_sim(name: &str, sim: &Sim, token: &str) -> String {
    section(name, &sim.addr().to_string(), sim.fingerprint(), token)
}

pub(crate) fn root() -> (String, &'static str) {
    let (user, name, secret) = ROOT_TOKEN;
    (format!("{user}!{name}"), secret)
}

pub(crate) async fn homelab_sim() -> Sim {
    Sim::start(homelab()).await.unwrap()
}

/// The findings of a check.
fn findings<'a>(report: &'a Value, check: &str) -> Vec<&'a Value> {
    let all = report["findings"].as_array().unwrap();
    all.iter().filter(|one| one["check"] == check).collect()
}

#[test]
fn the_demo_is_well() {
    let ran = Machine::new().demo(&["doctor"]).exits(0);
    let ran = ran.prints("result").prints("connection").prints("PVE ");
    assert!(
        !ran.stdout.contains('\u{1b}') && !ran.stdout.contains("PROBLEM"),
        "{ran:#?}"
    );
    assert!(!ran.stdout.contains(sim::worlds::ROOT_PASSWORD), "{ran:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_there_is_to_look_at_is_looked_at() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    let report = clinic.doctor(&["--json"]).exits(0).json();
    for check in [
        "config",
        "files",
        "connection",
        "tls",
        "clock",
        "version",
        "token",
        "privileges",
        "agents",
        "storage",
        "store",
    ] {
        assert!(!findings(&report, check).is_empty(), "{check}: {report:#}");
    }
    let tls = findings(&report, "tls")[0]["says"].as_str().unwrap();
    assert!(
        tls.contains("believed by its pin") && tls.contains("left)"),
        "{tls}"
    );
    let rights = findings(&report, "privileges")[0];
    assert_eq!(rights["detail"]["cannot"], serde_json::json!([]));
    // It only looked.
    let requests = sim.requests();
    assert!(requests.iter().all(|one| one.method == "GET"));
    assert!(!clinic.machine.state_dir().exists(), "a look made a state");
}
