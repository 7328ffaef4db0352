//! Terminals as text: inside a container, or at a VM's serial port.
//!
//! PVE's terminal proxy wants a line with user and ticket first, and takes no API token for a user (measured: it answers
//! the request for one, and hangs up). What the terminal writes then comes as it is; what is typed goes out in packets.

#[cfg(any(test, fuzzing))]
pub(super) mod fuzzing;
mod grid;
mod line;
mod packet;
mod program;
mod row;
mod sequences;
mod stands;
#[cfg(test)]
mod tests;
mod text;

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use self::line::Line;
use super::{broken, proxy};
use crate::client::{Client, Socket};
use crate::error::Error;
use crate::guest::GuestRef;
use crate::reader::Reader;
use crate::settings::Credentials;
use crate::writer::Writer;

pub use self::line::{Until, Waited};
pub use self::program::{Program, Ran};
pub use self::stands::Stands;
pub use self::text::TerminalScreen;

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Across.
    pub columns: u16,
    /// Down.
    pub rows: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self {
            columns: 120,
            rows: 40,
        }
    }
}

/// An open view of a terminal.
///
/// ```compile_fail
/// async fn send(mut view: pve::console::TerminalView) {
///     view.send(b"reboot\r").await;
/// }
/// ```
#[derive(Debug)]
pub struct TerminalView {
    line: Line<Socket>,
}

/// An open terminal on which can be typed.
#[derive(Debug)]
pub struct Terminal {
    line: Line<Socket>,
}

impl Reader {
    /// Opens a view of a terminal. Nothing is typed: it sends who we are, and the size, which makes the programs that
    /// know about sizes draw themselves again. What was written before and is not drawn again stays unseen; a serial
    /// port keeps nothing at all.
    pub async fn watch_terminal(
        &self,
        at: &GuestRef,
        size: Size,
        limit: Duration,
    ) -> Result<TerminalView, Error> {
        let line = open(self.client(), at, size, limit).await?;
        Ok(TerminalView { line })
    }

    /// Whether we log in with a password, as terminals want it; with an API token none opens.
    pub fn opens_terminals(&self) -> bool {
        opens_terminals(self.client())
    }
}

impl Writer {
    /// Opens a terminal to type on. Nothing is typed yet: an error here means that nothing was.
    pub async fn terminal(
        &self,
        at: &GuestRef,
        size: Size,
        limit: Duration,
    ) -> Result<Terminal, Error> {
        let line = open(self.client(), at, size, limit).await?;
        Ok(Terminal { line })
    }
}

impl TerminalView {
    /// What the terminal shows, as far as it was told.
    pub fn screen(&self) -> &TerminalScreen {
        self.line.screen()
    }

    /// Waits for something to be there, or for the terminal to be quiet.
    pub async fn wait(&mut self, until: &Until, limit: Duration) -> Result<Waited, Error> {
        self.line.wait(until, limit).await
    }
}

impl Terminal {
    /// What the terminal shows, as far as it was told.
    pub fn screen(&self) -> &TerminalScreen {
        self.line.screen()
    }

    /// What has come since something was last sent.
    pub fn news(&self) -> &TerminalScreen {
        self.line.news()
    }

    /// The bytes that have come since something was last sent.
    pub fn raw_news(&self) -> &[u8] {
        self.line.raw_news()
    }

    /// Whether there was too much news to keep: the middle of it is missing then.
    pub fn lost_news(&self) -> bool {
        self.line.lost_news()
    }

    /// Types. What comes from then on is news.
    pub async fn send(&mut self, typed: &[u8]) -> Result<(), Error> {
        self.line.send(typed).await
    }

    /// Waits for something to be among the news, or for the terminal to be quiet.
    pub async fn wait(&mut self, until: &Until, limit: Duration) -> Result<Waited, Error> {
        self.line.wait(until, limit).await
    }
}

fn opens_terminals(client: &Client) -> bool {
    !matches!(client.settings().credentials, Credentials::Token { .. })
}

async fn open(
    client: &Client,
    at: &GuestRef,
    size: Size,
    limit: Duration,
) -> Result<Line<Socket>, Error> {
    if !opens_terminals(client) {
        return Err(Error::Build {
            what: NO_TOKENS.to_owned(),
        });
    }
    let opening = async {
        let (proxy, socket) = proxy::terminal(client, at).await?;
        Line::open(socket, (&proxy.user, &proxy.ticket), size).await
    };
    timeout_at(Instant::now() + limit, opening)
        .await
        .unwrap_or_else(|_| Err(broken(format!("it did not open within {limit:?}"))))
}

/// Why nothing is even tried with a token.
const NO_TOKENS: &str = "PVE lets no API token into a terminal, only a user who logs in with a password; \
    configure this cluster with user and password_file, password_env or password_command instead of token, or with \
    PROXMOX_USER and PROXMOX_PASSWORD";
