//! Terminals are not modelled yet: the connection closes at once.

use std::ops::ControlFlow;

use super::{End, Mood, Session};
use crate::world::World;

/// A client at a terminal.
pub(crate) struct Terminal;

impl Session for Terminal {
    fn turn(&mut self, _: &mut World, _: &[u8], _: &mut Vec<u8>) -> ControlFlow<End, Mood> {
        ControlFlow::Break(self.left())
    }

    fn left(&self) -> End {
        End::ok()
    }
}
