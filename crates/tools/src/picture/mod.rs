//! Pictures that go with an answer.

mod png;
mod shrink;

pub use png::{indexed, true_colour};
pub use shrink::shrink;

/// Red, green and blue.
pub type Colour = [u8; 3];
