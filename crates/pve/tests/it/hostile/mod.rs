//! A Proxmox VE that means harm, or is broken beyond reason: what it sends costs neither memory nor time without end, and
//! what came of it is a clear error.
//!
//! How much was taken is counted where it is sent. The system holds some of it between the two sides, so that a bound here
//! is the client's plus [`UNDER_WAY`].

mod answers;
mod bytes;
mod consoles;
mod fields;
mod pour;
mod tasks;

pub(crate) use pour::{Pour, Poured, UNDER_WAY};
