//! Tests of the tools on the simulator: sweeps hold one rule over all tools, behaviour tests hold one story each.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there")]

mod behaviour;
mod coverage;
mod house;
mod properties;
mod requests;
mod ruled;
mod schemas;
mod search;
mod sweep;
