//! Tools that the token has no right for: left out of the list, and still there to be called.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pve::{Credentials, Fetching, Keeper, Secret};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;
use tools::context::Cluster;
use tools::engine::{Engine, State};

use super::wire::{BOTH, Era, Person, Wire, is_error, text};
use super::{World, settings, setup, world};

/// An engine for a token that may look at guests and start them, and nothing else.
fn restricted(world: &World, token: &str, state: State) -> Arc<Engine> {
    restricted_by(world, token, "secret".into(), state)
}

/// The same with the secret from somewhere else.
fn restricted_by(world: &World, token: &str, secret: Secret, state: State) -> Arc<Engine> {
    let (user, name) = token.split_once('!').unwrap();
    world.sim.world(|world| {
        world.add_token(token, "secret");
        world.grant(user, "/vms", &["VM.Audit", "VM.PowerMgmt"]);
    });
    let mut settings = settings(&world.sim);
    settings.credentials = Credentials::Token {
        user: user.to_owned(),
        name: name.to_owned(),
        secret,
    };
    let (reader, writer) = pve::connect(settings).unwrap();
    Engine::new(
        vec![(Cluster::new("homelab", reader), writer)],
        setup(state, tools::policy::Policy::default()),
    )
}

async fn listed(wire: &mut Wire) -> Vec<String> {
    let listed = wire.result("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|one| one == name)
}

#[tokio::test]
async fn the_next_start_leaves_them_out_and_asks_nobody() {
    let world = world().await;
    let dir = tempfile::tempdir().unwrap();
    let state = State::Dir(dir.path().to_owned());
    let first = World {
        engine: restricted(&world, "carl@pve!ci", state.clone()),
        sim: world.sim,
    };
    for era in BOTH {
        let mut wire = Wire::new(&first, era, Person::Absent).await;
        assert!(
            has(&listed(&mut wire).await, "clone_proxmox_vm"),
            "nothing is known yet"
        );
    }
    assert!(first.engine.learn_rights().await.is_empty());
    let before = first.sim.requests().len();
    let second = World {
        engine: restricted(&first, "carl@pve!ci", state.clone()),
        sim: first.sim,
    };
    for era in BOTH {
        let mut wire = Wire::new(&second, era, Person::Absent).await;
        let names = listed(&mut wire).await;
        assert!(
            !has(&names, "clone_proxmox_vm") && !has(&names, "create_user"),
            "{names:?}"
        );
        for useful in [
            "list_proxmox_resources",
            "start_proxmox_vm",
            "read_proxmox_api",
        ] {
            assert!(has(&names, useful), "{useful}");
        }
    }
    assert_eq!(
        second.sim.requests().len(),
        before,
        "the list waited for PVE"
    );
    // Another token has other rights.
    let other = restricted(&second, "eve@pve!ci", state);
    assert!(other.rights().unlisted().is_empty());
}

/// A keyring that counts how often somebody is asked to unlock it.
struct Keyring(Arc<AtomicUsize>);

impl Keeper for Keyring {
    fn fetch(&self) -> Fetching {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok("secret".into()) })
    }

    fn is_quiet(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn nobody_is_asked_for_a_secret_only_to_make_a_list() {
    let world = world().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let secret = Secret::kept(Keyring(asked.clone()));
    let world = World {
        engine: restricted_by(&world, "carl@pve!ci", secret, State::Memory),
        sim: world.sim,
    };
    assert!(world.engine.learn_rights().await.is_empty());
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let mut wire = Wire::new(&world, Era::Y2025, Person::Absent).await;
    assert!(has(&listed(&mut wire).await, "clone_proxmox_vm"));
    let answer = wire.call("list_proxmox_resources", json!({})).await;
    assert!(!is_error(&answer), "{answer}");
    assert!(world.engine.learn_rights().await.is_empty());
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(!has(&listed(&mut wire).await, "clone_proxmox_vm"));
}

#[tokio::test]
async fn one_that_is_left_out_can_be_called_and_pve_says_no() {
    let world = world().await;
    let world = World {
        engine: restricted(&world, "carl@pve!ci", State::Memory),
        sim: world.sim,
    };
    assert!(world.engine.learn_rights().await.is_empty());
    for era in BOTH {
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let arguments = json!({"vmid": 105, "name": "before"});
        assert!(!has(&listed(&mut wire).await, "snapshot_proxmox_vm"));
        let answer = wire.call("snapshot_proxmox_vm", arguments).await;
        assert!(is_error(&answer), "{answer}");
        let said = text(&answer);
        assert!(
            said.contains("Permission check failed") && said.contains("VM.Snapshot"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn only_sessions_of_2025_hear_that_the_list_is_another_one() {
    let world = world().await;
    let world = World {
        engine: restricted(&world, "carl@pve!ci", State::Memory),
        sim: world.sim,
    };
    let mut old = Wire::new(&world, Era::Y2025, Person::Absent).await;
    // An answer to this tells that what was sent before it has been read.
    old.result("ping", json!({})).await;
    let mut new = Wire::new(&world, Era::Y2026, Person::Absent).await;
    let found = new.result("server/discover", json!({})).await;
    assert_eq!(found["capabilities"]["tools"], json!({}));
    assert!(world.engine.learn_rights().await.is_empty());
    let news: Value = old.receive().await;
    assert_eq!(news["method"], "notifications/tools/list_changed");
    assert!(!has(&listed(&mut old).await, "clone_proxmox_vm"));
    assert!(!has(&listed(&mut new).await, "clone_proxmox_vm"));
    assert!(new.notes.is_empty());
    // What is known already is no news.
    assert!(world.engine.learn_rights().await.is_empty());
    listed(&mut old).await;
    assert!(old.notes.is_empty(), "{:?}", old.notes);
}

#[tokio::test]
async fn rights_that_are_given_meanwhile_are_learnt() {
    let world = world().await;
    let world = World {
        engine: restricted(&world, "carl@pve!ci", State::Memory),
        sim: world.sim,
    };
    let mut wire = Wire::new(&world, Era::Y2025, Person::Absent).await;
    wire.result("ping", json!({})).await;
    let gate = Arc::new(Semaphore::new(0));
    let pause = {
        let gate = Arc::clone(&gate);
        move |_| {
            let gate = Arc::clone(&gate);
            async move { gate.acquire().await.unwrap().forget() }
        }
    };
    let learning = tokio::spawn(oxmox::cli::rights::learn(world.engine.clone(), pause));
    let _learning = AbortOnDropHandle::new(learning);
    let news: Value = wire.receive().await;
    assert_eq!(news["method"], "notifications/tools/list_changed");
    assert!(!has(&listed(&mut wire).await, "snapshot_proxmox_vm"));
    world.sim.world(|world| {
        world.grant("carl@pve", "/vms", &["VM.Audit", "VM.Snapshot"]);
    });
    gate.add_permits(1);
    let news: Value = wire.receive().await;
    assert_eq!(news["method"], "notifications/tools/list_changed");
    assert!(has(&listed(&mut wire).await, "snapshot_proxmox_vm"));
}
