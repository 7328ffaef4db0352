//! Setup where something is there already: from an earlier run, another machine, or a person's own hand.

use std::sync::Arc;

use sim::world::access::{Role, Rule, Subject, User};
use sim::worlds::ROOT_PASSWORD;

use super::Place;
use crate::cli::Machine;

const READ: &[&str] = &[
    "--level=read",
    "--name=home",
    "--secret-store=file",
    "--yes",
];

fn read<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [READ, more].concat()
}

/// The names of oxmox's tokens on the cluster.
pub(super) fn tokens(place: &Place) -> Vec<String> {
    place.sim.world(|world| {
        let user = world.access.users.get("oxmox@pve");
        user.map(|user| user.tokens.keys().cloned().collect())
            .unwrap_or_default()
    })
}

#[tokio::test]
async fn a_user_that_has_no_token_yet() {
    let place = Place::new().await;
    place.sim.world(|world| {
        let users = &mut world.access.users;
        users.insert("oxmox@pve".to_owned(), User::default());
    });
    let ran = place.setup(READ).await.exits(0);
    ran.says("stays as it is: the user oxmox@pve");
    place.lists().await;
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_not_taken_for_one_that_is_not_there() {
    let place = Place::new().await;
    let rows = serde_json::json!([{ "userid": ["oxmox@pve"] }]);
    place
        .sim
        .fault(sim::Fault::answer("GET", "/access/users", rows));
    let ran = place.setup(READ).await.exits(1);
    ran.says("GET /access/users").says("cannot be read");
    assert_eq!(place.ours(), [""; 0]);
}

fn disable(place: &Place, disabled: bool) {
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.disabled = disabled;
    });
}

#[tokio::test]
async fn a_run_that_fails_leaves_the_token_and_the_secret_that_were_there() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let before = (place.ours(), place.files_but_trail());
    let texts = |place: &Place| {
        [
            ".config/oxmox/secrets/home",
            ".config/oxmox/config.toml",
            "state/setup/home.json",
        ]
        .map(|file| place.text(file))
    };
    let held = texts(&place);
    // No token of it gets in: neither the old one nor the new one.
    disable(&place, true);
    let ran = place.setup(READ).await.exits(1);
    ran.says("does not get in").says("has been taken back");
    assert_eq!((place.ours(), place.files_but_trail()), before);
    assert_eq!(texts(&place), held);
    disable(&place, false);
    place.lists().await;
}

#[tokio::test]
async fn a_secret_of_somebody_else_under_the_same_name_stays() {
    let place = Place::new().await;
    let file = place.home(".config/oxmox/secrets/home");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "theirs\n").unwrap();
    place.setup(READ).await.exits(0);
    assert_eq!(place.text(".config/oxmox/secrets/home"), "theirs\n");
    place.lists().await;
    place.undo().await.exits(0);
    assert_eq!(place.text(".config/oxmox/secrets/home"), "theirs\n");
    assert_eq!(place.files_but_trail(), [".config/oxmox/secrets/home"]);
}

#[tokio::test]
async fn a_second_name_has_a_token_of_its_own() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let words = [
        "--level=read",
        "--name=again",
        "--secret-store=file",
        "--yes",
    ];
    place.setup(&words).await.exits(0);
    assert_eq!(tokens(&place).len(), 2);
    for name in ["home", "again"] {
        place.run(&["secret", "test", name]).await.exits(0);
    }
}

#[tokio::test]
async fn another_machine_of_the_same_name_keeps_its_token() {
    let mut place = Place::new().await;
    place.setup(READ).await.exits(0);
    let first = std::mem::replace(&mut place.machine, Arc::new(Machine::new()));
    place.setup(READ).await.exits(0);
    place.lists().await;
    place.machine = first;
    place.lists().await;
    assert_eq!(tokens(&place).len(), 2);
}

#[tokio::test]
async fn a_token_whose_secret_pve_refuses_is_replaced() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let old = tokens(&place);
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        for token in user.tokens.values_mut() {
            token.secret = "another".to_owned();
        }
    });
    let ran = place.setup(READ).await.exits(0);
    ran.says("PVE does not take its secret");
    let new = tokens(&place);
    assert_eq!(new.len(), 1);
    assert_ne!(new, old);
    place.lists().await;
    let secrets = place.files_but_trail().into_iter();
    assert_eq!(secrets.filter(|file| file.contains("secrets/")).count(), 1);
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// What comes last is gone on with, on the cluster and here, though all the rest is as it should be by then.
#[tokio::test]
async fn what_was_left_to_do_is_done_by_the_next_run() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let old = tokens(&place);
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.tokens.get_mut(&old[0]).unwrap().secret = "another".to_owned();
    });
    let stuck = sim::Fault::refuse(500, "got no lock");
    place.sim.fault(stuck.on("DELETE", "/access/users/*"));
    let ran = place.setup(READ).await.exits(1);
    ran.says("and this is left to do: remove the token")
        .says("hint: run the same command again");
    assert_eq!(tokens(&place).len(), 2);
    place.sim.clear_faults();
    let ran = place.setup(READ).await.exits(0);
    ran.says("an earlier run of setup left it behind");
    let new = tokens(&place);
    assert_eq!(new.len(), 1);
    assert_ne!(new, old);
    let secrets = place.files_but_trail().into_iter();
    assert_eq!(secrets.filter(|file| file.contains("secrets/")).count(), 1);
    place.lists().await;
    place.setup(READ).await.exits(0).says("nothing to do");
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

