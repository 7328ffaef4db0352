//! `oxmox sim`: a Proxmox VE cluster in memory, for any client of its API.

use std::io;
use std::net::SocketAddr;

use sim::{Clock, Sim, StartError, World, worlds};
use tools::fault::Fault;

use super::exit::Exit;
use super::out;
use super::runtime::{self, Threads};
use super::serve::require_loopback;
use crate::demo;

/// Serves a simulated Proxmox VE cluster
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the first node listens; the others take free ports
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8006")]
    listen: SocketAddr,
    /// The state that it starts with
    #[arg(long, value_enum, default_value_t)]
    world: Which,
    /// How many guests the world `fleet` has
    #[arg(long, value_name = "N", default_value_t = 1000)]
    guests: u32,
}

/// A ready-made world.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Which {
    /// Three nodes, some two dozen guests
    #[default]
    Homelab,
    /// The cluster whose exchanges the simulator is checked against
    Recorded,
    /// The homelab on a bad day: a node gone, a storage silent, a backup failed
    Degraded,
    /// As many guests as you like
    Fleet,
}

impl Args {
    fn world(&self) -> World {
        match self.world {
            Which::Homelab => worlds::homelab(),
            Which::Recorded => worlds::recorded(),
            Which::Degraded => worlds::degraded(),
            Which::Fleet => worlds::fleet(self.guests),
        }
    }
}

/// Serves until a signal comes. Everybody knows the token, and nobody is asked at the control endpoint, so other
/// machines must not reach it.
pub fn run(args: &Args) -> Result<Exit, Fault> {
    require_loopback(args.listen)?;
    runtime::block_on(Threads::Several, serve(args))
}

async fn serve(args: &Args) -> Result<Exit, Fault> {
    let world = args.world();
    let nodes: Vec<String> = world.nodes.keys().cloned().collect();
    let sim = Sim::builder(world)
        .listen(args.listen)
        .clock(Clock::Real)
        .slow_unauthorized(true)
        .start()
        .await
        .map_err(|error| did_not_start(&error))?;
    out::say(introduction(&sim, &nodes));
    runtime::stop_signal().cancelled().await;
    Ok(Exit::Done)
}

/// A simulator that could not start, and what to do where it is the port.
fn did_not_start(error: &StartError) -> Fault {
    let fault = demo::did_not_start(error);
    match error {
        StartError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => fault
            .hint("somebody listens there already; --listen names another address, with port 0 a free one"),
        _ => fault,
    }
}

/// All that a client needs. The secrets are the same for everybody and open nothing else.
fn introduction(sim: &Sim, nodes: &[String]) -> String {
    let (user, token, secret) = worlds::ROOT_TOKEN;
    let mut lines = Vec::new();
    for node in nodes {
        if let (Some(address), Some(fingerprint)) =
            (sim.node_addr(node), sim.node_fingerprint(node))
        {
            lines.push(format!(
                "{node}: https://{address}\n  fingerprint {fingerprint}"
            ));
        }
    }
    lines.push(format!("token: {user}!{token}={secret}"));
    lines.push(format!("{user}'s password: {}", worlds::ROOT_PASSWORD));
    lines.join("\n")
}
