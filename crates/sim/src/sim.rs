//! A running simulator: the handle that tests and the demo hold.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::clock::Clock;
use crate::cluster::{Cluster, Logged};
use crate::console::outside::Monitor;
use crate::fault::Fault;
use crate::http::server;
use crate::http::tls::Authority;
use crate::world::World;
use crate::world::outside::Outside;

/// Why a simulator could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No port to listen on.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The certificate could not be made.
    #[error("cannot make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// The certificate could not be used.
    #[error("cannot use the certificate")]
    Tls(#[from] rustls::Error),
    /// The world has no node to listen for.
    #[error("the world has no nodes")]
    NoNodes,
}

/// Settings of a simulator that is about to start.
#[derive(Debug)]
#[must_use]
pub struct Builder {
    world: World,
    listen: SocketAddr,
    clock: Clock,
    slow_unauthorized: bool,
}

impl Builder {
    /// Where the first node listens. The others take the same address on free ports.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// How time passes.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Makes a 401 take three seconds, as PVE does. Off by default.
    pub fn slow_unauthorized(mut self, slow: bool) -> Self {
        self.slow_unauthorized = slow;
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// When a port or a certificate cannot be had.
    pub async fn start(self) -> Result<Sim, StartError> {
        let mut world = self.world;
        let authority = Authority::new(&world.name)?;
        world.certificate = authority.pem();
        let mut ready = Vec::new();
        for (index, node) in world.nodes.values_mut().enumerate() {
            let certificate = authority.certify(&node.name, &node.ip)?;
            node.fingerprint.clone_from(&certificate.fingerprint);
            node.certificate.clone_from(&certificate.pem);
            let port = if index == 0 { self.listen.port() } else { 0 };
            let address = SocketAddr::new(self.listen.ip(), port);
            let listener = TcpListener::bind(address).await;
            let listener = listener.map_err(|source| StartError::Listen { address, source })?;
            ready.push((node.name.clone(), listener, certificate));
        }
        let mut cluster = Cluster::new(world, self.clock);
        cluster.slow_unauthorized(self.slow_unauthorized);
        let cluster = Arc::new(Mutex::new(cluster));
        let mut endpoints = BTreeMap::new();
        let mut listeners = JoinSet::new();
        for (node, listener, certificate) in ready {
            let address = listener.local_addr();
            let address = address.map_err(|source| StartError::Listen {
                address: self.listen,
                source,
            })?;
            let endpoint = Endpoint {
                address,
                fingerprint: certificate.fingerprint,
            };
            endpoints.insert(node.clone(), endpoint);
            let tls = TlsAcceptor::from(certificate.config);
            listeners.spawn(server::listen(listener, tls, node, cluster.clone()));
        }
        let first = endpoints
            .keys()
            .next()
            .cloned()
            .ok_or(StartError::NoNodes)?;
        Ok(Sim {
            cluster,
            first,
            endpoints,
            ca_pem: authority.pem(),
            _listeners: listeners,
        })
    }
}

#[derive(Debug)]
struct Endpoint {
    address: SocketAddr,
    fingerprint: String,
}

/// A running simulator. It stops when this is dropped.
#[derive(Debug)]
pub struct Sim {
    cluster: Arc<Mutex<Cluster>>,
    first: String,
    endpoints: BTreeMap<String, Endpoint>,
    ca_pem: String,
    _listeners: JoinSet<()>,
}

impl Sim {
    /// Starts a simulator on free ports of 127.0.0.1, with a clock that moves one second per request.
    ///
    /// # Errors
    /// When a port or a certificate cannot be had.
    pub async fn start(world: World) -> Result<Self, StartError> {
        Self::builder(world).start().await
    }

    /// A simulator with other settings.
    pub fn builder(world: World) -> Builder {
        Builder {
            world,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            clock: Clock::default(),
            slow_unauthorized: false,
        }
    }

    /// The address of the first node.
    pub fn addr(&self) -> SocketAddr {
        self.endpoints[&self.first].address
    }

    /// The address of a node.
    pub fn node_addr(&self, node: &str) -> Option<SocketAddr> {
        self.endpoints.get(node).map(|endpoint| endpoint.address)
    }

    /// The SHA-256 fingerprint of the first node's certificate: `AA:BB:...`.
    pub fn fingerprint(&self) -> &str {
        &self.endpoints[&self.first].fingerprint
    }

    /// The fingerprint of a node's certificate; each node has its own.
    pub fn node_fingerprint(&self, node: &str) -> Option<&str> {
        self.endpoints
            .get(node)
            .map(|endpoint| endpoint.fingerprint.as_str())
    }

    /// The certificate of the authority that signed all nodes' certificates.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Looks at the state, or changes it.
    pub fn world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        let mut cluster = self.lock();
        let seen = look(&mut cluster.world);
        cluster.touch();
        seen
    }

    /// Lets time pass.
    pub fn advance(&self, span: Duration) {
        self.world(|world| world.advance(span));
    }

    /// Injects a fault.
    pub fn fault(&self, fault: Fault) {
        self.lock().add_fault(fault);
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.lock().clear_faults();
    }

    /// Takes a node off the network, or brings it back.
    pub fn set_online(&self, node: &str, online: bool) {
        self.world(|world| world.set_online(node, online));
    }

    /// Shows a real display instead of a machine's own: clients of its console are joined to that VNC server, and keys
    /// sent to it go to the monitor (QEMU's QMP), which is also told every console's password.
    ///
    /// # Errors
    /// When the monitor cannot be reached.
    pub async fn show_display(
        &self,
        vmid: u32,
        vnc: SocketAddr,
        monitor: SocketAddr,
    ) -> io::Result<()> {
        let monitor = Monitor::connect(monitor).await?;
        let (outside, orders) = Outside::new(vnc);
        // It ends with the last one who could give it orders, which is the world.
        tokio::spawn(monitor.serve(orders));
        self.world(|world| {
            let guest = world.guests.get_mut(&vmid);
            guest.map(|guest| guest.outside = Some(outside))
        })
        .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<Logged> {
        self.lock().requests().to_vec()
    }

    /// Every request that came so far, whatever became of it: `POST /pools`, ...
    pub fn arrivals(&self) -> Vec<String> {
        self.lock().arrivals().to_vec()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.lock().clear_requests();
    }

    fn lock(&self) -> MutexGuard<'_, Cluster> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
