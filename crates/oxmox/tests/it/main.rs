//! The tests of the binary's parts, in one program.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may panic as the tests themselves"
)]

mod arguments;
mod cli;
mod clients;
mod clusters;
mod config;
mod doctor;
mod documents;
mod help;
mod kept;
mod killed;
mod mcp;
mod private;
mod raw;
mod replicas;
mod server;
mod setup;
mod store_replaced;
mod syslog;
mod variables;
