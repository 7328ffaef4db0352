//! Where the bytes of a download go.

use std::io;

use futures_util::future::BoxFuture;

/// Takes what comes piece by piece, so that its number of bytes does not matter.
pub trait Sink: Send {
    /// Takes the next piece. An error ends the download.
    fn take<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>>;
}
