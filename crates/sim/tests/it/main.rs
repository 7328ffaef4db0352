//! The simulator from the outside.

mod access;
mod admin;
mod backup;
mod client;
mod clone;
mod containers;
mod control;
mod delete;
mod docs;
mod faults;
mod hosts;
mod http;
mod migrate;
mod power;
mod reference;
mod replay;
mod routes;
mod snapshot;
mod storage;
