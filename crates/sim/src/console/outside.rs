//! Displays from elsewhere: a client is joined to a real VNC server, and QEMU's monitor is told the password before, as
//! PVE does it.

use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{End, lock};
use crate::cluster::Cluster;
use crate::http::websocket::Line;
use crate::world::guest::Guest;
use crate::world::outside::{Order, Outside};

/// How long a password lets clients in, as PVE has it.
const PASSWORD_LIFE: &str = "+30";

/// Passes bytes until one side leaves, or the machine stops.
pub(super) async fn relay(
    line: &mut Line,
    outside: &Outside,
    password: &str,
    (vmid, cluster): (u32, &Mutex<Cluster>),
) -> End {
    let opened = async {
        outside.set_password(password).await?;
        let stream = TcpStream::connect(outside.vnc()).await;
        stream.map_err(|error| error.to_string())
    };
    let mut stream = match opened.await {
        Ok(stream) => stream,
        Err(text) => {
            return End {
                line: Some(text),
                status: "Failed to run vncproxy.".to_owned(),
            };
        }
    };
    let mut changes = lock(cluster).watch();
    let runs = || {
        let guests = &lock(cluster).world.guests;
        guests.get(&vmid).is_some_and(Guest::is_running)
    };
    let mut buffer = vec![0; 64 * 1024];
    while runs() {
        tokio::select! {
            message = line.receive() => {
                let Some(bytes) = message else { break };
                if stream.write_all(&bytes).await.is_err() {
                    break;
                }
            }
            read = stream.read(&mut buffer) => {
                let Some(count) = read.ok().filter(|count| *count > 0) else { break };
                if line.send(&buffer[..count]).await.is_none() {
                    break;
                }
            }
            _ = changes.changed() => {}
        }
    }
    End::ok()
}

/// QEMU's monitor, in its form for programs.
#[derive(Debug)]
pub(crate) struct Monitor(BufReader<TcpStream>);

impl Monitor {
    /// Connects to a monitor.
    ///
    /// # Errors
    /// When it cannot be reached, or is none.
    pub(crate) async fn connect(address: SocketAddr) -> io::Result<Self> {
        let mut monitor = Self(BufReader::new(TcpStream::connect(address).await?));
        monitor.read().await?;
        monitor.execute("qmp_capabilities", json!({})).await?;
        Ok(monitor)
    }

    /// Carries out orders until nobody can give any more.
    pub(crate) async fn serve(mut self, mut orders: UnboundedReceiver<Order>) {
        while let Some(order) = orders.recv().await {
            match order {
                Order::Keys(keys) => {
                    let line = json!({ "command-line": format!("sendkey {keys}") });
                    // What the machine answers to a key, PVE's caller does not hear either.
                    let _ = self.execute("human-monitor-command", line).await;
                }
                Order::Password(password, done) => {
                    let set = self.set_password(&password).await;
                    // A client that is gone does not want to know.
                    let _ = done.send(set.map_err(|error| error.to_string()));
                }
            }
        }
    }

    async fn set_password(&mut self, password: &str) -> io::Result<()> {
        let new = json!({ "protocol": "vnc", "password": password });
        self.execute("set_password", new).await?;
        let life = json!({ "protocol": "vnc", "time": PASSWORD_LIFE });
        self.execute("expire_password", life).await
    }

    /// Runs a command; events on the way do not count.
    async fn execute(&mut self, command: &str, arguments: Value) -> io::Result<()> {
        let order = json!({ "execute": command, "arguments": arguments });
        let order = format!("{order}\n");
        self.0.get_mut().write_all(order.as_bytes()).await?;
        loop {
            let answer = self.read().await?;
            if let Some(error) = answer["error"]["desc"].as_str() {
                return Err(io::Error::other(error.to_owned()));
            }
            if answer.get("return").is_some() {
                return Ok(());
            }
        }
    }

    async fn read(&mut self) -> io::Result<Value> {
        let mut line = String::new();
        if self.0.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_str(&line)?)
    }
}
