//! A connection whose other end has to take what it is sent: who never reads their answers would hold a place for ever.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Breaks when a write waits too long. As long as nothing is to be written, as on a quiet stream of events, nothing waits.
pub(super) struct Impatient<S> {
    stream: S,
    patience: Duration,
    /// Since the write that waits began to.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waits: None,
        }
    }

    /// What became of a write, if that was not awaited for too long.
    fn in_time(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let patience = self.patience;
        let new = || Box::pin(tokio::time::sleep(patience));
        let waits = self.waits.get_or_insert_with(new);
        let nobody_reads = |()| Err(io::ErrorKind::TimedOut.into());
        waits.as_mut().poll(cx).map(nobody_reads)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

/// Flushes are not counted: below TLS there is nothing but the system, to which all was handed by then.
impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.in_time(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_write_that_nobody_takes_breaks() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let mut ours = Impatient::new(ours, PATIENCE);
        ours.write_all(b"12345678").await.unwrap();
        let broken = ours.write_all(b"9").await.unwrap_err();
        assert_eq!(broken.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn silence_and_what_was_taken_count_for_nothing() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut ours = Impatient::new(ours, PATIENCE);
        for _ in 0..3 {
            let sends = ours.write_all(b"12345678and more");
            let mut taken = [0; 16];
            let (sent, read) = tokio::join!(sends, theirs.read_exact(&mut taken));
            sent.unwrap();
            read.unwrap();
            tokio::time::sleep(2 * PATIENCE).await;
        }
    }
}
