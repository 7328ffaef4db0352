//! Pressing keys on a VM's console.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::rfb::{Message, Rfb};
use super::{broken, proxy};
use crate::client::Socket;
use crate::error::Error;
use crate::guest::GuestRef;
use crate::writer::Writer;

/// One key, both by its place on the keyboard and by what it means: QEMU goes by the place, unless the VM was started
/// with a keyboard layout, when it goes by the meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The code of a PC keyboard's key (set 1); those with the prefix 0xe0 have 0x80 set instead.
    pub scan_code: u8,
    /// X's number for what the key means.
    pub symbol: u32,
}

/// An open way to press keys.
#[derive(Debug)]
pub struct Keyboard {
    rfb: Rfb<Socket>,
}

impl Writer {
    /// Opens a VM's keyboard. Nothing is pressed yet: an error here means that no key has left.
    pub async fn keyboard(&self, at: &GuestRef, limit: Duration) -> Result<Keyboard, Error> {
        let opening = async {
            let (proxy, socket) = proxy::display(self.client(), at).await?;
            let secret = proxy.password.as_ref().unwrap_or(&proxy.ticket);
            let rfb = Rfb::open(socket, secret).await?;
            let mut keyboard = Keyboard { rfb };
            keyboard.heard().await?;
            Ok(keyboard)
        };
        timeout_at(Instant::now() + limit, opening)
            .await
            .unwrap_or_else(|_| Err(broken(format!("it did not open within {limit:?}"))))
    }
}

impl Keyboard {
    /// Presses keys one after the other, holds them together, and releases them in reverse.
    pub async fn press(&mut self, keys: &[Key], hold: Duration) -> Result<(), Error> {
        for key in keys {
            self.event(*key, true).await?;
        }
        sleep(hold).await;
        for key in keys.iter().rev() {
            self.event(*key, false).await?;
        }
        Ok(())
    }

    /// Waits until the VM's console has taken every key so far.
    pub async fn taken(&mut self, limit: Duration) -> Result<(), Error> {
        let asking = async {
            // QEMU answers this at once, and what came before it, it has taken by then.
            self.rfb.prefer().await?;
            self.heard().await
        };
        timeout_at(Instant::now() + limit, asking)
            .await
            .unwrap_or_else(|_| Err(broken("it does not say whether it took the keys")))
    }

    async fn heard(&mut self) -> Result<(), Error> {
        while self.rfb.next().await? != Message::TakesKeys {}
        Ok(())
    }

    async fn event(&mut self, key: Key, down: bool) -> Result<(), Error> {
        let mut message = [0; 12];
        message[0] = 255;
        message[3] = u8::from(down);
        message[4..8].copy_from_slice(&key.symbol.to_be_bytes());
        message[11] = key.scan_code;
        self.rfb.send(&message).await
    }
}
