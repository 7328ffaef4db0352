//! Who listens over HTTP: as far as they reach, and with their own eyes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use oxmox::http::{Live, Pace, PveTokens, Settings};
use serde_json::{Value, json};
use sim::worlds::homelab;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tools::caller::Bounds;
use tools::context::Cluster;
use tools::engine::{Engine, State};
use tools::policy::Policy;

use super::http::{Served, serve_as, serve_by, session};
use super::tokens::token;
use super::{World, engine, settings, setup};
use crate::raw;

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(2);
const GUEST: &str = "proxmox://cluster/homelab/guest/105";
const ALICE: &str = "alice@pve!own=canary-of-alice";
const MALLORY: &str = "mallory@pve!own=canary-of-mallory";
/// The server's own token.
const ROOT: &str = "root@pam!oxmox";

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
    serve_by(world, watch::channel(Arc::new(live(world))).1).await
}

fn live(world: &World) -> Live {
    let told = Settings {
        pve_tokens: PveTokens::Allowed,
        ..Settings::default()
    };
    let pace = Pace {
        look_again: LOOK_AGAIN,
        look_at_clusters: LOOK_AGAIN,
        ..Pace::default()
    };
    let clusters = vec![("homelab".to_owned(), settings(&world.sim))];
    let live = Live::new(&told).unwrap().for_clusters(clusters);
    live.at_pace(pace)
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
        let heard = tokio::time::timeout(PATIENCE, async {
            loop {
                let line = self.0.next_line().await.unwrap().expect("it ended");
                if let Some(data) = line.strip_prefix("data: {") {
                    return serde_json::from_str(&format!("{{{data}")).unwrap();
                }
            }
        });
        heard.await.expect("nothing is heard")
    }

    async fn until_it_ends(&mut self) {
        let ends = async { while self.0.next_line().await.unwrap().is_some() {} };
        let ended = tokio::time::timeout(PATIENCE, ends).await;
        ended.expect("it goes on");
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
    listen_to(served, &[GUEST.to_owned()], headers).await
}

async fn listen_to(served: &Served, uris: &[String], headers: &[(&str, &str)]) -> (Heard, Value) {
    let wish = json!({"notifications": {"resourceSubscriptions": uris}});
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

/// Waits until no look has come for as long as ten by another token take, which goes on.
async fn until_nobody_looks(world: &World, by: &str, another: &str) {
    let silence = async {
        loop {
            let (before, others) = (looks(world, by), looks(world, another));
            while looks(world, another) < others + 10 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            if looks(world, by) == before {
                return;
            }
        }
    };
    let silence = tokio::time::timeout(PATIENCE, silence).await;
    silence.expect("somebody looks on");
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

/// Of two clusters.
#[tokio::test]
async fn who_brings_a_token_for_one_cluster_is_granted_nothing_of_another() {
    let World { sim, .. } = world().await;
    let names = ["homelab", "lab"];
    let connected = names.map(|name| {
        let (reader, writer) = pve::connect(settings(&sim)).unwrap();
        (Cluster::new(name, reader), writer)
    });
    let engine = Engine::new(connected.into(), setup(State::Memory, Policy::default()));
    let world = World { sim, engine };
    let clusters = names.map(|name| (name.to_owned(), settings(&world.sim)));
    let live = live(&world).for_clusters(clusters.into());
    let served = serve_as(&world, live).await;
    let uris = names.map(|name| format!("proxmox://cluster/{name}/guest/105"));
    let token = format!("homelab:{ALICE}");
    let (_heard, granted) = listen_to(&served, &uris, &[("X-PVE-API-Token", &token)]).await;
    assert_eq!(granted, json!([GUEST]));
    let (_heard, granted) = listen_to(&served, &uris, &[]).await;
    assert_eq!(granted, json!(uris));
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
        assert_eq!(looks(&world, ROOT), 0);
        until_looked(&world, "mallory@pve!own").await;
        assert!(!blind.has_more());
        // The first that she hears of the guest is that she may see it.
        world
            .sim
            .world(|world| world.grant("mallory@pve", "/", &["VM.Audit"]));
        blind.an_update().await;
    }
}

#[tokio::test]
async fn who_listens_to_too_much_is_told_so_and_nobody_else_has_less() {
    let world = world().await;
    let greedy = token(&world, "greedy", Bounds::default()).await;
    let other = token(&world, "other", Bounds::default()).await;
    // Only first looks, so that they can be counted.
    let pace = Pace {
        look_at_clusters: Duration::from_hours(1),
        ..Pace::default()
    };
    let served = serve_as(&world, Live::default().at_pace(pace)).await;
    let listens = async |token: &str, request: usize, most: usize| {
        let uri = |node| format!("proxmox://cluster/homelab/node/n{request}-{node}");
        let uris: Vec<_> = (0..most).map(uri).collect();
        let headers = [("Authorization", token)];
        let (heard, granted) = listen_to(&served, &uris, &headers).await;
        assert_eq!(granted, json!(uris));
        heard
    };
    let mut held = Vec::new();
    for request in 0..5 {
        held.push(listens(&greedy, request, 100).await);
        while looks(&world, ROOT) < 100 * (request + 1) {
            tokio::time::sleep(25 * LOOK_AGAIN).await;
        }
    }
    let refused = listens(&greedy, 5, 1).await.next().await;
    let why = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("too many resources"), "{refused}");
    let _heard = listens(&other, 6, 1).await;
    let looked = async {
        while looks(&world, ROOT) < 501 {
            tokio::time::sleep(25 * LOOK_AGAIN).await;
        }
    };
    let looked = tokio::time::timeout(PATIENCE, looked).await;
    looked.expect("nobody looks for the other one");
}

