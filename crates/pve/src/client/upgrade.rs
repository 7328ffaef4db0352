//! A connection that becomes a websocket: the same host, TLS and credentials as every request.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

use futures_util::{Sink, Stream};
use hyper::body::Bytes;
use hyper::header::{CONNECTION, HeaderName, HeaderValue, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::{client::generate_key, derive_accept_key};
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

const ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");
const KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const PROTOCOL: HeaderName = HeaderName::from_static("sec-websocket-protocol");
const VERSION: HeaderName = HeaderName::from_static("sec-websocket-version");

/// PVE passes on what it reads from the other side, 256 KiB at most; a message far larger is not PVE's.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;

/// The headers that ask for a websocket, and what the server must answer to prove that it understood.
pub(super) struct Offer {
    key: String,
}

impl Offer {
    pub(super) fn new() -> Self {
        Self {
            key: generate_key(),
        }
    }

    pub(super) fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let key = HeaderValue::from_str(&self.key);
        let fixed = [
            (CONNECTION, "Upgrade"),
            (UPGRADE, "websocket"),
            (VERSION, "13"),
            (PROTOCOL, "binary"),
        ];
        let fixed = fixed.map(|(name, value)| (name, HeaderValue::from_static(value)));
        // A key is base64, which is always a header value.
        fixed
            .into_iter()
            .chain(key.ok().map(|key| (KEY, key)))
            .collect()
    }

    pub(super) fn is_accepted_by(&self, response: &hyper::HeaderMap) -> bool {
        let expected = derive_accept_key(self.key.as_bytes());
        let answer = response.get(ACCEPT);
        answer.is_some_and(|answer| answer.as_bytes() == expected.as_bytes())
    }
}

/// The bytes that run through a websocket; where messages begin and end means nothing to what is spoken over it.
pub(crate) struct Socket {
    messages: WebSocketStream<TokioIo<Upgraded>>,
    /// What came and was not read yet.
    pending: Bytes,
}

impl Socket {
    pub(super) async fn new(upgraded: Upgraded) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let stream = TokioIo::new(upgraded);
        Self {
            messages: WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await,
            pending: Bytes::new(),
        }
    }
}

/// Without the bytes: they may be what somebody typed.
impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Socket")
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.pending.is_empty() {
            match ready!(Pin::new(&mut self.messages).poll_next(cx)) {
                Some(Ok(Message::Binary(bytes))) => self.pending = bytes,
                Some(Ok(Message::Text(text))) => self.pending = text.into(),
                // Pings are answered underneath.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Poll::Ready(Ok(())),
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
            }
        }
        let fits = self.pending.len().min(buffer.remaining());
        buffer.put_slice(&self.pending.split_to(fits));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut messages = Pin::new(&mut self.messages);
        ready!(messages.as_mut().poll_ready(cx)).map_err(io::Error::other)?;
        let message = Message::Binary(Bytes::copy_from_slice(bytes));
        messages.start_send(message).map_err(io::Error::other)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.messages).poll_flush(cx));
        Poll::Ready(flushed.map_err(io::Error::other))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = ready!(Pin::new(&mut self.messages).poll_close(cx));
        Poll::Ready(closed.map_err(io::Error::other))
    }
}
