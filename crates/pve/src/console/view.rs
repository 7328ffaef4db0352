//! Watching a VM's screen. Nothing here sends input.

use std::time::Duration;

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
    rfb: Rfb<Socket>,
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
            let mut rfb = Rfb::open(socket, secret).await?;
            rfb.request(false).await?;
            let mut view = ScreenView { rfb };
            while view.take().await? != Message::Update {}
            Ok(view)
        };
        timeout_at(deadline, opening)
            .await
            .unwrap_or_else(|_| Err(super::broken(format!("no picture came within {limit:?}"))))
    }
}

impl ScreenView {
    /// What the screen shows, as far as it was told.
    pub fn screen(&self) -> &Screen {
        self.rfb.screen()
    }

    /// Waits until the screen changes by more than a cursor; the part that did, or `None` if it did not in time.
    pub async fn change(&mut self, limit: Duration) -> Result<Option<Area>, Error> {
        let deadline = Instant::now() + limit;
        let before = self.screen().clone();
        loop {
            if !self.painted(deadline).await? {
                return Ok(None);
            }
            if let Some(area) = self.screen().difference(&before)
                && is_more_than_a_cursor(area)
            {
                return Ok(Some(area));
            }
        }
    }

    /// Waits until the screen has not changed by more than a cursor for a while, or the time is over.
    pub async fn settle(&mut self, quiet: Duration, limit: Duration) -> Result<Settled, Error> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.change(quiet.min(left)).await?.is_none() {
                return Ok(if quiet <= left {
                    Settled::Still
                } else {
                    Settled::Changing
                });
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
    async fn take(&mut self) -> Result<Message, Error> {
        let message = self.rfb.next().await?;
        match message {
            Message::Update => self.rfb.request(true).await?,
            Message::Resized => self.rfb.request(false).await?,
            Message::TakesKeys | Message::Other => {}
        }
        Ok(message)
    }
}

fn is_more_than_a_cursor(area: Area) -> bool {
    let fits = |most: (usize, usize)| area.width <= most.0 && area.height <= most.1;
    !fits(LETTER) && !fits(UNDERLINE)
}

#[cfg(test)]
mod tests {
    use super::*;

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
