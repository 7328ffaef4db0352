//! What the client of a terminal sends: a line with who it is, then packets.

use secrecy::{ExposeSecret, SecretString};

use super::Size;

/// What the proxy says to whom it lets in.
pub(super) const WELCOME: &[u8] = b"OK";
/// Tells the proxy that we are still there.
pub(super) const PING: &[u8] = b"2";
/// A packet carries no more than this.
const LARGEST: usize = 4096;

/// The first line.
pub(super) fn introduction(user: &str, ticket: &SecretString) -> Vec<u8> {
    format!("{user}:{}\n", ticket.expose_secret()).into_bytes()
}

/// Says how large the terminal is.
pub(super) fn size(size: Size) -> Vec<u8> {
    format!("1:{}:{}:", size.columns, size.rows).into_bytes()
}

/// Carries what is typed.
pub(super) fn typed(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    bytes.chunks(LARGEST).map(|part| {
        let mut packet = format!("0:{}:", part.len()).into_bytes();
        packet.extend(part);
        packet
    })
}
