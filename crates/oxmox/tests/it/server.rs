//! The built binary as a server that can be killed, and raw requests to it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A process that serves. Killed with its test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    talk: UnboundedReceiver<String>,
}

impl Server {
    /// Starts it, and waits until it listens. Its arguments must say where.
    pub(crate) async fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (say, talk) = unbounded_channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        let mut server = Self {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            talk,
        };
        let line = server.hears("MCP is served at http://").await;
        let (_, rest) = line.split_once("http://").unwrap();
        server.address = rest.split('/').next().unwrap().parse().unwrap();
        server
    }

    /// Waits for a line with these words on its stderr.
    pub(crate) async fn hears(&mut self, words: &str) -> String {
        let mut heard = String::new();
        while let Some(line) = self.talk.recv().await {
            if line.contains(words) {
                return line;
            }
            let _ = writeln!(heard, "{line}");
        }
        panic!("it ended without \"{words}\":\n{heard}");
    }

    /// SIGKILL: nothing of it runs any more when this returns.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Response {
    /// The JSON-RPC message in it, alone or as the last event of a stream.
    pub(crate) fn message(&self) -> Option<Value> {
        self.body.lines().rev().find_map(|line| {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            // Lengths of chunks are lines, too.
            line.starts_with('{')
                .then(|| serde_json::from_str(line).ok())?
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

/// One request on a connection of its own. `None`: whoever was asked ended before the answer did.
pub(crate) async fn post(
    address: SocketAddr,
    body: &Value,
    headers: &[(&str, &str)],
) -> Option<Response> {
    let body = body.to_string();
    let mut head = format!(
        "Host: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let mut stream = TcpStream::connect(address).await.ok()?;
    let request = format!("POST /mcp HTTP/1.1\r\n{head}\r\n{body}");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some(Response {
        status: head.get(9..12)?.parse().ok()?,
        head: head.to_owned(),
        body: body.to_owned(),
    })
}

/// A call of a tool by a client of the 2026 protocol that nobody sits at. Gives the result.
pub(crate) async fn call(address: SocketAddr, tool: &str, arguments: &Value) -> Option<Value> {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", tool),
    ];
    let answer = post(address, &body, &headers).await?;
    Some(answer.message()?["result"].clone())
}
