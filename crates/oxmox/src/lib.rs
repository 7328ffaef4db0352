//! The parts of the binary that its tests reach: the transports over the engine. `main.rs` is the program.
//!
//! rmcp is named in [`mcp`] and [`http`] and nowhere else, since its API moves.

pub mod http;
pub mod mcp;