#[tokio::test]
async fn a_token_that_nobody_can_ask_about_is_left_alone() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let file = place.home(".config/oxmox/config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let at = text.find("token_secret_file").unwrap();
    let text = format!("{}token_secret_env = \"NOT_SET\"\n", &text[..at]);
    std::fs::write(&file, &text).unwrap();
    let before = place.ours();
    let ran = place.setup(READ).await.exits(1);
    ran.says("cannot be told now").says("NOT_SET");
    assert_eq!(place.ours(), before);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_run_without_screens_takes_them_back() {
    let place = Place::new().await;
    place.setup(&read(&["--screens"])).await.exits(0);
    let ran = place.setup(READ).await.exits(0);
    ran.says("take from the role oxmox-read: VM.Console");
    let held = place
        .sim
        .world(|world| world.access.roles["oxmox-read"].privs.clone());
    assert!(!held.contains("VM.Console"), "{held:?}");
    place.lists().await;
    place.undo().await.exits(0);
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn what_a_person_gave_the_token_stays() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let token = format!("oxmox@pve!{}", tokens(&place)[0]);
    place.sim.world(|world| {
        let privs = ["VM.Snapshot".to_owned()].into();
        let role = Role {
            privs,
            special: false,
        };
        let name = "oxmox-more-vms".to_owned();
        world.access.roles.insert(name.clone(), role);
        world.access.acl.push(Rule {
            path: "/vms".to_owned(),
            subject: Subject::Token(token),
            role: name,
            propagate: true,
        });
    });
    let before = place.ours();
    place.setup(READ).await.exits(0).says("nothing to do");
    assert_eq!(place.ours(), before);
}

#[tokio::test]
async fn rights_that_do_not_arrive_are_told() {
    let place = Place::new().await;
    let nothing = serde_json::Value::Null;
    place
        .sim
        .fault(sim::Fault::answer("PUT", "/access/acl", nothing));
    let ran = place.setup(READ).await.exits(1);
    ran.says("and lacks").says("has been taken back");
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

#[tokio::test]
async fn what_nothing_brings_back_comes_last() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let before = place.ours();
    // The new role does not arrive, so that the old one must not be taken.
    let nothing = serde_json::Value::Null;
    let lost = sim::Fault::answer("PUT", "/access/acl", nothing);
    place.sim.fault(lost.times(1));
    let operate = [&["--level=operate"], &READ[1..]].concat();
    place.setup(&operate).await.exits(1).says("and lacks");
    assert_eq!(place.ours(), before);
    place.lists().await;
}

#[tokio::test]
async fn another_cluster_under_the_same_name_is_not_mixed_up_with_the_first() {
    let mut place = Place::new().await;
    place.setup(READ).await.exits(0);
    place.run(&["cluster", "remove", "home"]).await.exits(0);
    let other = sim::Sim::start(sim::worlds::homelab()).await.unwrap();
    let first = std::mem::replace(&mut place.sim, other);
    let ran = place.setup(READ).await.exits(1);
    ran.says("setup has made home for another cluster")
        .says("--undo --name home");
    assert_eq!(place.ours(), [""; 0]);
    place.sim = first;
    place.undo().await.exits(0);
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn another_configuration_with_the_same_state_is_not_mixed_up_with_the_first() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let before = place.ours();
    let file = place.home("other.toml");
    let config = ["--config", file.to_str().unwrap()];
    let ran = place.setup(&read(&config)).await.exits(1);
    ran.says("for another configuration").says("--state-dir");
    assert_eq!(place.ours(), before);
    assert!(!file.exists());
}

#[tokio::test]
async fn the_same_cluster_by_another_name_of_its_host() {
    let place = Place::new().await;
    place.setup(READ).await.exits(0);
    let mut words = place.address();
    "localhost".clone_into(&mut words[2]);
    words.extend(["--user=root@pam", "--password-stdin"].map(str::to_owned));
    words.extend(READ.iter().map(|word| (*word).to_owned()));
    place.fed(words, ROOT_PASSWORD).await.exits(0);
    assert_eq!(tokens(&place).len(), 1);
    assert!(
        place
            .text(".config/oxmox/config.toml")
            .contains("localhost")
    );
    place.lists().await;
}

#[tokio::test]
async fn what_a_given_token_lacks_is_said_every_time() {
    let place = Place::new().await;
    place.sim.world(|world| {
        world.grant("ann@pve", "/", &["VM.Audit", "Sys.Audit"]);
        world.add_token("ann@pve!t", "ann-secret");
        let rule = Rule {
            path: "/".to_owned(),
            subject: Subject::Token("ann@pve!t".to_owned()),
            role: "PVEAuditor".to_owned(),
            propagate: true,
        };
        world.access.acl.push(rule);
    });
    let mut words = place.address();
    words.extend(["--token=ann@pve!t", "--token-secret-stdin"].map(str::to_owned));
    words.extend(READ.iter().map(|word| (*word).to_owned()));
    for _ in 0..2 {
        let ran = place.fed(words.clone(), "ann-secret").await.exits(0);
        ran.says("ann@pve!t lacks");
    }
}
