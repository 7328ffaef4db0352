//! Who listens over HTTP: as far as they reach, and with their own eyes.

use std::time::Duration;

use futures_util::FutureExt as _;
use oxmox::http::{Live, Pace, PveTokens, Settings};
use serde_json::{Value, json};
use sim::worlds::homelab;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tools::caller::Bounds;
use tools::engine::State;

use super::http::{Served, serve_as, session};
use super::tokens::token;
use super::{World, engine, settings};
use crate::raw;

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(2);
const GUEST: &str = "proxmox://cluster/homelab/guest/105";
const ALICE: &str = "alice@pve!own=canary-of-alice";
const MALLORY: &str = "mallory@pve!own=canary-of-mallory";

/// A homelab in which alice may look at guests, and mallory at nothing.
async fn world() -> World {
    let mut world = homelab();
    world.add_token("alice@pve!own", "canary-of-alice");
    world.add_token("mallory@pve!own", "canary-of-mallory");
    world.grant("alice@pve", "/", &["VM.Audit", "Sys.Audit"]);
    let sim = sim::Sim::start(world).await.unwrap();
    let engine = engine(&sim, State::Memory);
    World { sim, engine }
}

async fn served(world: &World) -> Served {
    let told = Settings {
        pve_tokens: PveTokens::Allowed,
        ..Settings::default()
    };
    let pace = Pace {
        look_at_clusters: LOOK_AGAIN,
        ..Pace::default()
    };
    let clusters = vec![("homelab".to_owned(), settings(&world.sim))];
    let live = Live::new(&told).unwrap().for_clusters(clusters);
    serve_as(world, live.at_pace(pace)).await
}

/// What comes on a stream of events.
struct Heard(Lines<BufReader<TcpStream>>);

impl Heard {
    async fn on(served: &Served, request: &str) -> Self {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        Self(BufReader::new(stream).lines())
    }

    async fn next(&mut self) -> Value {
        loop {
            let line = tokio::time::timeout(PATIENCE, self.0.next_line()).await;
            let line = line.expect("nothing is heard").unwrap().expect("it ended");
            if let Some(data) = line.strip_prefix("data: {") {
                return serde_json::from_str(&format!("{{{data}")).unwrap();
            }
        }
    }

    /// Whether an event has come that nobody has looked at.
    fn has_more(&mut self) -> bool {
        while let Some(line) = self.0.next_line().now_or_never() {
            if line.unwrap().expect("it ended").starts_with("data: {") {
                return true;
            }
        }
        false
    }

    async fn an_update(&mut self) {
        let note = self.next().await;
        assert_eq!(note["method"], "notifications/resources/updated", "{note}");
        assert_eq!(note["params"]["uri"], GUEST);
    }
}

/// Listens in the words of 2026; gives what was granted, too.
async fn listen(served: &Served, headers: &[(&str, &str)]) -> (Heard, Value) {
    let wish = json!({"notifications": {"resourceSubscriptions": [GUEST]}});
    let host = served.address.to_string();
    let able = (&json!({}), &json!({}));
    let request = raw::stateless(&host, ("subscriptions/listen", wish), able, headers);
    let mut heard = Heard::on(served, &request).await;
    let granted = heard.next().await;
    assert_eq!(
        granted["method"],
        "notifications/subscriptions/acknowledged"
    );
    let granted = granted["params"]["notifications"]["resourceSubscriptions"].clone();
    (heard, granted)
}

/// Listens in the words of 2025.
async fn subscribe(served: &Served, headers: &[(&str, &str)]) -> (Heard, Value) {
    let session = session(served, headers).await;
    let mut all = headers.to_vec();
    all.extend([
        ("Mcp-Session-Id", session.as_str()),
        ("MCP-Protocol-Version", "2025-11-25"),
    ]);
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(served.post(&ready, &all).await.status, 202);
    let mut with_accept = all.clone();
    with_accept.push(("Accept", "text/event-stream"));
    let host = served.address.to_string();
    let stream = raw::request("GET /mcp", &host, &with_accept, None);
    let heard = Heard::on(served, &stream).await;
    let wish = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": GUEST}});
    let answer = served.post(&wish, &all).await.message();
    (heard, answer)
}

/// How often the guest was looked at by this token.
fn looks(world: &World, by: &str) -> usize {
    let requests = world.sim.requests().into_iter();
    requests
        .filter(|logged| logged.path == "/cluster/resources" && logged.token.as_deref() == Some(by))
        .count()
}

async fn until_looked(world: &World, by: &str) {
    let before = looks(world, by);
    while looks(world, by) < before + 2 {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn retag(world: &World, tag: &str) {
    world.sim.world(|world| {
        let guest = world.guests.get_mut(&105).unwrap();
        guest.config.set("tags", tag);
    });
}

#[tokio::test]
async fn what_a_caller_may_not_read_it_is_not_told_of() {
    let world = world().await;
    let elsewhere = Bounds {
        clusters: vec!["elsewhere".to_owned()],
        ..Bounds::default()
    };
    let stranger = token(&world, "stranger", elsewhere).await;
    let served = served(&world).await;
    let headers = [("Authorization", stranger.as_str())];
    let (_heard, granted) = listen(&served, &headers).await;
    assert_eq!(granted, Value::Null);
    let (_heard, refused) = subscribe(&served, &headers).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    assert!(world.sim.requests().is_empty());
}

#[tokio::test]
async fn who_brings_a_token_of_pve_listens_by_it() {
    for era in [2025, 2026] {
        let world = world().await;
        let served = served(&world).await;
        let begin = async |token: &'static str| {
            let headers = [("X-PVE-API-Token", token)];
            match era {
                2025 => subscribe(&served, &headers).await.0,
                _ => listen(&served, &headers).await.0,
            }
        };
        // Whoever came first looks for nobody else.
        let mut blind = begin(MALLORY).await;
        until_looked(&world, "mallory@pve!own").await;
        let mut seeing = begin(ALICE).await;
        until_looked(&world, "alice@pve!own").await;
        retag(&world, "changed");
        seeing.an_update().await;
        assert_eq!(looks(&world, "root@pam!oxmox"), 0);
        until_looked(&world, "mallory@pve!own").await;
        assert!(!blind.has_more());
        // The first that she hears of the guest is that she may see it.
        world
            .sim
            .world(|world| world.grant("mallory@pve", "/", &["VM.Audit"]));
        blind.an_update().await;
    }
}
