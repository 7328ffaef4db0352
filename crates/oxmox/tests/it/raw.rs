//! Requests of HTTP as they are on the wire, each on a connection of its own.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The text of a request that asks for the connection's end. `host` counts unless the headers name another.
pub(crate) fn request(
    target: &str,
    host: &str,
    headers: &[(&str, &str)],
    body: Option<&str>,
) -> String {
    let mut text = format!("{target} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        let _ = write!(text, "Host: {host}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if let Some(body) = body {
        let _ = write!(text, "Content-Length: {}\r\n", body.len());
    }
    text + "\r\n" + body.unwrap_or_default()
}

/// A message of MCP to the endpoint.
pub(crate) fn message(host: &str, body: &Value, headers: &[(&str, &str)]) -> String {
    let mut all = vec![
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    all.extend(headers);
    request("POST /mcp", host, &all, Some(&body.to_string()))
}

/// A request of the 2026 protocol by a client that can do this, and whose `_meta` holds more than it has to.
pub(crate) fn stateless(
    host: &str,
    (method, mut params): (&str, Value),
    (able, meta): (&Value, &Value),
    headers: &[(&str, &str)],
) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": able,
    });
    for (key, value) in meta.as_object().into_iter().flatten() {
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
    message(host, &body, &all)
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends a request, and reads to the connection's end. `None`: whoever was asked ended before the answer did.
pub(crate) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
) -> Option<Response> {
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    // Whoever is refused before all was sent may find the connection reset after the answer.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some(Response {
        status: head.get(9..12)?.parse().ok()?,
        head: head.to_owned(),
        body: body.to_owned(),
    })
}

impl Response {
    /// The JSON-RPC message in it, alone or as the last event of a stream.
    pub(crate) fn message(&self) -> Value {
        self.whole_message()
            .unwrap_or_else(|| panic!("no message in {}", self.body))
    }

    /// The same, of an answer that may have broken off.
    pub(crate) fn whole_message(&self) -> Option<Value> {
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
