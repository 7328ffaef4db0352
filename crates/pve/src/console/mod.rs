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

use crate::error::Error;

/// The decoders, for [`crate::fuzzing`].
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing {
    pub use super::rfb::fuzzing::{rfb, tiles};
    pub use super::terminal::fuzzing::terminal;
}

pub(crate) fn broken(what: impl Into<String>) -> Error {
    Error::Console { what: what.into() }
}
