//! A Proxmox VE cluster in memory, served over HTTPS as Proxmox VE serves it.
//!
//! ```no_run
//! # async fn example() -> Result<(), sim::StartError> {
//! let sim = sim::Sim::start(sim::worlds::homelab()).await?;
//! println!("https://{} with certificate {}", sim.addr(), sim.fingerprint());
//! # Ok(())
//! # }
//! ```
//!
//! Where things are, from the outside in:
//!
//! - [`Sim`] and its builder: listeners, clock, faults, the request log. [`Cluster`] is the same without sockets.
//! - `http`: requests and responses as values, decoding, rendering, TLS, websockets.
//! - `console`: what answers behind a websocket: the display of a machine, terminals.
//! - `dispatch`: the life of a call, the one function to read first.
//! - [`route`], [`schema`], [`permission`]: routes as data, and the checks that run before a handler.
//! - [`api`]: the routes and their handlers, in modules that follow PVE's URLs.
//! - [`apidoc`]: the schema of these routes, as a node serves it.
//! - [`world`]: the state and its rules; [`worlds`]: ready-made states.
//! - [`replay`]: compares all of it with recorded exchanges of a real PVE.
//!
//! Handlers are synchronous and do no I/O; time is a value (`World::now`).

#[expect(
    clippy::unnecessary_wraps,
    reason = "every handler has the same signature"
)]
pub mod api;
pub mod apidoc;
mod auth;
pub mod calendar;
pub mod call;
mod clock;
mod cluster;
mod console;
mod control;
mod dispatch;
pub mod error;
mod fault;
mod http;
mod log;
pub mod permission;
mod qemu;
pub mod replay;
mod retell;
pub mod route;
pub mod schema;
mod sim;
pub mod world;
pub mod worlds;

pub use clock::{Clock, Time};
pub use cluster::{Cluster, Logged, Outcome};
pub use fault::{Fault, RequestFault, Trouble};
pub use http::websocket::Accepted;
pub use http::{Form, Received, Request, Response};
pub use qemu::Qemu;
pub use retell::{ITEM, Retold};
pub use sim::{Builder, Sim, StartError};
pub use world::World;
