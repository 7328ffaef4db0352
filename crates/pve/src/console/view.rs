//! Watching a VM's screen. Nothing here sends input.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};

use super::proxy;
use super::rfb::{Message, Rfb};
use super::screen::{Area, Screen};
use crate::client::Socket;
use crate::error::Error;
use crate::guest::GuestRef;
use crate::reader::Reader;

/// A change within one letter, or no higher than an underline, is a blinking cursor: it says nothing about whether the
/// screen is still being painted. A letter that was typed moves the cursor too, and makes two.
const LETTER: (usize, usize) = (12, 32);
const UNDERLINE: (usize, usize) = (32, 4);

/// An open view of a VM's screen.
///
/// ```compile_fail
/// async fn press(mut view: pve::console::ScreenView) { // a `Keyboard` can
///     view.press(&[], std::time::Duration::ZERO).await;
/// }
/// ```
#[derive(Debug)]
pub struct ScreenView {
    watch: Watch<Socket>,
}

/// What a view does, over any stream.
#[derive(Debug)]
struct Watch<S> {
    rfb: Rfb<S>,
    /// The screen has another size, and nothing was painted since.
    is_blank: bool,
}

/// How a screen ended up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It stood still, but perhaps for a cursor.
    Still,
    /// It went on changing until the time was over.
    Changing,
}

impl Reader {
    /// Opens a view of a VM's screen and waits for the whole picture. The VM must be running: for a stopped one PVE
    /// opens a console that closes at once.
    ///
    /// It sends a POST, because PVE opens consoles by one; nothing of the VM is changed.
    pub async fn watch_screen(&self, at: &GuestRef, limit: Duration) -> Result<ScreenView, Error> {
        let deadline = Instant::now() + limit;
        let opening = async {
            let (proxy, socket) = proxy::display(self.client(), at).await?;
            let secret = proxy.password.as_ref().unwrap_or(&proxy.ticket);
            let watch = Watch::open(Rfb::open(socket, secret).await?).await?;
            Ok(ScreenView { watch })
        };
        timeout_at(deadline, opening)
            .await
            .unwrap_or_else(|_| Err(super::broken(format!("no picture came within {limit:?}"))))
    }
}

impl ScreenView {
    /// What the screen shows, as far as it was told.
    pub fn screen(&self) -> &Screen {
        self.watch.rfb.screen()
    }

    /// Waits until the screen changes by more than a cursor; the part that did, or `None` if it did not in time.
    pub async fn change(&mut self, limit: Duration) -> Result<Option<Area>, Error> {
        self.watch.change(limit).await
    }

    /// Waits until the screen has not changed by more than a cursor for a while, or the time is over.
    pub async fn settle(&mut self, quiet: Duration, limit: Duration) -> Result<Settled, Error> {
        self.watch.settle(quiet, limit).await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Watch<S> {
    /// Asks for the whole picture and waits for it.
    async fn open(mut rfb: Rfb<S>) -> Result<Self, Error> {
        rfb.request(false).await?;
        let mut watch = Self {
            rfb,
            is_blank: true,
        };
        while watch.is_blank {
            watch.take().await?;
        }
        Ok(watch)
    }

    async fn change(&mut self, limit: Duration) -> Result<Option<Area>, Error> {
        let deadline = Instant::now() + limit;
        let before = self.rfb.screen().clone();
        loop {
            if !self.painted(deadline).await? {
                return Ok(None);
            }
            if let Some(area) = self.rfb.screen().difference(&before)
                && is_more_than_a_cursor(area)
                && !self.is_blank
            {
                return Ok(Some(area));
            }
        }
    }

    async fn settle(&mut self, quiet: Duration, limit: Duration) -> Result<Settled, Error> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.change(quiet.min(left)).await?.is_some() {
                continue;
            }
            if left < quiet {
                return Ok(Settled::Changing);
            }
            // A screen of another size is black until it is painted, however long that takes.
            if !self.is_blank {
                return Ok(Settled::Still);
            }
        }
    }

    /// Takes in one message; false if none began in time.
    async fn painted(&mut self, deadline: Instant) -> Result<bool, Error> {
        if !self.rfb.begins_by(deadline).await? {
            return Ok(false);
        }
        self.take().await?;
        Ok(true)
    }

    /// Takes in the next message, and asks for what comes after it.
    async fn take(&mut self) -> Result<(), Error> {
        match self.rfb.next().await? {
            Message::Update => {
                self.is_blank = false;
                self.rfb.request(true).await
            }
            Message::Resized => {
                self.is_blank = true;
                self.rfb.request(false).await
            }
            Message::TakesKeys | Message::Other => Ok(()),
        }
    }
}

fn is_more_than_a_cursor(area: Area) -> bool {
    let fits = |most: (usize, usize)| area.width <= most.0 && area.height <= most.1;
    !fits(LETTER) && !fits(UNDERLINE)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// What a server without a password says up to its first update, for a screen of 40 by 2 pixels.
    const OPENING: &[u8] =
        b"RFB 003.008\n\x01\x01\0\0\0\0\0\x28\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    /// An update of one rectangle at the top left.
    fn update(width: u8, height: u8, encoding: i32, pixels: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 1, 0, 0, 0, 0, 0, width, 0, height];
        bytes.extend(encoding.to_be_bytes());
        bytes.extend(pixels);
        bytes
    }

    #[tokio::test]
    async fn a_screen_of_another_size_counts_once_it_is_painted() {
        const NEW_SIZE: i32 = -223;
        let (soon, at_last) = (Duration::from_millis(20), Duration::from_secs(20));
        let (client, mut server) = tokio::io::duplex(64 * 1024);
        let first = update(40, 2, 0, &[7; 320]);
        server.write_all(&[OPENING, &first].concat()).await.unwrap();
        let secret = String::new().into();
        let rfb = Rfb::open(client, &secret).await.unwrap();
        let mut watch = Watch::open(rfb).await.unwrap();
        assert_eq!(watch.settle(soon, at_last).await.unwrap(), Settled::Still);
        let resized = update(50, 3, NEW_SIZE, &[]);
        server.write_all(&resized).await.unwrap();
        assert_eq!(watch.change(soon).await.unwrap(), None, "it is black");
        let settled = watch.settle(soon, soon * 3).await.unwrap();
        assert_eq!(settled, Settled::Changing);
        let painted = update(50, 3, 0, &[9; 600]);
        server.write_all(&painted).await.unwrap();
        assert_eq!(watch.settle(soon, at_last).await.unwrap(), Settled::Still);
        assert_eq!(watch.rfb.screen().row(2), [[9; 3]; 50]);
        // Size and pixels in one message, and the whole picture after that.
        let mut both = update(40, 2, NEW_SIZE, &[]);
        both[3] = 2;
        both.extend(&first[4..]);
        both.extend(&first);
        server.write_all(&both).await.unwrap();
        let changed = watch.change(at_last).await.unwrap();
        assert_eq!(changed.map(|area| area.width), Some(40));
    }

    #[test]
    fn a_cursor_is_told_from_what_matters() {
        let area = |width, height| Area {
            x: 0,
            y: 0,
            width,
            height,
        };
        for (width, height) in [(8, 16), (9, 2), (9, 16), (16, 2)] {
            assert!(
                !is_more_than_a_cursor(area(width, height)),
                "{width}x{height}"
            );
        }
        // A letter and the cursor behind it; a mark that moves down a menu; a line.
        for (width, height) in [(18, 16), (16, 16), (8, 80), (720, 16)] {
            assert!(
                is_more_than_a_cursor(area(width, height)),
                "{width}x{height}"
            );
        }
    }
}
