//! The doors for fuzzing: each function takes what a hostile server says, as bytes, and lets a decoder have it.
//!
//! They exist under `cfg(fuzzing)`, which `cargo fuzz` sets for the targets in `fuzz/`, and in this crate's own tests,
//! which replay the corpus that is kept there. No other build has them.
//!
//! A decoder passes if it neither panics nor hangs nor takes memory without bounds, and if the rules hold that the
//! functions assert. An error is a fine answer.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, Join, ReadBuf, Sink, join, sink};

pub use crate::apidoc::fuzzing::apidoc;
pub use crate::client::fuzzing::answer;
pub use crate::console::fuzzing::{rfb, terminal, tiles};
pub use crate::guest::fuzzing::properties;
pub use crate::task::fuzzing::upid;

/// A server that says something in pieces, listens to nothing, and hangs up.
pub(crate) type Server<'a> = Join<Pieces<'a>, Sink>;

/// Bytes that come in pieces, each at once.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    rest: &'a [u8],
    longest: usize,
}

/// A server that says this in pieces that are no longer than that.
pub(crate) fn server(said: &[u8], longest: usize) -> Server<'_> {
    let longest = longest.max(1);
    join(
        Pieces {
            rest: said,
            longest,
        },
        sink(),
    )
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let count = self.longest.min(buffer.remaining()).min(self.rest.len());
        let (piece, rest) = self.rest.split_at(count);
        buffer.put_slice(piece);
        self.rest = rest;
        Poll::Ready(Ok(()))
    }
}

/// Runs a conversation. A [`Server`] never lets anyone wait, so no timer ever runs.
pub(crate) fn run<T>(conversation: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime without I/O needs nothing from the system");
    }
    RUNTIME.with(|runtime| runtime.block_on(conversation))
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::replay::replay;

    #[test]
    fn the_corpus_of_screens_is_decoded() {
        replay("rfb", super::rfb);
    }

    #[test]
    fn the_corpus_of_tiles_is_decoded() {
        replay("tiles", super::tiles);
    }

    #[test]
    fn the_corpus_of_terminals_is_decoded() {
        replay("terminal", super::terminal);
    }

    #[test]
    fn the_corpus_of_answers_is_decoded() {
        replay("answer", super::answer);
    }

    #[test]
    fn the_corpus_of_task_ids_is_read() {
        replay("upid", super::upid);
    }

    #[test]
    fn the_corpus_of_properties_is_read() {
        replay("properties", super::properties);
    }

    #[test]
    fn the_corpus_of_schemas_is_read() {
        replay("apidoc", super::apidoc);
    }
}