/// Each would be looked for on connections of its own, however many are made up.
#[tokio::test]
async fn who_listens_by_too_many_tokens_of_pve_is_told_so_and_nobody_else_has_fewer() {
    let world = world().await;
    let greedy = token(&world, "greedy", Bounds::default()).await;
    let other = token(&world, "other", Bounds::default()).await;
    let served = served(&world).await;
    let listens = async |by: &str, number: usize| {
        let token = format!("alice@pve!own=made-up-{number}");
        let headers = [("Authorization", by), ("X-PVE-API-Token", token.as_str())];
        subscribe(&served, &headers).await
    };
    let mut held = Vec::new();
    for number in 0..8 {
        let (heard, answer) = listens(&greedy, number).await;
        assert!(answer["result"].is_object(), "{number}: {answer}");
        held.push(heard);
    }
    let (_heard, refused) = listens(&greedy, 8).await;
    let why = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(why.contains("too many tokens of PVE"), "{refused}");
    let (_heard, answer) = listens(&other, 8).await;
    assert!(answer["result"].is_object(), "{answer}");
}

/// PVE writes down each login that fails, and who reads that may lock out the whole server.
#[tokio::test]
async fn who_is_refused_again_and_again_is_looked_for_less_often() {
    let world = world().await;
    let served = served(&world).await;
    let headers = [("X-PVE-API-Token", "alice@pve!own=canary-wrong")];
    let (_heard, _) = listen(&served, &headers).await;
    let (_another, _) = listen(&served, &[]).await;
    while looks(&world, "alice@pve!own") < 10 {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    until_nobody_looks(&world, "alice@pve!own", ROOT).await;
}

#[tokio::test]
async fn nobody_listens_by_their_own_token_once_that_is_switched_off() {
    let world = world().await;
    let (live, seen) = watch::channel(Arc::new(live(&world)));
    let served = serve_by(&world, seen).await;
    let headers = [("X-PVE-API-Token", ALICE)];
    let (_session, _) = subscribe(&served, &headers).await;
    let (mut stream, _) = listen(&served, &headers).await;
    let (_another, _) = listen(&served, &[]).await;
    until_looked(&world, "alice@pve!own").await;
    let off = Live::default().following(&live.borrow()).unwrap();
    off.put(&live);
    stream.until_it_ends().await;
    until_nobody_looks(&world, "alice@pve!own", ROOT).await;
}

#[tokio::test]
async fn nobody_listens_without_a_token_of_their_own_once_that_is_required() {
    let world = world().await;
    let (live, seen) = watch::channel(Arc::new(live(&world)));
    let served = serve_by(&world, seen).await;
    let (_session, _) = subscribe(&served, &[]).await;
    let (mut stream, _) = listen(&served, &[]).await;
    let (_another, _) = listen(&served, &[("X-PVE-API-Token", ALICE)]).await;
    until_looked(&world, ROOT).await;
    let told = Settings {
        pve_tokens: PveTokens::Required,
        ..Settings::default()
    };
    let required = Live::new(&told).unwrap();
    let required = required.following(&live.borrow()).unwrap();
    required.put(&live);
    stream.until_it_ends().await;
    until_nobody_looks(&world, ROOT, "alice@pve!own").await;
}

/// Though the session could be used for an hour.
#[tokio::test]
async fn nobody_listens_in_the_session_of_a_caller_who_is_not_let_in_any_more() {
    let world = world().await;
    let served = served(&world).await;
    let (mut unasked, _) = subscribe(&served, &[("X-PVE-API-Token", MALLORY)]).await;
    until_looked(&world, "mallory@pve!own").await;
    let anna = token(&world, "anna", Bounds::default()).await;
    let other = token(&world, "other", Bounds::default()).await;
    let (_another, _) = listen(&served, &[("Authorization", &other)]).await;
    unasked.until_it_ends().await;
    until_nobody_looks(&world, "mallory@pve!own", ROOT).await;
    let headers = [("Authorization", anna.as_str()), ("X-PVE-API-Token", ALICE)];
    let (mut known, _) = subscribe(&served, &headers).await;
    until_looked(&world, "alice@pve!own").await;
    let store = world.engine.store().await.unwrap();
    assert!(store.remove_token("anna").await.unwrap());
    known.until_it_ends().await;
    until_nobody_looks(&world, "alice@pve!own", ROOT).await;
}
