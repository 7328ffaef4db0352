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

/// Bytes that wait to be sent: what is typed, and answers to pings. A node that pings and does not read what comes back gets
/// no more answers than fit.
const MAX_UNSENT: usize = 256 * 1024;
/// Bytes after which what waits is sent at once.
const SENT_AT: usize = 16 * 1024;
/// Control frames (ping, pong) without data between them, after which the console is given up. PVE sends one in a while.
const MAX_CONTROL: u32 = 1_000;

/// More control frames than a console has any use for.
#[derive(Debug, thiserror::Error)]
#[error("the node sends websocket control frames and no data")]
pub(crate) struct ControlFlood;

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
pub(crate) struct Socket<S = TokioIo<Upgraded>> {
    messages: WebSocketStream<S>,
    /// What came and was not read yet.
    pending: Bytes,
    /// Control frames since the last data.
    control: u32,
}

impl Socket {
    pub(super) async fn new(upgraded: Upgraded) -> Self {
        Self::over(TokioIo::new(upgraded)).await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    async fn over(stream: S) -> Self {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE))
            .write_buffer_size(SENT_AT)
            .max_write_buffer_size(MAX_UNSENT);
        Self {
            messages: WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await,
            pending: Bytes::new(),
            control: 0,
        }
    }
}

/// Without the bytes: they may be what somebody typed.
impl<S> fmt::Debug for Socket<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Socket")
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Socket<S> {
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
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {
                    self.control += 1;
                    if self.control >= MAX_CONTROL {
                        return Poll::Ready(Err(io::Error::other(ControlFlood)));
                    }
                }
                Some(Ok(Message::Close(_))) | None => return Poll::Ready(Ok(())),
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
            }
        }
        self.control = 0;
        let fits = self.pending.len().min(buffer.remaining());
        buffer.put_slice(&self.pending.split_to(fits));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Socket<S> {
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    const PING: [u8; 127] = {
        let mut frame = [0; 127];
        frame[0] = 0x89;
        frame[1] = 125;
        frame
    };
    const DATA: [u8; 3] = [0x82, 1, b'x'];

    async fn pair() -> (Socket<DuplexStream>, DuplexStream) {
        let (near, far) = tokio::io::duplex(1024);
        (Socket::over(near).await, far)
    }

    #[tokio::test]
    async fn control_frames_without_data_end_the_console() {
        let (mut socket, mut node) = pair().await;
        let flood = tokio::spawn(async move {
            // Until the other side gives up.
            while node.write_all(&PING).await.is_ok() {}
        });
        let error = socket.read_u8().await.unwrap_err();
        assert!(error.to_string().contains("control frames"), "{error}");
        drop(socket);
        flood.await.unwrap();
    }

    #[tokio::test]
    async fn node_that_reads_nothing_is_sent_a_bounded_number_of_pongs() {
        let (mut socket, mut node) = pair().await;
        // Data comes now and then, so that the console goes on.
        let flood = tokio::spawn(async move {
            for _ in 0..200 {
                node.write_all(&PING.repeat(100)).await.unwrap();
                node.write_all(&DATA).await.unwrap();
            }
            node
        });
        for _ in 0..200 {
            assert_eq!(socket.read_u8().await.unwrap(), b'x');
        }
        let mut node = flood.await.unwrap();
        let all = tokio::spawn(async move {
            let mut answers = Vec::new();
            node.read_to_end(&mut answers).await.unwrap();
            answers.len()
        });
        socket.flush().await.unwrap();
        drop(socket);
        let sent = all.await.unwrap();
        assert!(sent > 0 && sent <= MAX_UNSENT + 4 * 1024, "{sent}");
    }
}
