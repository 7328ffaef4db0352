//! A client of the 2025 protocol: it has a session, and starts anew when that is gone.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::server::post;

pub(super) struct Session {
    address: SocketAddr,
    pub(super) id: String,
}

/// What came of a call.
#[derive(Debug)]
pub(super) enum Heard {
    Result(Value),
    /// The connection ended before the answer.
    Nothing,
    /// There is no such session.
    NoSession,
}

impl Session {
    /// `None`: whoever was asked ended.
    pub(super) async fn begin(address: SocketAddr) -> Option<Self> {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        }});
        let welcome = post(address, &hello, &[]).await?;
        let id = welcome.header("mcp-session-id")?.to_owned();
        let session = Self { address, id };
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        post(address, &ready, &session.headers()).await?;
        Some(session)
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [
            ("Mcp-Session-Id", &self.id),
            ("MCP-Protocol-Version", "2025-11-25"),
        ]
    }

    pub(super) async fn call(&self, tool: &str, arguments: &Value) -> Heard {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        match post(self.address, &body, &self.headers()).await {
            Some(answer) if answer.status == 404 => Heard::NoSession,
            Some(answer) => match answer.whole_message() {
                Some(message) => Heard::Result(message["result"].clone()),
                None => Heard::Nothing,
            },
            None => Heard::Nothing,
        }
    }
}
