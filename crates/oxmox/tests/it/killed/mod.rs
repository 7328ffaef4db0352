//! A server that is killed with SIGKILL in the middle of a change, at every place between two things that it writes down,
//! for every kind of step: the next one closes what was left open with what can be found out, and nothing is sent twice.

mod kinds;
mod left;

use std::collections::BTreeMap;
use std::pin::pin;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use sim::Sim;
use sim::worlds::{ROOT_PASSWORD, homelab};
use tempfile::TempDir;

use crate::cli::Machine;
use crate::server::{self, Server};
use kinds::Kind;

/// Long enough that nobody waits for it.
const FOR_EVER: Duration = Duration::from_hours(1);

/// A cluster, and a machine on which servers are started and killed.
struct Scene {
    sim: Sim,
    machine: Machine,
    config: TempDir,
    /// The files that may be sent.
    shelf: TempDir,
}

impl Scene {
    async fn new(kind: &Kind) -> Self {
        let sim = Sim::start(homelab()).await.unwrap();
        (kind.furnish)(&sim);
        let config = tempfile::tempdir().unwrap();
        // What lies beside the configuration is never sent.
        let shelf = tempfile::tempdir().unwrap();
        std::fs::write(shelf.path().join("image.iso"), vec![7; 4096]).unwrap();
        let machine = Machine::new()
            .with("PROXMOX_HOST", &sim.addr().to_string())
            .with("PROXMOX_FINGERPRINT", sim.fingerprint())
            .with("PROXMOX_USER", "root@pam")
            .with("PROXMOX_PASSWORD", ROOT_PASSWORD)
            .with(
                "OXMOX_CONFIG",
                config.path().join("config.toml").to_str().unwrap(),
            );
        let scene = Self {
            sim,
            machine,
            config,
            shelf,
        };
        scene.configure("");
        scene
    }

    fn configure(&self, more: &str) {
        let text = format!(
            "mode = \"trusted\"\ntoolsets = [\"all\"]\nupload_from = [\"{}\"]\n{more}",
            self.shelf.path().display()
        );
        std::fs::write(self.config.path().join("config.toml"), text).unwrap();
    }

    fn command(&self) -> Command {
        self.machine.command(&["serve", "--http", "127.0.0.1:0"])
    }

    async fn server(&self) -> Server {
        Server::start(self.command()).await
    }

    /// Makes the call at a server that stands still at `place`, and kills it there.
    async fn killed_at(&self, kind: &Kind, place: &str) {
        let held_up = kind.sent.filter(|_| place == "sent");
        let mut command = self.command();
        match held_up {
            Some((method, path)) => {
                self.sim
                    .fault(sim::Fault::delay(FOR_EVER).on(method, path).times(1));
            }
            None => {
                command.env("OXMOX_STOP_AT", place);
            }
        }
        let mut server = Server::start(command).await;
        let address = server.address;
        let stopped = async {
            if held_up.is_none() {
                server.hears(&format!("stopped at {place}")).await;
            }
            // What was sent has left the process; it takes a moment to arrive.
            while went_out(place) && (kind.count)(&self.sim) == 0 {
                tokio::task::yield_now().await;
            }
        };
        // It waits for its answer until the server is dead: one that hangs up is noticed.
        let mut call = pin!(server::call(address, kind.tool, &kind.arguments));
        tokio::select! {
            biased;
            () = stopped => {}
            answer = &mut call => panic!("{place}: it was answered: {answer:#?}"),
        }
        server.kill();
        self.sim.clear_faults();
    }

    /// Each attempt in the trail with how it was closed, after the chain was checked.
    fn trail(&self) -> Vec<(String, Option<Value>)> {
        self.machine.run(&["audit", "verify"]).exits(0);
        let printed = self.machine.run(&["audit", "--json"]).exits(0).stdout;
        let mut opened = Vec::new();
        let mut closed: BTreeMap<String, Value> = BTreeMap::new();
        for line in printed.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            let plan = entry["plan"].as_str().unwrap().to_owned();
            if entry["kind"] == "opened" {
                opened.push(plan);
            } else if entry["kind"] == "closed" {
                let again = closed.insert(plan.clone(), entry);
                assert!(again.is_none(), "{plan} was closed twice");
            }
        }
        let trail: Vec<_> = opened
            .into_iter()
            .map(|plan| {
                let end = closed.remove(&plan);
                (plan, end)
            })
            .collect();
        assert!(closed.is_empty(), "closed and never opened: {closed:?}");
        trail
    }
}

