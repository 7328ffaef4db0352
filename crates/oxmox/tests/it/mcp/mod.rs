//! The MCP server on the simulator, spoken to in raw messages: what is on the wire is what counts.

mod calls;
mod confirmation;
mod http;
mod surface;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use pve::{Credentials, Host, Settings};
use sim::worlds::{ROOT_TOKEN, homelab};
use tools::context::Cluster;
use tools::engine::{Engine, Setup, State};
use tools::policy::Policy;
use tools::spec::Toolset;

/// A simulated homelab and an engine over it.
struct World {
    sim: sim::Sim,
    engine: Arc<Engine>,
}

async fn world() -> World {
    let sim = sim::Sim::start(homelab()).await.unwrap();
    let engine = engine(&sim);
    World { sim, engine }
}

fn engine(sim: &sim::Sim) -> Arc<Engine> {
    let host = Host {
        name: sim.addr().ip().to_string(),
        port: sim.addr().port(),
        pin: Some(sim.fingerprint().parse().unwrap()),
    };
    let (user, name, secret) = ROOT_TOKEN;
    let credentials = Credentials::Token {
        user: user.to_owned(),
        name: name.to_owned(),
        secret: secret.into(),
    };
    let mut settings = Settings::new(vec![host], credentials);
    settings.timeouts.task_poll = Duration::from_millis(5);
    let (reader, writer) = pve::connect(settings).unwrap();
    let clock = Arc::new(|| 1_800_000_000);
    let cluster = Cluster::new("homelab", reader);
    Engine::new(
        vec![(cluster, writer)],
        Setup {
            toolsets: Toolset::ALL.to_vec(),
            policy: Policy::default(),
            state: State::Memory,
            clock,
            approve: "oxmox approve".to_owned(),
        },
    )
}

impl World {
    /// The writes that reached the cluster.
    fn writes(&self) -> Vec<String> {
        let requests = self.sim.requests().into_iter();
        requests
            .filter(|logged| logged.method != "GET")
            .map(|logged| format!("{} {}", logged.method, logged.path))
            .collect()
    }
}
