//! The connection to a terminal. Generic over the stream, so that tests feed it bytes.

use std::fmt;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::text::TerminalScreen;
use super::{Size, packet};
use crate::console::broken;
use crate::error::Error;

/// How often the proxy is told that we are still there.
const STILL_THERE: Duration = Duration::from_secs(30);
/// News beyond this is kept in part: its beginning and its end.
pub(super) const MOST_NEWS: usize = 512 * 1024;
const NEWS_HEAD: usize = 256 * 1024;
const NEWS_TAIL: usize = 64 * 1024;

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// This text has come, other than as the echo of what was sent.
    Text(String),
    /// These bytes have come, wherever they would be shown, and the line that they are in has ended.
    Line(Vec<u8>),
    /// Nothing has come for so long.
    Quiet(Duration),
}

/// How waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// What was waited for is there.
    Found,
    /// It did not come in time.
    TimeUp,
    /// The terminal closed.
    Closed,
}

/// A connection on which we were let in.
pub(super) struct Line<S> {
    stream: S,
    size: Size,
    screen: TerminalScreen,
    news: TerminalScreen,
    raw: Vec<u8>,
    /// What was sent last, and comes back from terminals that show what is typed.
    typed: SecretString,
    lost: bool,
    closed: bool,
    buffer: Vec<u8>,
}

/// Without the bytes: they may be what somebody typed.
impl<S> fmt::Debug for Line<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<S> {
    /// Says who we are, waits to be let in, and tells the size.
    pub(super) async fn open(
        stream: S,
        (user, ticket): (&str, &SecretString),
        size: Size,
    ) -> Result<Self, Error> {
        let mut line = Self {
            stream,
            size,
            screen: TerminalScreen::new(size),
            news: TerminalScreen::new(size),
            raw: Vec::new(),
            typed: SecretString::default(),
            lost: false,
            closed: false,
            buffer: vec![0; 16 * 1024],
        };
        line.write(&packet::introduction(user, ticket)).await?;
        let mut welcome = [0; packet::WELCOME.len()];
        let read = line.stream.read_exact(&mut welcome).await;
        if read.is_err() {
            return Err(broken(format!(
                "it closed before it let {user} in, as it does when PVE refuses the ticket"
            )));
        }
        if welcome != packet::WELCOME {
            return Err(broken("what answers there is no terminal"));
        }
        line.write(&packet::size(size)).await?;
        Ok(line)
    }

    pub(super) fn screen(&self) -> &TerminalScreen {
        &self.screen
    }

    pub(super) fn news(&self) -> &TerminalScreen {
        &self.news
    }

    pub(super) fn raw_news(&self) -> &[u8] {
        &self.raw
    }

    pub(super) fn lost_news(&self) -> bool {
        self.lost
    }

    pub(super) async fn send(&mut self, typed: &[u8]) -> Result<(), Error> {
        self.news = TerminalScreen::new(self.size);
        self.raw.clear();
        self.lost = false;
        let line = String::from_utf8_lossy(typed);
        self.typed = line.trim_end_matches(char::is_control).into();
        for packet in packet::typed(typed) {
            self.write(&packet).await?;
        }
        Ok(())
    }

    pub(super) async fn wait(&mut self, until: &Until, limit: Duration) -> Result<Waited, Error> {
        let deadline = Instant::now() + limit;
        let mut heard = Instant::now();
        loop {
            if self.has(until) {
                return Ok(Waited::Found);
            }
            if self.closed {
                return Ok(Waited::Closed);
            }
            let enough = match until {
                Until::Quiet(quiet) => deadline.min(heard + *quiet),
                Until::Text(_) | Until::Line(_) => deadline,
            };
            if Instant::now() >= enough {
                let quiet = matches!(until, Until::Quiet(quiet) if heard + *quiet <= deadline);
                return Ok(if quiet { Waited::Found } else { Waited::TimeUp });
            }
            let rest = enough.min(Instant::now() + STILL_THERE);
            if self.hear(rest).await? {
                heard = Instant::now();
            } else if rest < enough {
                self.write(packet::PING).await?;
            }
        }
    }

    fn has(&self, until: &Until) -> bool {
        match until {
            Until::Text(text) => {
                let news = self.news.written();
                without_echo(&news, self.typed.expose_secret()).any(|part| part.contains(text))
            }
            Until::Line(bytes) => {
                let mut parts = self.raw.windows(bytes.len().max(1));
                let place = parts.position(|part| part == bytes);
                place.is_some_and(|place| self.raw[place..].contains(&b'\n'))
            }
            Until::Quiet(_) => false,
        }
    }

    /// Takes in what comes before the deadline; whether something came.
    async fn hear(&mut self, deadline: Instant) -> Result<bool, Error> {
        let count = match timeout_at(deadline, self.stream.read(&mut self.buffer)).await {
            Err(_) => return Ok(false),
            // PVE ends a terminal without a word of farewell.
            Ok(Err(_) | Ok(0)) => {
                self.closed = true;
                return Ok(true);
            }
            Ok(Ok(count)) => count,
        };
        let bytes = &self.buffer[..count];
        self.screen.take(bytes);
        self.news.take(bytes);
        self.raw.extend(bytes);
        if self.raw.len() > MOST_NEWS {
            self.raw.drain(NEWS_HEAD..self.raw.len() - NEWS_TAIL);
            self.lost = true;
        }
        Ok(true)
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        written.await.map_err(|_| broken("it closed"))
    }
}

/// What has come before and after the echo of what was typed, as far as it has come.
fn without_echo<'a>(news: &'a str, typed: &str) -> impl Iterator<Item = &'a str> {
    let is_whole = !typed.is_empty() && news.contains(typed);
    let (before, after) = if is_whole {
        news.split_once(typed).unwrap_or((news, ""))
    } else {
        // The beginning of the echo, where the news ends.
        let ends = typed.char_indices().map(|(at, c)| at + c.len_utf8());
        let parts = ends.map(|end| typed[..end].trim_end());
        let mut begun = parts
            .filter(|part| !part.is_empty())
            .filter_map(|part| news.trim_end().strip_suffix(part));
        (begun.next_back().unwrap_or(news), "")
    };
    [before, after].into_iter()
}
