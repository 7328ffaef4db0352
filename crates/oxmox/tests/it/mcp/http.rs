//! The same server over Streamable HTTP, spoken to in raw requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use oxmox::http::{self, Error, Live, PublicUrl, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tools::caller::Bounds;
use tools::engine::State;

use super::browser::delete;
use super::tls::certificate;
use super::tokens::token;
use super::{World, slow_world, world};
use crate::raw::{self, Response};

pub(super) struct Served {
    pub(super) address: SocketAddr,
    pub(super) stop: CancellationToken,
    pub(super) task: JoinHandle<Result<(), Error>>,
}

pub(super) async fn serve(world: &World) -> Served {
    serve_as(world, Live::default()).await
}

pub(super) async fn serve_as(world: &World, live: Live) -> Served {
    serve_by(world, http::unchanging(live)).await
}

pub(super) async fn serve_by(world: &World, live: watch::Receiver<Arc<Live>>) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let task = tokio::spawn(http::serve(
        world.engine.clone(),
        listener,
        live,
        stop.clone(),
    ));
    Served {
        address,
        stop,
        task,
    }
}

impl Served {
    pub(super) async fn post(&self, body: &Value, headers: &[(&str, &str)]) -> Response {
        self.send(&raw::message(&self.address.to_string(), body, headers))
            .await
    }

    /// Looks at an address.
    pub(super) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let target = format!("GET {path}");
        let host = self.address.to_string();
        self.send(&raw::request(&target, &host, headers, None))
            .await
    }

    /// Sends the beginning of a request.
    pub(super) async fn begin(&self, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("{head}Host: {}\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    pub(super) async fn send(&self, request: &str) -> Response {
        let stream = TcpStream::connect(self.address).await.unwrap();
        raw::exchange(stream, request).await.unwrap()
    }

    /// A request of the 2026 protocol.
    pub(super) async fn ask(
        &self,
        method: &str,
        params: Value,
        headers: &[(&str, &str)],
    ) -> Response {
        self.ask_with(method, params, &json!({}), headers).await
    }

    /// The same with more in its `_meta`.
    pub(super) async fn ask_with(
        &self,
        method: &str,
        params: Value,
        meta: &Value,
        headers: &[(&str, &str)],
    ) -> Response {
        let able = json!({"elicitation": {"form": {}}});
        let host = self.address.to_string();
        let request = raw::stateless(&host, (method, params), (&able, meta), headers);
        self.send(&request).await
    }
}

#[tokio::test]
async fn a_2026_change_is_confirmed_across_two_requests() {
    let world = world().await;
    let served = serve(&world).await;
    let call = json!({"name": "stop_proxmox_vm", "arguments": {"vmid": 110, "action": "stop"}});
    let asked = served.ask("tools/call", call.clone(), &[]).await.message();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let mut retry = call;
    retry["requestState"] = asked["result"]["requestState"].clone();
    retry["inputResponses"] =
        json!({"confirm": {"action": "accept", "content": {"approve": true}}});
    let done = served.ask("tools/call", retry, &[]).await.message();
    assert_eq!(
        done["result"]["structuredContent"]["status"], "applied",
        "{done}"
    );
    assert_eq!(world.writes(), ["POST /nodes/pve2/qemu/110/status/stop"]);
    let audit = world
        .engine
        .store()
        .await
        .unwrap()
        .audit_trail(10)
        .await
        .unwrap();
    assert!(format!("{audit:?}").contains("http:test"), "{audit:?}");
}

#[tokio::test]
async fn answer_that_approves_and_does_not_is_no_approval() {
    let world = world().await;
    let served = serve(&world).await;
    let call = json!({"name": "stop_proxmox_vm", "arguments": {"vmid": 110, "action": "stop"}});
    let asked = served.ask("tools/call", call.clone(), &[]).await.message();
    let mut retry = call;
    retry["requestState"] = asked["result"]["requestState"].clone();
    retry["inputResponses"] =
        json!({"confirm": {"action": "accept", "content": {"approve": "BOTH"}}});
    let host = served.address.to_string();
    let able = json!({"elicitation": {"form": {}}});
    let request = raw::stateless(&host, ("tools/call", retry), (&able, &json!({})), &[]);
    for both in [
        r#""approve":0,"approve":true"#,
        r#""approve":true,"approve":1"#,
    ] {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let body = body.replace(r#""approve":"BOTH""#, both);
        let mut lines: Vec<_> = head.lines().map(str::to_owned).collect();
        for line in &mut lines {
            if line.starts_with("Content-Length:") {
                *line = format!("Content-Length: {}", body.len());
            }
        }
        let sent = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
        let answer = served.send(&sent).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body.contains("stands twice"), "{}", answer.body);
    }
    assert_eq!(world.writes(), [""; 0]);
}

