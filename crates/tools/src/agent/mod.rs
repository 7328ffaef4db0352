//! The guest agent inside a VM: what keeps it from answering, what it says of a program, and the form in which text goes
//! to it and comes back. Tools and engine share this; nothing in here sends a change.

mod privilege;
mod program;
mod text;
mod trouble;

pub(crate) use privilege::Right;
pub(crate) use program::{Glance, glance};
pub(crate) use text::{capped, from_wire, to_wire};
pub(crate) use trouble::{Obstacle, advice, is_frozen};
