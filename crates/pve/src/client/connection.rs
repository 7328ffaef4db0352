//! Connections to one host, kept alive between requests, and one attempt to send a request over them.
//!
//! Built on hyper's connections instead of a ready-made HTTP client, because only they give an unsent request back,
//! and that is what tells "never sent" from "maybe sent".

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::time::{timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::intake::{Failure, read};
use super::lookup;
use super::pace::Pace;
use super::reply::Reply;
use super::session::Signature;
use super::tls;
use super::upgrade::{Offer, Socket};
use super::wire::{Outgoing, Wire};
use crate::certificate::Certificate;
use crate::error::{Cause, Error};
use crate::settings::{Host, Settings, Timeouts};
use crate::sink::Sink;

/// PVE closes an idle connection after 5 s; one near that age may die under a request.
const MAX_IDLE: Duration = Duration::from_secs(3);
const MAX_IDLE_CONNECTIONS: usize = 8;

type Sender = SendRequest<Outgoing>;

/// One host with its TLS settings, built at first use, and its idle connections.
#[derive(Debug)]
pub(super) struct Endpoint {
    host: Host,
    tls: OnceCell<Arc<ClientConfig>>,
    last: tls::Last,
    idle: Mutex<Vec<(Sender, Instant)>>,
}

impl Endpoint {
    pub(super) fn new(host: Host) -> Self {
        Self {
            host,
            tls: OnceCell::new(),
            last: tls::Last::default(),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// The certificate that it presented last, trusted or not.
    pub(super) fn certificate(&self) -> Option<Certificate> {
        let presented = self.last.presented()?;
        Certificate::of_der(&presented.der)
    }

    /// Sends once.
    ///
    /// A read goes over an idle connection if there is one, and over a new one if that turns out dead. A write always
    /// has a new connection: the server may close an idle one at the very moment of sending, and then nobody could
    /// tell whether the write was carried out.
    pub(super) async fn send(
        &self,
        settings: &Settings,
        wire: &Wire,
        signature: Option<&Signature>,
    ) -> Result<Reply, Error> {
        while wire.repeatable
            && let Some(sender) = self.checkout().await
        {
            let request = wire.to_http(&self.host, settings, signature)?;
            match self.over(sender, request, settings).await {
                Ok(reply) => return Ok(reply),
                // That an idle connection died says nothing about the host.
                Err(Failure::Unsent(_) | Failure::Broken(..)) => {}
                Err(failure) => return Err(self.failed(wire, failure)),
            }
        }
        let request = wire.to_http(&self.host, settings, signature)?;
        let sender = self.connect(settings).await?;
        let outcome = self.over(sender, request, settings).await;
        outcome.map_err(|failure| self.failed(wire, failure))
    }

    /// Sends a GET that turns its connection into a websocket, over a connection of its own. PVE drops it without an
    /// answer if nothing listens on the port asked for.
    pub(super) async fn upgrade(
        &self,
        settings: &Settings,
        wire: &Wire,
        signature: &Signature,
    ) -> Result<Socket, Error> {
        let offer = Offer::new();
        let (mut request, _) = wire.to_http(&self.host, settings, Some(signature))?;
        request.headers_mut().extend(offer.headers());
        let mut sender = self.connect(settings).await?;
        let limit = settings.timeouts.answer;
        let response = timeout(limit, sender.send_request(request))
            .await
            .map_err(|_| self.maybe_sent(&format!("it did not come within {limit:?}"), None))?
            .map_err(|error| self.maybe_sent("the connection broke", Some(Arc::new(error))))?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(self.refused(wire, response, settings).await);
        }
        if !offer.is_accepted_by(response.headers()) {
            return Err(Error::Console {
                what: "the server speaks no websocket".to_owned(),
            });
        }
        let upgraded = hyper::upgrade::on(response)
            .await
            .map_err(|error| self.maybe_sent("the connection broke", Some(Arc::new(error))))?;
        Ok(Socket::new(upgraded).await)
    }

    /// Sends a GET over a connection of its own, and hands its answer on piece by piece. PVE ends it by closing the
    /// connection, so that whether it was whole is for the receiver to know.
    pub(super) async fn fetch(
        &self,
        settings: &Settings,
        wire: &Wire,
        signature: &Signature,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let (request, _) = wire.to_http(&self.host, settings, Some(signature))?;
        let mut sender = self.connect(settings).await?;
        let limit = settings.timeouts.answer;
        let late = |_| self.maybe_sent(&format!("nothing came within {limit:?}"), None);
        let broke = |error| self.maybe_sent("the connection broke", Some(Arc::new(error)));
        let response = timeout(limit, sender.send_request(request)).await;
        let response = response.map_err(late)?.map_err(broke)?;
        if !response.status().is_success() {
            return Err(self.refused(wire, response, settings).await);
        }
        let mut body = response.into_body();
        while let Some(frame) = timeout(limit, body.frame()).await.map_err(late)? {
            if let Ok(data) = frame.map_err(broke)?.into_data() {
                let taken = sink.take(&data).await;
                taken.map_err(|error| self.maybe_sent(&error.to_string(), None))?;
            }
        }
        Ok(())
    }

    /// What was said instead of what was asked for.
    async fn refused(
        &self,
        wire: &Wire,
        response: hyper::Response<Incoming>,
        settings: &Settings,
    ) -> Error {
        let limit = settings.timeouts.answer;
        match timeout(limit, read(response, settings.max_answer_bytes)).await {
            Ok(Ok(reply)) => reply.into_error(),
            Ok(Err(failure)) => self.failed(wire, failure),
            Err(_) => self.maybe_sent(&format!("it did not come within {limit:?}"), None),
        }
    }

    async fn over(
        &self,
        mut sender: Sender,
        (request, pace): (hyper::Request<Outgoing>, Arc<Pace>),
        settings: &Settings,
    ) -> Result<Reply, Failure> {
        let limit = settings.timeouts.answer;
        let attempt = async {
            let response = sender.try_send_request(request).await;
            let response = response.map_err(|mut error| match error.take_message() {
                Some(_unsent) => Failure::Unsent(Arc::new(error.into_error())),
                None => Failure::Broken("the connection broke", Arc::new(error.into_error())),
            })?;
            read(response, settings.max_answer_bytes).await
        };
        let reply = pace
            .while_moving(limit, attempt)
            .await
            .unwrap_or_else(|| Err(Failure::Lost(format!("it did not come within {limit:?}"))))?;
        self.checkin(sender);
        Ok(reply)
    }

    async fn connect(&self, settings: &Settings) -> Result<Sender, Error> {
        let stream = self.open(settings).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| self.never_sent("HTTP", Some(Arc::new(error))))?;
        tokio::spawn(async move {
            // A failure reaches the request that is waiting on this connection.
            let _ = connection.with_upgrades().await;
        });
        Ok(sender)
    }

    /// Opens a TLS stream to the host, its certificate checked.
    async fn open(&self, settings: &Settings) -> Result<TlsStream<TcpStream>, Error> {
        let config = self.tls_config(settings).await?;
        let Timeouts { connect, .. } = settings.timeouts;
        let end = tokio::time::Instant::now() + connect;
        let addresses = lookup::addresses(&self.host, connect).await?;
        timeout_at(end, self.handshake(config, &addresses))
            .await
            .unwrap_or_else(|_| {
                let what = format!("no connection within {connect:?}");
                Err(self.never_sent(&what, None))
            })
    }

    async fn handshake(
        &self,
        config: Arc<ClientConfig>,
        addresses: &[SocketAddr],
    ) -> Result<TlsStream<TcpStream>, Error> {
        let name = ServerName::try_from(self.host.name.clone()).map_err(|_| Error::Build {
            what: format!("{:?} is not a host name", self.host.name),
        })?;
        let tcp = TcpStream::connect(addresses)
            .await
            .map_err(|error| self.never_sent("the connection failed", Some(Arc::new(error))))?;
        // Requests are small and wait for an answer each; holding packets back only delays them.
        let _ = tcp.set_nodelay(true);
        TlsConnector::from(config)
            .connect(name, tcp)
            .await
            .map_err(|error| match tls::refusal(&error) {
                Some(untrusted) => Error::Fingerprint(Box::new(untrusted)),
                None => self.never_sent("the TLS handshake failed", Some(Arc::new(error))),
            })
    }

    async fn tls_config(&self, settings: &Settings) -> Result<Arc<ClientConfig>, Error> {
        self.tls
            .get_or_try_init(|| async {
                let (host, trust) = (self.host.clone(), settings.trust.clone());
                let last = self.last.clone();
                tokio::task::spawn_blocking(move || tls::config_for(&host, &trust, last))
                    .await
                    .map_err(|_| Error::Build {
                        what: "the TLS settings could not be loaded".to_owned(),
                    })?
            })
            .await
            .map(Arc::clone)
    }

    /// The youngest idle connection that still works.
    async fn checkout(&self) -> Option<Sender> {
        loop {
            let (mut sender, since) = self.idle().pop()?;
            if since.elapsed() < MAX_IDLE && sender.ready().await.is_ok() {
                return Some(sender);
            }
        }
    }

    fn checkin(&self, sender: Sender) {
        if sender.is_closed() {
            return;
        }
        let mut idle = self.idle();
        idle.retain(|(_, since)| since.elapsed() < MAX_IDLE);
        if idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push((sender, Instant::now()));
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(Sender, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, wire: &Wire, failure: Failure) -> Error {
        match failure {
            Failure::Unsent(cause) => self.never_sent("the connection closed", Some(cause)),
            Failure::Broken(what, cause) => self.maybe_sent(what, Some(cause)),
            Failure::Lost(what) => self.maybe_sent(&what, None),
            Failure::Unreadable(what) => Error::Decode {
                request: wire.name(),
                what,
            },
        }
    }

    fn never_sent(&self, what: &str, source: Option<Cause>) -> Error {
        Error::NeverSent {
            host: self.host.to_string(),
            what: what.to_owned(),
            source,
        }
    }

    fn maybe_sent(&self, what: &str, source: Option<Cause>) -> Error {
        Error::MaybeSent {
            host: self.host.to_string(),
            what: what.to_owned(),
            source,
        }
    }
}
