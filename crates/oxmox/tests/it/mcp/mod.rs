//! The MCP server on the simulator, spoken to in raw messages: what is on the wire is what counts.

mod behalf;
mod browser;
mod calls;
mod confirmation;
mod cookie;
mod findings;
mod health;
mod hostile;
mod http;
mod keys;
mod lasting;
mod limits;
mod listening;
mod oauth;
mod pace;
mod page;
mod reload;
mod resources;
mod revoked;
mod rights;
mod secret_text;
mod sessions;
mod subscriptions;
mod surface;
mod tasks;
mod tls;
mod tokens;
mod told;
mod traces;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use pve::{Credentials, Host, Settings};
use sim::worlds::{ROOT_TOKEN, homelab};
use tools::context::Cluster;
use tools::engine::{Engine, Setup, State};
use tools::policy::Policy;
use tools::spec::Toolset;
use tools::uploads::Uploads;

/// A simulated homelab and an engine over it.
pub(crate) struct World {
    pub(crate) sim: sim::Sim,
    pub(crate) engine: Arc<Engine>,
}

async fn world() -> World {
    let sim = sim::Sim::start(homelab()).await.unwrap();
    let engine = engine(&sim, State::Memory);
    World { sim, engine }
}

/// One in which tasks take until the test lets time pass.
pub(crate) async fn slow_world(state: State) -> World {
    let builder = sim::Sim::builder(homelab()).clock(sim::Clock::Manual);
    let sim = builder.start().await.unwrap();
    let engine = engine(&sim, state);
    World { sim, engine }
}

/// The way to the simulator, as its root.
pub(crate) fn settings(sim: &sim::Sim) -> Settings {
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
    settings
}

fn engine(sim: &sim::Sim, state: State) -> Arc<Engine> {
    engine_with(sim, state, Policy::default())
}

fn engine_with(sim: &sim::Sim, state: State, policy: Policy) -> Arc<Engine> {
    let settings = settings(sim);
    let (reader, writer) = pve::connect(settings).unwrap();
    let cluster = Cluster::new("homelab", reader);
    Engine::new(vec![(cluster, writer)], setup(state, policy))
}

/// All tools, and a clock that stands still.
fn setup(state: State, policy: Policy) -> Setup {
    Setup {
        toolsets: Toolset::ALL.to_vec(),
        choices: tools::registry::Choices::default(),
        policy,
        state,
        clock: Arc::new(|| 1_800_000_000),
        uploads: Uploads::default(),
        approve: "oxmox approve".to_owned(),
        scripts: None,
        copyist: None,
    }
}

impl World {
    /// The writes that reached the cluster.
    pub(crate) fn writes(&self) -> Vec<String> {
        let requests = self.sim.requests().into_iter();
        requests
            .filter(|logged| logged.method != "GET")
            .map(|logged| format!("{} {}", logged.method, logged.path))
            .collect()
    }
}
