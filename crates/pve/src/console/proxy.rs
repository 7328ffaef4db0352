//! Asking PVE for a console: a proxy that waits on a port of the node for ten seconds, and the websocket that leads there.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::Deserialize;

use crate::client::{Client, Socket};
use crate::error::Error;
use crate::guest::GuestRef;
use crate::lenient;
use crate::request::{Request, Value};

/// What PVE answers when it opens a proxy.
#[derive(Debug, Deserialize)]
pub(super) struct Proxy {
    #[serde(deserialize_with = "lenient::text")]
    port: String,
    /// Whom the ticket is for.
    #[serde(default)]
    pub(super) user: String,
    pub(super) ticket: SecretString,
    /// What the VNC server wants to know; absent unless it was asked for.
    pub(super) password: Option<SecretString>,
}

impl Proxy {
    /// The request that turns into the websocket.
    fn socket(&self, at: &GuestRef) -> Request {
        const TICKET: &str = "vncticket";
        let secrets = BTreeMap::from([(TICKET.to_owned(), self.ticket.clone())]);
        Request::get(at.path("vncwebsocket"))
            .with("port", self.port.clone())
            .with(TICKET, Value::Hole(TICKET.to_owned()))
            .fill(&secrets)
    }
}

/// What opens the way to a VM's display.
pub fn display_request(at: &GuestRef) -> Request {
    Request::post(at.path("vncproxy"))
        .with("websocket", true)
        .with("generate-password", true)
}

/// Opens the way to a VM's display.
pub(super) async fn display(client: &Client, at: &GuestRef) -> Result<(Proxy, Socket), Error> {
    client
        .socket(&display_request(at), |proxy: &Proxy| proxy.socket(at))
        .await
}

/// What opens the way to a terminal: inside a container, or at the first serial port of a VM.
pub fn terminal_request(at: &GuestRef) -> Request {
    Request::post(at.path("termproxy"))
}

/// Opens the way to a terminal.
pub(super) async fn terminal(client: &Client, at: &GuestRef) -> Result<(Proxy, Socket), Error> {
    client
        .socket(&terminal_request(at), |proxy: &Proxy| proxy.socket(at))
        .await
}
