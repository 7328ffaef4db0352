//! RFB 3.8, the protocol of VNC, as QEMU speaks it: the opening, the messages of the server, the few of the client.
//!
//! Generic over the stream, so that tests feed it bytes. Whatever the server says is held against the screen's size and
//! the bounds here before anything is kept; what does not fit is an error.
//!
//! Written here and not taken from a crate: the ready-made clients trust the sizes they are sent, want a task of their
//! own, and none keeps watching and pressing apart.

#[cfg(any(test, fuzzing))]
pub(super) mod fuzzing;
mod open;
mod password;
#[cfg(test)]
mod tests;
mod update;
mod zrle;

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::{Instant, timeout, timeout_at};

use super::screen::Screen;
use super::{broken, ended};
use crate::error::Error;
use zrle::Inflater;

/// A clipboard text longer than this is not skipped but refused.
const MAX_SKIP: u32 = 1024 * 1024;

/// A message that has begun must end within this time.
const MAX_MESSAGE: Duration = Duration::from_secs(15);

/// How pixels come: raw, copied from elsewhere on the screen, or ZRLE.
const RAW: i32 = 0;
const COPY_RECT: i32 = 1;
const ZRLE: i32 = 16;
/// Announcements in the form of a rectangle: a new size, and that keys may be sent by their scan codes.
const DESKTOP_SIZE: i32 = -223;
const EXTENDED_KEYS: i32 = -258;
/// That we know the lights of the keyboard: then QEMU does not press Caps Lock of its own accord where a letter and the
/// shift key do not agree.
const LIGHTS: i32 = -261;

/// One open connection to a VNC server, and the screen as it has told it so far.
#[derive(Debug)]
pub(super) struct Rfb<S> {
    stream: BufReader<S>,
    screen: Screen,
    inflater: Inflater,
}

/// A message of the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The screen was painted, in whole or in part.
    Update,
    /// The screen has another size, and is black until it is painted anew.
    Resized,
    /// Keys may be sent by their scan codes. QEMU says so whenever it is told what we understand.
    TakesKeys,
    /// Something that does not concern the screen.
    Other,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Rfb<S> {
    /// What the screen shows, as far as it was told.
    pub(super) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Asks for the whole screen, or for what changes from now on.
    pub(super) async fn request(&mut self, only_changes: bool) -> Result<(), Error> {
        let size = |pixels: usize| u16::try_from(pixels).unwrap_or(u16::MAX).to_be_bytes();
        let ([w1, w2], [h1, h2]) = (size(self.screen.width()), size(self.screen.height()));
        self.send(&[3, u8::from(only_changes), 0, 0, 0, 0, w1, w2, h1, h2])
            .await
    }

    /// Whether a message begins before the deadline. May be dropped.
    pub(super) async fn begins_by(&mut self, deadline: Instant) -> Result<bool, Error> {
        // A timeout looks at the bytes before it looks at the clock; a server that never pauses would win.
        if Instant::now() >= deadline {
            return Ok(false);
        }
        match timeout_at(deadline, self.stream.fill_buf()).await {
            Err(_) => Ok(false),
            Ok(Ok(bytes)) if !bytes.is_empty() => Ok(true),
            Ok(Ok(_)) => Err(broken("it closed")),
            Ok(Err(error)) => Err(ended(error)),
        }
    }

    /// Reads the next message and paints what it brings. Not to be dropped half-way: the stream would be out of step.
    pub(super) async fn next(&mut self) -> Result<Message, Error> {
        timeout(MAX_MESSAGE, self.message())
            .await
            .unwrap_or_else(|_| Err(broken("a message did not end")))
    }

    async fn message(&mut self) -> Result<Message, Error> {
        match self.u8().await? {
            0 => self.update().await,
            // Colours of a palette, which our pixel format has not.
            1 => {
                let [_, _, _, high, low] = self.bytes().await?;
                let count = u32::from(u16::from_be_bytes([high, low]));
                self.skip(count * 6).await?;
                Ok(Message::Other)
            }
            // A bell.
            2 => Ok(Message::Other),
            // The guest's clipboard.
            3 => {
                self.skip(3).await?;
                let length = self.u32().await?;
                self.skip(length).await?;
                Ok(Message::Other)
            }
            kind => Err(broken(format!("message {kind} is not known"))),
        }
    }

    /// Tells in which form we want pixels, and what we understand.
    pub(super) async fn prefer(&mut self) -> Result<(), Error> {
        self.send(&open::preferences()).await
    }

    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.stream.write_all(bytes).await.map_err(ended)?;
        self.stream.flush().await.map_err(ended)
    }

    async fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        bytes(&mut self.stream).await
    }

    async fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.bytes::<1>().await?[0])
    }

    async fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_be_bytes(self.bytes().await?))
    }

    async fn skip(&mut self, count: u32) -> Result<(), Error> {
        if count > MAX_SKIP {
            return Err(broken(format!("a message of {count} bytes is too long")));
        }
        let mut rest = (&mut self.stream).take(u64::from(count));
        let skipped = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
        match skipped {
            Ok(read) if read == u64::from(count) => Ok(()),
            Ok(_) => Err(broken("it closed")),
            Err(error) => Err(ended(error)),
        }
    }
}

/// So many bytes, or that there are no more.
async fn bytes<const N: usize>(stream: &mut (impl AsyncRead + Unpin)) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    match stream.read_exact(&mut bytes).await {
        Ok(_) => Ok(bytes),
        Err(error) => Err(ended(error)),
    }
}
