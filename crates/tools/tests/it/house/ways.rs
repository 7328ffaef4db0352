//! Engines whose reads and writes take different ways to the same cluster: what becomes of a write can be decided without
//! touching a single read.

use std::net::Ipv4Addr;
use std::time::Duration;

use pve::{Credentials, Reader, Settings};
use tokio::net::TcpSocket;
use tools::context::Cluster;
use tools::engine::{Engine, State};
use tools::policy::Policy;

use super::{House, settings, setup};

/// Who an engine is, and how it reads and writes.
#[derive(Default)]
pub(crate) struct Ways {
    /// With a password instead of a token.
    pub(crate) logs_in: bool,
    /// How long it waits for what it reads.
    pub(crate) patience_of_reads: Option<Duration>,
    /// How long it waits for the answer to what it writes.
    pub(crate) patience_of_writes: Option<Duration>,
    /// What it writes goes to this port.
    pub(crate) port_of_writes: Option<u16>,
}

impl House {
    /// The same house with an engine that goes these ways and keeps its state there.
    pub(crate) fn going(self, ways: &Ways, policy: Policy, state: State) -> Self {
        let settings = || settings(&self.sim, credentials(ways.logs_in));
        let reading = patient(settings(), ways.patience_of_reads);
        let mut writing = patient(settings(), ways.patience_of_writes);
        if let Some(port) = ways.port_of_writes {
            writing.hosts[0].port = port;
        }
        let (reader, _) = pve::connect(reading).unwrap();
        let (_, writer) = pve::connect(writing).unwrap();
        let engine = Engine::new(
            vec![(Cluster::new("homelab", reader), writer)],
            setup(policy, state, &self.clock),
        );
        Self { engine, ..self }
    }

    /// Who only looks, as root.
    pub(crate) fn reader(&self, logs_in: bool) -> Reader {
        let (reader, _) = pve::connect(settings(&self.sim, credentials(logs_in))).unwrap();
        reader
    }
}

/// A port of this machine that refuses every connection as long as this is held: it is taken, and nobody listens.
pub(crate) fn closed_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

fn credentials(logs_in: bool) -> Credentials {
    let (user, token, secret) = sim::worlds::ROOT_TOKEN;
    if logs_in {
        Credentials::Password {
            user: user.to_owned(),
            password: sim::worlds::ROOT_PASSWORD.into(),
        }
    } else {
        Credentials::Token {
            user: user.to_owned(),
            name: token.to_owned(),
            secret: secret.into(),
        }
    }
}

fn patient(mut settings: Settings, patience: Option<Duration>) -> Settings {
    if let Some(patience) = patience {
        settings.timeouts.answer = patience;
    }
    settings
}