/// Whether the step was sent by then.
fn went_out(place: &str) -> bool {
    !matches!(
        place,
        "unopened" | "intent-recorded" | "step-sending" | "look-recorded"
    )
}

/// What is known after a kill at each place.
async fn every_place(kind: Kind) {
    for place in kind.places() {
        let scene = Scene::new(&kind).await;
        scene.killed_at(&kind, place).await;
        let sent = (kind.count)(&scene.sim);
        assert_eq!(sent > 0, went_out(place), "{place}");

        let mut server = scene.server().await;
        match place {
            "unopened" => assert!(scene.trail().is_empty(), "{place}"),
            "closed" => assert_eq!(scene.trail()[0].1.as_ref().unwrap()["result"], "applied"),
            _ => {
                let said = server.hears("left open by an oxmox that ended").await;
                let trail = scene.trail();
                let [(plan, Some(end))] = trail.as_slice() else {
                    panic!("{place}: {trail:#?}")
                };
                let wanted = kind.outcome_at(place);
                assert_eq!(end["result"], wanted, "{place}: {end:#}");
                assert!(said.contains(plan), "{place}: {said}");
                let look = serde_json::json!({ "upid": plan });
                let told = server::call(server.address, "get_proxmox_task", &look).await;
                let told = told.unwrap()["content"][0]["text"].clone();
                let told = told.as_str().unwrap_or_default();
                assert!(
                    told.starts_with(&wanted.replace('_', " ")),
                    "{place}: {told}"
                );
            }
        }
        assert_eq!((kind.count)(&scene.sim), sent, "{place}: sent again");
    }
}

/// The same where a person agreed before: the yes is used by the first that is begun, and by no other.
async fn after_a_yes(kind: Kind) {
    let scene = Scene::new(&kind).await;
    scene.configure("[[rules]]\nverdict = \"ask\"\n");
    let server = scene.server().await;
    let asked = server::call(server.address, kind.tool, &kind.arguments).await;
    let asked = asked.unwrap();
    let plan = asked["structuredContent"]["plan"].as_str();
    let plan = plan.unwrap_or_else(|| panic!("{asked:#}")).to_owned();
    drop(server);
    scene.machine.run(&["approve", &plan, "--yes"]).exits(0);
    scene.killed_at(&kind, "unopened").await;
    assert_eq!((kind.count)(&scene.sim), 0);

    let server = scene.server().await;
    let trail = scene.trail();
    let ends: Vec<_> = trail.iter().map(|(_, end)| end.as_ref().unwrap()).collect();
    assert_eq!(ends.len(), 1, "{trail:#?}");
    assert_eq!(ends[0]["result"], "needs_confirmation");
    let call = || server::call(server.address, kind.tool, &kind.arguments);
    let applied = call().await.unwrap();
    let structured = &applied["structuredContent"];
    assert_eq!(structured["plan"], plan.as_str(), "{applied:#}");
    assert_eq!(structured["status"], "applied", "{applied:#}");
    let sent = (kind.count)(&scene.sim);
    assert!(sent > 0);
    // The next is asked about again, or finds nothing to do.
    let again = call().await.unwrap();
    assert_ne!(again["structuredContent"]["plan"], plan.as_str());
    assert_eq!((kind.count)(&scene.sim), sent);
}

macro_rules! killed {
    ($($name:ident),*) => {$(
        mod $name {
            #[tokio::test]
            async fn every_place() {
                super::every_place(super::kinds::$name()).await;
            }

            #[tokio::test]
            async fn after_a_person_agreed() {
                super::after_a_yes(super::kinds::$name()).await;
            }
        }
    )*};
}

killed!(
    request,
    request_with_task,
    upload,
    download,
    keys,
    agent_exec,
    terminal_line,
    terminal_exec
);
