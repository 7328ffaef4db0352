//! Flags, environment and file into one configuration, and every way to get one of them wrong.

mod clusters;
mod environment;
mod file;
mod secrets;
mod store;

use std::path::PathBuf;

use oxmox::config::{ClusterConfig, Config, Environment, Overrides};
use tempfile::TempDir;
use tools::fault::Fault;

const PIN: &str = "AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB:AB";
const CANARY: &str = "canary-8d2c";

/// A configuration file in a directory of its own.
struct Written {
    dir: TempDir,
}

impl Written {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), text).unwrap();
        Self { dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("config.toml")
    }

    fn load(&self) -> Result<Config, Fault> {
        let overrides = Overrides {
            file: Some(self.path()),
            ..Overrides::default()
        };
        Config::load(&overrides, &Environment::from([("HOME", "/home/ox")]))
    }
}

#[track_caller]
fn refused(text: &str) -> String {
    let fault = Written::new(text).load().unwrap_err();
    fault.to_string()
}

fn cluster(more: &str) -> String {
    format!(
        "[clusters.lab]\nhosts = [\"pve1\"]\ntoken = \"root@pam!oxmox\"\ntoken_secret_env = \"SECRET\"\n{more}"
    )
}

fn of_environment<const N: usize>(more: [(&str, &str); N]) -> Result<Config, Fault> {
    let mut pairs = vec![("HOME", "/home/ox"), ("PROXMOX_HOST", "pve1")];
    pairs.extend(more);
    Config::load(&Overrides::default(), &Environment::from_iter(pairs))
}

fn only(config: &Config) -> &ClusterConfig {
    let [only] = config.clusters.as_slice() else {
        panic!("{config:#?}")
    };
    only
}
