//! The simulator from the outside.

mod access;
mod client;
mod control;
mod faults;
mod http;
mod power;
mod reference;
mod replay;
mod routes;
