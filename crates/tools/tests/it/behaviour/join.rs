//! A new node joins a cluster: once, by root alone, and only if it has nothing to lose.

use serde_json::json;
use tools::engine::Engine;
use tools::fault::Fault;
use tools::policy::{Mode, Policy};
use tools::tool::Rendered;

use std::sync::Arc;

use crate::house::{Furnish, House, Nobody, call, done};

const JOIN: &str = "join_cluster";

fn args(password: &str) -> String {
    let fingerprint = ["AA"; 32].join(":");
    let args =
        json!({"hostname": "192.168.1.11", "fingerprint": fingerprint, "password": password});
    args.to_string()
}

fn trusting() -> Policy {
    Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    }
}

/// A node that is in no cluster, and root there.
async fn alone() -> (House, Arc<Engine>) {
    let house = House::furnished(Furnish {
        world: sim::worlds::standalone(),
        policy: trusting(),
        ..Furnish::default()
    })
    .await;
    let engine = house.with_password("root@pam", sim::worlds::ROOT_PASSWORD, trusting());
    (house, engine)
}

async fn join(engine: &Arc<Engine>, password: &str) -> Result<Rendered, Fault> {
    done(engine.call(call(JOIN, &args(password)), &Nobody).await)
}

/// The ticket dies on the way, since the cluster has another key: a new one is fetched, and the end is read.
#[tokio::test]
async fn a_new_node_becomes_a_member_and_it_is_read_back() {
    let (house, engine) = alone().await;
    let answer = join(&engine, sim::worlds::ROOT_PASSWORD).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let nodes = house.sim.world(|world| world.nodes.len());
    assert_eq!(nodes, 4);
    let said = format!("{}{:?}", answer.text, answer.data);
    let password = format!("\"{}\"", sim::worlds::ROOT_PASSWORD);
    assert!(!said.contains(&password), "{said}");
    let joins = house.writes();
    let joins = joins.iter().filter(|it| it.ends_with("/join"));
    assert_eq!(joins.count(), 1);
}

#[tokio::test]
async fn a_wrong_password_changes_nothing() {
    let (house, engine) = alone().await;
    let fault = join(&engine, "wrong").await.unwrap_err();
    assert!(
        fault.message.contains("401 authentication failure"),
        "{fault}"
    );
    assert!(house.sim.world(|world| world.alone.is_some()));
}

#[tokio::test]
async fn a_person_is_asked_and_told_what_is_lost() {
    let (house, engine) = alone().await;
    let mut asked = call(JOIN, &args("x"));
    asked.preview = true;
    let shown = done(engine.call(asked, &Nobody).await).unwrap().text;
    for part in [
        "risk: grant",
        "users, tokens, storages",
        "password=<password>",
        "cannot be undone",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    let careful = house.with_password("root@pam", sim::worlds::ROOT_PASSWORD, Policy::default());
    let answer = join(&careful, "x").await.unwrap();
    assert_eq!(
        answer.data["status"], "needs_confirmation",
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_member_or_a_node_with_guests_does_not_join() {
    let house = House::in_mode(Mode::Trusted).await;
    let engine = house.with_password("root@pam", sim::worlds::ROOT_PASSWORD, trusting());
    let fault = join(&engine, "x").await.unwrap_err();
    assert!(
        fault.message.contains("in the cluster homelab already"),
        "{fault}"
    );
    let (house, engine) = alone().await;
    house.sim.world(|world| {
        let mut guest = sim::worlds::homelab().guests[&105].clone();
        guest.node = "pve4".to_owned();
        world.guests.insert(105, guest);
    });
    let fault = join(&engine, "x").await.unwrap_err();
    assert!(fault.message.contains("has 1 guest"), "{fault}");
    assert!(!house.writes().iter().any(|it| it.ends_with("/join")));
}

#[tokio::test]
async fn a_token_is_told_the_way_out() {
    let (house, _) = alone().await;
    let fault = house.call(JOIN, &args("x")).await.unwrap_err();
    assert!(fault.to_string().contains("password_file"), "{fault}");
    let wrong = args("x").replace("AA:AA", "AA");
    let fault = house.call(JOIN, &wrong).await.unwrap_err();
    assert!(fault.message.contains("`fingerprint`"), "{fault}");
}