/// Begins a 2025 session; gives its id.
pub(super) async fn session(served: &Served, headers: &[(&str, &str)]) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }});
    let welcome = served.post(&hello, headers).await;
    assert_eq!(welcome.message()["result"]["serverInfo"]["name"], "oxmox");
    welcome.header("mcp-session-id").unwrap().to_owned()
}

#[tokio::test]
async fn a_2025_client_gets_a_session() {
    let world = world().await;
    let served = serve(&world).await;
    let session = session(&served, &[]).await;
    let headers = [
        ("Mcp-Session-Id", session.as_str()),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(served.post(&ready, &headers).await.status, 202);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let listed = served.post(&list, &headers).await.message();
    assert!(!listed["result"]["tools"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn pages_of_elsewhere_are_refused() {
    let world = world().await;
    let served = serve(&world).await;
    let port = served.address.port();
    let cases = [
        ("Origin", "http://evil.example".to_owned(), 403),
        ("Origin", "null".to_owned(), 403),
        ("Origin", "http://localhost.evil.example".to_owned(), 403),
        // Whoever has a page on this machine is not the person at it.
        ("Origin", "http://localhost:6274".to_owned(), 403),
        ("Origin", "http://[::1]:6274".to_owned(), 403),
        ("Origin", format!("http://{}", served.address), 200),
        ("Host", "evil.example".to_owned(), 403),
        ("Host", format!("evil.example:{port}"), 403),
        ("Host", format!("localhost:{port}"), 200),
    ];
    for (name, value, status) in cases {
        let answer = served
            .ask("server/discover", json!({}), &[(name, &value)])
            .await;
        assert_eq!(answer.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn the_public_name_is_a_name_and_routes_beside_mcp_take_no_other_page() {
    let world = world().await;
    token(&world, "ci", Bounds::default()).await;
    let settings = Settings {
        public_url: Some(PublicUrl::parse("https://ox.example:8443").unwrap()),
        ..Settings::default()
    };
    let served = serve_as(&world, Live::new(&settings).unwrap()).await;
    let own = format!("http://{}", served.address);
    let cases = [
        ("/mcp", "ox.example:8443", "https://ox.example:8443", true),
        ("/mcp", "ox.example", "http://localhost:6274", false),
        ("/", &served.address.to_string(), own.as_str(), true),
        (
            "/",
            &served.address.to_string(),
            "https://ox.example:8443",
            true,
        ),
        (
            "/",
            &served.address.to_string(),
            "http://localhost:6274",
            false,
        ),
        ("/", "ox.example:8443", "http://ox.example:81", false),
        ("/", "ox.example:8443", "null", false),
        ("/", "evil.example", "http://evil.example", false),
    ];
    for (path, host, origin, passes) in cases {
        let headers = [("Host", host), ("Origin", origin)];
        let answer = served.get(path, &headers).await;
        assert_eq!(answer.status != 403, passes, "{path} {host} {origin}");
    }
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_refused() {
    let world = world().await;
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let live = http::unchanging(Live::default());
    let served = http::serve(
        world.engine.clone(),
        listener,
        live,
        CancellationToken::new(),
    )
    .await;
    let error = served.unwrap_err();
    assert!(matches!(error, Error::NotLoopback(_)));
    assert!(error.to_string().contains("0.0.0.0"), "{error}");
}

/// What comes of serving an address that other machines can reach.
async fn opened(world: &World, settings: &Settings) -> Result<(), Error> {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let live = http::unchanging(Live::new(settings).unwrap());
    let stop = CancellationToken::new();
    let opened = http::Service::open(world.engine.clone(), listener, live, stop);
    opened.await.map(drop)
}

#[tokio::test]
async fn tokens_come_from_other_machines_encrypted_or_not_at_all() {
    let world = world().await;
    token(&world, "ci", Bounds::default()).await;
    let in_clear = opened(&world, &Settings::default()).await;
    assert!(matches!(in_clear, Err(Error::Unencrypted(_))));
    // A name alone encrypts nothing.
    let public_url = Some(PublicUrl::parse("https://ox.example").unwrap());
    let named = Settings {
        public_url,
        ..Settings::default()
    };
    let in_clear = opened(&world, &named).await;
    assert!(matches!(in_clear, Err(Error::Unencrypted(_))));
    let behind_proxy = Settings {
        behind_proxy: true,
        ..named
    };
    opened(&world, &behind_proxy).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let by_itself = Settings {
        tls: Some(certificate(dir.path(), "own").0),
        ..Settings::default()
    };
    opened(&world, &by_itself).await.unwrap();
}

#[tokio::test]
async fn a_proxy_on_this_machine_lets_nobody_in_unasked() {
    let world = world().await;
    let for_others = Settings {
        public_url: Some(PublicUrl::parse("https://ox.example").unwrap()),
        ..Settings::default()
    };
    let behind_proxy = Settings {
        behind_proxy: true,
        ..Settings::default()
    };
    for settings in [for_others, behind_proxy] {
        let served = serve_as(&world, Live::new(&settings).unwrap()).await;
        let ended = served.task.await.unwrap();
        assert!(matches!(ended, Err(Error::ForOthers)), "{settings:?}");
    }
    // Nor one that a configuration speaks of which is read again.
    let (live, seen) = watch::channel(Arc::new(Live::default()));
    let served = serve_by(&world, seen).await;
    assert_eq!(served.ask("tools/list", json!({}), &[]).await.status, 200);
    let named = Settings {
        public_url: Some(PublicUrl::parse("https://ox.example").unwrap()),
        ..Settings::default()
    };
    let again = Live::new(&named).unwrap().following(&live.borrow());
    live.send_replace(Arc::new(again.unwrap()));
    let by_name = [("Host", "ox.example")];
    let list = served.ask("tools/list", json!({}), &by_name).await;
    assert_eq!(list.status, 401);
    // Nor one that the configuration does not know of, if it says what it is.
    let served = serve(&world).await;
    let passed_on = ("X-Forwarded-For", "203.0.113.7");
    let list = served.ask("tools/list", json!({}), &[passed_on]).await;
    assert_eq!(list.status, 401);
    assert_eq!(served.ask("tools/list", json!({}), &[]).await.status, 200);
}

#[tokio::test]
async fn an_agent_is_told_of_the_page_by_the_name_that_others_know_it_by() {
    let world = world().await;
    token(&world, "ci", Bounds::default()).await;
    let settings = Settings {
        public_url: Some(PublicUrl::parse("https://ox.example:8443").unwrap()),
        ..Settings::default()
    };
    let served = serve_as(&world, Live::new(&settings).unwrap()).await;
    assert_eq!(served.get("/healthz", &[]).await.status, 200);
    let waits = delete(&world, "agent").await;
    let plan = waits["plan"].as_str().unwrap();
    let next = waits["next"].as_str().unwrap();
    let address = format!("https://ox.example:8443/#/inbox/{plan}");
    assert!(next.contains(&address), "{next}");
    assert!(!next.contains("127.0.0.1"), "{next}");
}

#[tokio::test]
async fn who_waits_when_the_end_comes_is_told_how_it_stands() {
    let world = slow_world(State::Memory).await;
    let served = serve(&world).await;
    let call = json!({"name": "snapshot_proxmox_vm", "arguments": {"vmid": 105, "name": "before", "wait": 600}});
    let asks = served.ask("tools/call", call, &[]);
    let stops = async {
        while world.writes().is_empty() {
            tokio::task::yield_now().await;
        }
        served.stop.cancel();
    };
    let (answer, ()) = tokio::join!(asks, stops);
    let told = answer.message();
    let outcome = &told["result"]["structuredContent"];
    assert_eq!(outcome["status"], "running", "{told}");
    assert!(outcome["plan"].is_string(), "{told}");
}

#[tokio::test]
async fn a_stop_ends_it_though_a_client_listens() {
    let world = world().await;
    let served = serve(&world).await;
    let session = session(&served, &[]).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let listen = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n",
        served.address
    );
    stream.write_all(listen.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    served.stop.cancel();
    // Well before the time that changes under way are given.
    let ended = tokio::time::timeout(Duration::from_secs(5), served.task).await;
    ended.expect("it goes on").unwrap().unwrap();
}
