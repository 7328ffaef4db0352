//! The consoles of guests: a VM's screen and keyboard over VNC, and terminals.
//!
//! Watching and pressing are two types. What a [`Reader`](crate::Reader) opens has no method that sends input; only a
//! [`Writer`](crate::Writer) opens what has.

mod keyboard;
mod proxy;
mod rfb;
mod screen;
mod terminal;
mod view;

pub use keyboard::{Key, Keyboard};
pub use proxy::{display_request, terminal_request};
pub use screen::{Area, Screen};
pub use terminal::{
    Program, Ran, Size, Stands, Terminal, TerminalScreen, TerminalView, Until, Waited,
};
pub use view::{ScreenView, Settled};

use crate::client::ControlFlood;
use crate::error::Error;

/// The decoders, for [`crate::fuzzing`].
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing {
    pub use super::rfb::fuzzing::{rfb, tiles};
    pub use super::terminal::fuzzing::terminal;
}

/// What ended a console that is read or written.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that `map_err` wants"
)]
pub(crate) fn ended(error: std::io::Error) -> Error {
    let flood = error.get_ref().filter(|cause| cause.is::<ControlFlood>());
    broken(flood.map_or_else(|| "it closed".to_owned(), ToString::to_string))
}

pub(crate) fn broken(what: impl Into<String>) -> Error {
    Error::Console { what: what.into() }
}
