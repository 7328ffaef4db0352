//! Websockets: the step from HTTP to frames, and the bytes in them. PVE joins them to the port of a console without
//! looking into them, and so does [`Line`].

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::Request;
use crate::error::ApiError;

/// The longest frame that PVE sends or takes.
const LONGEST_FRAME: usize = 128 * 1024;

/// What a 101 carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The proof that the key was read.
    pub key: String,
    /// Every protocol that was offered, in one text.
    pub protocol: Option<String>,
}

/// The answer to a request for a websocket; `None` if it asks for none.
///
/// # Errors
/// 500 when the request asks for something else than a websocket of version 13.
pub(crate) fn accept(request: &Request) -> Result<Option<Accepted>, ApiError> {
    let wanted = request.header("upgrade").map(str::to_lowercase);
    let Some(wanted) = wanted.filter(|_| request.method == "GET") else {
        return Ok(None);
    };
    if !request.path().ends_with("websocket") {
        return Ok(None);
    }
    let refuse = |text: String| Err(ApiError::unreadable(500, text));
    if wanted != "websocket" {
        return refuse(format!("unable to upgrade to protocol '{wanted}'\n"));
    }
    let version = request.header("sec-websocket-version").unwrap_or_default();
    if version != "13" {
        return refuse(format!("unsupported websocket-version '{version}'\n"));
    }
    let Some(key) = request.header("sec-websocket-key") else {
        return refuse("missing websocket-key\n".to_owned());
    };
    Ok(Some(Accepted {
        key: derive_accept_key(key.as_bytes()),
        protocol: request.header("sec-websocket-protocol").map(str::to_owned),
    }))
}

/// The bytes of a websocket. How they are cut into frames means nothing.
#[derive(Debug)]
pub(crate) struct Line(WebSocketStream<TokioIo<Upgraded>>);

impl Line {
    /// A connection that has just answered 101.
    pub(crate) async fn new(stream: Upgraded) -> Self {
        let limits = WebSocketConfig::default()
            .max_message_size(Some(LONGEST_FRAME))
            .max_frame_size(Some(LONGEST_FRAME));
        let stream = TokioIo::new(stream);
        Self(WebSocketStream::from_raw_socket(stream, Role::Server, Some(limits)).await)
    }

    /// What the client sends next; `None` once it has left. May be dropped while it waits.
    pub(crate) async fn receive(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.0.next().await?.ok()? {
                Message::Binary(bytes) => return Some(bytes.to_vec()),
                Message::Text(text) => return Some(text.as_bytes().to_vec()),
                Message::Close(_) => return None,
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Sends bytes; `None` if the client has left.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Option<()> {
        for frame in bytes.chunks(LONGEST_FRAME) {
            let frame = Message::binary(frame.to_vec());
            self.0.feed(frame).await.ok()?;
        }
        self.0.flush().await.ok()
    }

    /// Ends the connection as PVE does: without a closing frame.
    pub(crate) async fn hang_up(mut self) {
        // An error here is a client that is gone already.
        let _ = self.0.get_mut().shutdown().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&str, &str)]) -> Result<Option<Accepted>, ApiError> {
        let headers = headers.iter();
        accept(&Request {
            method: "GET".to_owned(),
            target: "/api2/json/nodes/pve1/qemu/100/vncwebsocket?port=5900".to_owned(),
            headers: headers
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect(),
            ..Request::default()
        })
    }

    #[test]
    fn the_key_is_answered_and_every_protocol_is_fine() {
        let sample = [
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("sec-websocket-protocol", "binary, base64"),
        ];
        let accepted = asked(&sample).expect("no error").expect("accepted");
        assert_eq!(accepted.key, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(accepted.protocol.as_deref(), Some("binary, base64"));
        assert_eq!(asked(&[]), Ok(None));
    }

    #[test]
    fn what_is_no_websocket_is_refused() {
        let refused = |headers: &[(&str, &str)]| asked(headers).expect_err("refused").message;
        let text = refused(&[("upgrade", "h2c")]);
        assert_eq!(text, "unable to upgrade to protocol 'h2c'\n");
        let old = [("upgrade", "websocket"), ("sec-websocket-version", "8")];
        assert_eq!(refused(&old), "unsupported websocket-version '8'\n");
        let bare = [("upgrade", "websocket"), ("sec-websocket-version", "13")];
        assert_eq!(refused(&bare), "missing websocket-key\n");
    }
}
