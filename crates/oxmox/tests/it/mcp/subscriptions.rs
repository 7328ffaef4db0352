//! Who listens to a resource hears of changes, and only of changes.

use std::time::Duration;

use oxmox::mcp::{Pace, Server};
use serde_json::{Value, json};
use sim::Fault;

use super::wire::{BOTH, Era, Person, Wire};
use super::{World, world};

const GUEST: &str = "proxmox://cluster/homelab/guest/105";
const NODE: &str = "proxmox://cluster/homelab/node/pve2";
const UPDATED: &str = "notifications/resources/updated";
const LOOK_AGAIN: Duration = Duration::from_millis(2);

fn server(world: &World) -> Server {
    let pace = Pace {
        look_again: LOOK_AGAIN,
        ..Pace::default()
    };
    Server::at_pace(world.engine.clone(), pace)
}

/// Begins to listen, in the words of the client's era; gives what ends it.
async fn listen(world: &World, wire: &mut Wire, era: Era, uris: &[&str]) -> u64 {
    if era == Era::Y2025 {
        for uri in uris {
            wire.result("resources/subscribe", json!({"uri": uri}))
                .await;
        }
        return 0;
    }
    let params =
        json!({"notifications": {"resourceSubscriptions": uris, "toolsListChanged": true}});
    let id = wire.send("subscriptions/listen", params).await;
    let heard = wire.receive().await;
    assert_eq!(heard["method"], "notifications/subscriptions/acknowledged");
    let granted = &heard["params"]["notifications"];
    assert_eq!(granted["resourceSubscriptions"], json!(uris), "{heard}");
    assert!(granted.get("toolsListChanged").is_none(), "{heard}");
    // The first look comes after the acknowledgement.
    until_looked(world).await;
    id
}

/// Waits until the cluster was looked at once more.
async fn until_looked(world: &World) {
    let looks = || {
        let requests = world.sim.requests().into_iter();
        requests
            .filter(|logged| logged.path.ends_with("/config"))
            .count()
    };
    let before = looks();
    // The second look begins only when the first was compared.
    while looks() < before + 2 {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn retag(world: &World, tag: &str) {
    world.sim.world(|world| {
        let guest = world.guests.get_mut(&105).unwrap();
        guest.config.set("tags", tag);
    });
}

async fn heard(wire: &mut Wire) -> Value {
    let note = wire.receive().await;
    assert_eq!(note["method"], UPDATED, "{note}");
    note["params"]["uri"].clone()
}

#[tokio::test]
async fn a_change_is_heard_and_noise_is_not() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::on(server(&world), era, Person::Absent).await;
        listen(&world, &mut wire, era, &[GUEST]).await;
        // Time passes, and with it uptime and load.
        until_looked(&world).await;
        retag(&world, "changed");
        assert_eq!(heard(&mut wire).await, GUEST);
        until_looked(&world).await;
        retag(&world, "again");
        assert_eq!(heard(&mut wire).await, GUEST);
        // Nothing else was said in between.
        assert_eq!(wire.notes, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn each_hears_what_it_listens_to() {
    let world = world().await;
    let server = server(&world);
    let mut first = Wire::on(server.clone(), Era::Y2025, Person::Absent).await;
    let mut second = Wire::on(server, Era::Y2026, Person::Absent).await;
    listen(&world, &mut first, Era::Y2025, &[GUEST, NODE]).await;
    listen(&world, &mut second, Era::Y2026, &[GUEST]).await;
    world.sim.set_online("pve2", false);
    assert_eq!(heard(&mut first).await, NODE);
    retag(&world, "changed");
    assert_eq!(heard(&mut second).await, GUEST);
    assert_eq!(heard(&mut first).await, GUEST);
}

#[tokio::test]
async fn a_guest_that_goes_is_news_and_a_cluster_that_does_not_answer_is_none() {
    let world = world().await;
    let mut wire = Wire::on(server(&world), Era::Y2025, Person::Absent).await;
    listen(&world, &mut wire, Era::Y2025, &[GUEST]).await;
    world.sim.fault(
        Fault::refuse(500, "no")
            .on("GET", "/cluster/resources")
            .times(3),
    );
    until_looked(&world).await;
    world.sim.world(|world| world.guests.remove(&105));
    assert_eq!(heard(&mut wire).await, GUEST);
}

#[tokio::test]
async fn nobody_listens_and_nobody_looks() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::on(server(&world), era, Person::Absent).await;
        let id = listen(&world, &mut wire, era, &[GUEST]).await;
        if era == Era::Y2025 {
            let uri = json!({"uri": GUEST});
            wire.result("resources/unsubscribe", uri.clone()).await;
            wire.result("resources/unsubscribe", uri).await;
        } else {
            let ended = json!({"requestId": id});
            wire.notify("notifications/cancelled", ended).await;
        }
        until_silent(&world).await;
        // It can be begun anew, and ends with the connection too.
        listen(&world, &mut wire, era, &[GUEST]).await;
        wire.hang_up().await.unwrap();
        until_silent(&world).await;
    }
}

/// The first look at what somebody listens to is waited for, and others wait for its end.
#[tokio::test]
async fn who_has_left_is_not_looked_for_any_more() {
    let world = world().await;
    let server = server(&world);
    let mut first = Wire::on(server.clone(), Era::Y2026, Person::Absent).await;
    let mut second = Wire::on(server, Era::Y2025, Person::Absent).await;
    let hangs = Fault::delay(Duration::from_mins(1)).on("GET", "/cluster/resources");
    world.sim.fault(hangs.times(1));
    let params = json!({"notifications": {"resourceSubscriptions": [NODE]}});
    let id = first.send("subscriptions/listen", params).await;
    first.receive().await;
    while world.sim.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    let ended = json!({"requestId": id});
    first.notify("notifications/cancelled", ended).await;
    second
        .result("resources/subscribe", json!({"uri": GUEST}))
        .await;
}

/// Waits until no look has come for as long as ten would have taken.
async fn until_silent(world: &World) {
    loop {
        let before = world.sim.requests().len();
        tokio::time::sleep(LOOK_AGAIN * 10).await;
        if world.sim.requests().len() == before {
            return;
        }
    }
}

#[tokio::test]
async fn what_is_no_resource_cannot_be_listened_to() {
    let world = world().await;
    let mut wire = Wire::on(server(&world), Era::Y2025, Person::Absent).await;
    for uri in ["proxmox://cluster/other", "file:///etc/passwd"] {
        let refused = wire
            .request("resources/subscribe", json!({"uri": uri}))
            .await;
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
    }
    for vmid in 100..200 {
        let uri = format!("proxmox://cluster/homelab/guest/{vmid}");
        wire.result("resources/subscribe", json!({"uri": uri}))
            .await;
    }
    let refused = wire
        .request("resources/subscribe", json!({"uri": NODE}))
        .await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("too many")
    );
    let mut wire = Wire::on(server(&world), Era::Y2026, Person::Absent).await;
    let params = json!({"notifications": {"resourceSubscriptions": ["file:///etc/passwd"]}});
    wire.send("subscriptions/listen", params).await;
    let heard = wire.receive().await;
    let granted = &heard["params"]["notifications"];
    assert!(granted.get("resourceSubscriptions").is_none(), "{heard}");
}

#[tokio::test]
async fn the_methods_of_2025_are_unknown_in_2026_whatever_they_bring() {
    let world = world().await;
    let mut wire = Wire::on(server(&world), Era::Y2026, Person::Absent).await;
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        for params in [json!({"uri": GUEST}), json!({})] {
            let refused = wire.request(method, params).await;
            assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
        }
    }
}
