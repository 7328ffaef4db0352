//! The simulator from the outside.

mod access;
mod admin;
mod agent;
mod backup;
mod ceph;
mod client;
mod clone;
mod console;
mod containers;
mod control;
mod delete;
mod docs;
mod faults;
mod hosts;
mod http;
mod machine;
mod migrate;
mod power;
mod qemu;
mod reference;
mod replay;
mod restore;
mod rfb;
mod routes;
mod snapshot;
mod storage;
