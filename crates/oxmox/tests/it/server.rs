//! The built binary as a server that can be killed, and messages to it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command};

use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::raw::{self, Response};

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

/// One message on a connection of its own. `None`: whoever was asked ended before the answer did.
pub(crate) async fn post(
    address: SocketAddr,
    body: &Value,
    headers: &[(&str, &str)],
) -> Option<Response> {
    let stream = TcpStream::connect(address).await.ok()?;
    raw::exchange(stream, &raw::message(&address.to_string(), body, headers)).await
}

/// A call of a tool by a client of the 2026 protocol that nobody sits at. Gives the result.
pub(crate) async fn call(address: SocketAddr, tool: &str, arguments: &Value) -> Option<Value> {
    let params = json!({"name": tool, "arguments": arguments});
    let request = raw::stateless(
        &address.to_string(),
        ("tools/call", params),
        (&json!({}), &json!({})),
        &[],
    );
    let stream = TcpStream::connect(address).await.ok()?;
    let answer = raw::exchange(stream, &request).await?;
    Some(answer.whole_message()?["result"].clone())
}
