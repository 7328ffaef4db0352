//! `oxmox sim` in one process, oxmox configured for it in another; and secrets that must not show.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use super::Machine;

const CANARY: &str = "canary-5f1d";

/// A running `oxmox sim`, and what it said of itself.
struct Simulator {
    child: Child,
    port: String,
    fingerprint: String,
    token: String,
    password: String,
}

impl Simulator {
    fn start(machine: &Machine) -> Self {
        let mut child = machine
            .command(&["sim", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = Vec::new();
        for line in BufReader::new(child.stderr.take().unwrap()).lines() {
            said.push(line.unwrap());
            if said.last().unwrap().contains("password") {
                break;
            }
        }
        let last_word = |words: &str| {
            let line = said.iter().find(|line| line.contains(words)).unwrap();
            line.split_whitespace().last().unwrap().to_owned()
        };
        Self {
            child,
            port: last_word("https://").rsplit(':').next().unwrap().to_owned(),
            fingerprint: last_word("fingerprint"),
            token: last_word("token"),
            password: last_word("password"),
        }
    }

    fn secret(&self) -> &str {
        self.token.split_once('=').unwrap().1
    }

    /// A machine whose environment names this simulator.
    fn client(&self, token_value: &str) -> Machine {
        Machine::new()
            .with("PROXMOX_HOST", "127.0.0.1")
            .with("PROXMOX_PORT", &self.port)
            .with("PROXMOX_USER", "root@pam")
            .with("PROXMOX_TOKEN_NAME", "oxmox")
            .with("PROXMOX_TOKEN_VALUE", token_value)
            .with("PROXMOX_FINGERPRINT", &self.fingerprint)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const STATUS: [&str; 4] = ["call", "get_proxmox_vm_status", "--vmid", "105"];

#[test]
fn the_environment_leads_to_the_simulator() {
    let sim = Simulator::start(&Machine::new());
    let client = sim.client(sim.secret());
    client.run(&STATUS).exits(0).prints("VM 105 (staging)");
    let by_password = sim
        .client("")
        .with("PROXMOX_TOKEN_NAME", "")
        .with("PROXMOX_PASSWORD", &sim.password)
        .with("PROXMOX_VERIFY_SSL", "false");
    by_password
        .run(&STATUS)
        .exits(0)
        .prints("VM 105 (staging)")
        .says("never turns the check of certificates off");
}

#[test]
fn a_port_that_is_taken_is_named_with_the_way_out() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    Machine::new()
        .run(&["sim", "--listen", &address])
        .exits(1)
        .says(&format!("cannot listen on {address}: "))
        .says("--listen names another address");
}

#[test]
fn the_file_leads_to_the_simulator() {
    let sim = Simulator::start(&Machine::new());
    let machine = Machine::new();
    let dir = tempfile::tempdir().unwrap();
    crate::private::write(dir.path().join("secret"), sim.secret());
    let file = dir.path().join("config.toml");
    let text = format!(
        "[clusters.lab]\nhosts = [\"127.0.0.1:{}\"]\npin = \"{}\"\ntoken = \"root@pam!oxmox\"\ntoken_secret_file = \"secret\"\n",
        sim.port, sim.fingerprint
    );
    std::fs::write(&file, text).unwrap();
    machine
        .run(&[&["--config", file.to_str().unwrap()], &STATUS[..]].concat())
        .exits(0)
        .prints("VM 105 (staging)");
}

#[test]
fn another_certificate_is_refused() {
    let sim = Simulator::start(&Machine::new());
    sim.client(sim.secret())
        .with("PROXMOX_FINGERPRINT", &["AB"; 32].join(":"))
        .run(&STATUS)
        .exits(1)
        .says(&sim.fingerprint);
}

#[test]
fn a_secret_shows_nowhere() {
    let sim = Simulator::start(&Machine::new());
    let client = sim.client(CANARY).with("PROXMOX_PASSWORD", CANARY);
    for words in [
        &STATUS[..],
        &["call", "start_proxmox_vm", "--vmid", "105"],
        &["tools", "--json"],
        &["audit", "--json"],
    ] {
        let ran = client.run(&[&["-vvv"], words].concat());
        assert!(!ran.stdout.contains(CANARY), "{words:?}");
        assert!(!ran.stderr.contains(CANARY), "{words:?}: {}", ran.stderr);
    }
    client.run(&STATUS).exits(1).says("root@pam!oxmox");
    let state = std::fs::read(client.state_dir().join("oxmox.db")).unwrap();
    let canary = CANARY.as_bytes();
    assert!(!state.windows(canary.len()).any(|part| part == canary));
}
