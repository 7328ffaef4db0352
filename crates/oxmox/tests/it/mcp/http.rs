//! The same server over Streamable HTTP, spoken to in raw requests.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use oxmox::http::{self, Error, Live, PublicUrl, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{World, world};

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

/// Sends a request that asks for the connection's end.
pub(super) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
) -> Response {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Whoever is refused before all was sent may find the connection reset after the answer.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Response {
        status: head[9..12].parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

pub(super) struct Response {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Response {
    /// The JSON-RPC message in it, alone or as the last event of a stream.
    pub(super) fn message(&self) -> Value {
        let mut lines = self.body.lines().rev();
        let json = lines
            .find_map(|line| {
                let line = line.strip_prefix("data: ").unwrap_or(line);
                line.starts_with('{').then_some(line)
            })
            .unwrap_or_else(|| panic!("no message in {}", self.body));
        serde_json::from_str(json).unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

impl Served {
    async fn post(&self, body: &Value, headers: &[(&str, &str)]) -> Response {
        let own_host = self.address.to_string();
        let body = body.to_string();
        let length = body.len().to_string();
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
            ("Content-Length", &length),
        ];
        if !headers.iter().any(|(name, _)| *name == "Host") {
            all.push(("Host", &own_host));
        }
        let lines = all.iter().chain(headers);
        let head = lines.fold(String::new(), |mut head, (name, value)| {
            let _ = write!(head, "{name}: {value}\r\n");
            head
        });
        self.send(&format!("POST /mcp HTTP/1.1\r\n{head}\r\n{body}"))
            .await
    }

    /// Looks at an address.
    pub(super) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        let own_host = self.address.to_string();
        let mut all = vec![("Connection", "close")];
        if !headers.iter().any(|(name, _)| *name == "Host") {
            all.push(("Host", &own_host));
        }
        let head = all
            .iter()
            .chain(headers)
            .fold(String::new(), |mut head, (name, value)| {
                let _ = write!(head, "{name}: {value}\r\n");
                head
            });
        self.send(&format!("GET {path} HTTP/1.1\r\n{head}\r\n"))
            .await
    }

    /// Sends the beginning of a request.
    pub(super) async fn begin(&self, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("{head}Host: {}\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    async fn send(&self, request: &str) -> Response {
        let stream = TcpStream::connect(self.address).await.unwrap();
        exchange(stream, request).await
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
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        });
        for (key, value) in meta.as_object().unwrap() {
            params["_meta"][key] = value.clone();
        }
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut all = vec![
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            all.push(("Mcp-Name", &name));
        }
        all.extend(headers);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post(&body, &all).await
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

/// Begins a 2025 session; gives its id.
async fn session(served: &Served) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }});
    let welcome = served.post(&hello, &[]).await;
    assert_eq!(welcome.message()["result"]["serverInfo"]["name"], "oxmox");
    welcome.header("mcp-session-id").unwrap().to_owned()
}

#[tokio::test]
async fn a_2025_client_gets_a_session() {
    let world = world().await;
    let served = serve(&world).await;
    let session = session(&served).await;
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
        ("Origin", "http://localhost:6274".to_owned(), 200),
        ("Origin", "http://[::1]:6274".to_owned(), 200),
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
    let settings = Settings {
        public_url: Some(PublicUrl::parse("https://ox.example:8443").unwrap()),
        ..Settings::default()
    };
    let served = serve_as(&world, Live::new(&settings).unwrap()).await;
    let own = format!("http://{}", served.address);
    let cases = [
        ("/mcp", "ox.example:8443", "https://ox.example:8443", true),
        ("/mcp", "ox.example", "http://localhost:6274", true),
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

#[tokio::test]
async fn a_stop_ends_it_though_a_client_listens() {
    let world = world().await;
    let served = serve(&world).await;
    let session = session(&served).await;
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
