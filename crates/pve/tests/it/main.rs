//! The client against a server that misbehaves in every way that matters.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may panic as the tests themselves"
)]

mod answers;
mod auth;
mod enter;
mod faults;
mod hostile;
mod kept;
mod recorded;
mod requests;
mod schemas;
mod screens;
mod secrets;
mod server;
mod simulated;
mod tasks;
mod terminals;
mod trust;
mod uploads;
