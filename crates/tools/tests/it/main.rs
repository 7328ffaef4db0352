//! Tests of the tools on the simulator: sweeps hold one rule over all tools, behaviour tests hold one story each.

mod behaviour;
mod house;
mod sweep;
