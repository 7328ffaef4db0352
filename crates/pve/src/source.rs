//! Where the bytes of an upload come from.

use std::io;

/// Bytes that are sent piece by piece, so that their number does not matter, and read again from the start if a connection
/// could not be used. Its size is told to PVE before the first of them.
pub trait Source: Send + Sync + 'static {
    /// How many there are.
    fn size(&self) -> u64;

    /// Reads what lies at `offset`, as much of it as fits. It is asked in order, on a thread that may block; how far it was
    /// asked is how far the upload is.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
}
