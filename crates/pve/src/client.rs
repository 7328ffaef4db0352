//! The way of a request to PVE and back: which host, how often, with which credentials.
//!
//! Private to the crate; [`Reader`](crate::Reader) and [`Writer`](crate::Writer) are the two doors.

mod connection;
pub(crate) mod enter;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod intake;
pub(crate) mod look;
mod lookup;
mod pace;
mod parts;
mod policy;
mod reply;
mod session;
mod tls;
mod upgrade;
mod upload;
mod veil;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use crate::certificate::Certificate;
use crate::error::Error;
use crate::request::Request;
use crate::settings::{Host, Settings};
use crate::sink::Sink;
use crate::source::Source;
use crate::tally::Tally;

use connection::Endpoint;
use policy::{Next, Retries};
pub(crate) use reply::Answer;
use reply::Reply;
use session::{Session, Signature};
pub(crate) use upgrade::{ControlFlood, Socket};
use upload::Upload;
use veil::Veil;
use wire::Wire;

/// A PVE node has three API workers; more reads than this at once only wait there instead of here.
const MAX_READS: usize = 16;

/// One cluster as seen by one identity.
#[derive(Debug)]
pub(crate) struct Client {
    settings: Settings,
    endpoints: Vec<Endpoint>,
    session: Session,
    hidden: Veil,
    /// The index of the host that answered last.
    good: AtomicUsize,
    permits: Semaphore,
    /// By how many seconds the clock of the host that answered last is ahead of ours.
    ahead: AtomicI64,
}

/// No host has told its time yet.
const UNTOLD: i64 = i64::MIN;

impl Client {
    /// Checks the settings; no network, no files.
    pub(crate) fn new(settings: Settings) -> Result<Self, Error> {
        if settings.hosts.is_empty() {
            return Err(Error::Build {
                what: "no host is configured".to_owned(),
            });
        }
        let session = Session::new(&settings.credentials)?;
        let endpoints = settings.hosts.iter().cloned().map(Endpoint::new).collect();
        Ok(Self {
            hidden: Veil::over(&settings.hidden),
            settings,
            endpoints,
            session,
            good: AtomicUsize::new(0),
            permits: Semaphore::new(MAX_READS),
            ahead: AtomicI64::new(UNTOLD),
        })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.settings.tally
    }

    /// The certificates that hosts presented, trusted or not, as far as they were asked.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = (&Host, Certificate)> {
        let asked = self.settings.hosts.iter().zip(&self.endpoints);
        asked.filter_map(|(host, endpoint)| Some((host, endpoint.certificate()?)))
    }

    /// By how many seconds the clock of the host that answered last is ahead of ours.
    pub(crate) fn ahead(&self) -> Option<i64> {
        let ahead = self.ahead.load(Ordering::Relaxed);
        (ahead != UNTOLD).then_some(ahead)
    }

    fn note_time(&self, told: Option<i64>) {
        let own = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let own = own.and_then(|since| i64::try_from(since.as_secs()).ok());
        if let (Some(told), Some(own)) = (told, own) {
            self.ahead.store(told - own, Ordering::Relaxed);
        }
    }

    /// The host that answered last, or the first one.
    pub(crate) fn current_host(&self) -> &Host {
        &self.settings.hosts[self.good.load(Ordering::Relaxed)]
    }

    /// What was said against a request, without the secrets that it or an earlier login was sent with.
    fn shown(&self, error: Error, signature: &Signature) -> Error {
        self.hidden.error(signature.veil().error(error))
    }

    /// Sends a request, logging in and renewing the login as needed.
    pub(crate) async fn call(&self, request: &Request) -> Result<Answer, Error> {
        let (_, signature, reply) = self.signed(&Wire::new(request)?).await?;
        (reply.into_answer(request)).map_err(|error| self.shown(error, &signature))
    }

    /// Sends a request that ends with a file. A file that cannot be read to its end leaves PVE with a form that has none,
    /// which it throws away: that is not the doubt of a connection that broke.
    pub(crate) async fn upload(
        &self,
        request: &Request,
        source: Arc<dyn Source>,
    ) -> Result<Answer, Error> {
        let upload = Upload::new(request, source)?;
        let broken = upload.broken();
        match self.signed(&Wire::upload(request, upload)).await {
            Ok((_, signature, reply)) => {
                (reply.into_answer(request)).map_err(|error| self.shown(error, &signature))
            }
            Err(error) => Err(match broken.get() {
                Some(why) => {
                    request.build_error(&format!("the file did not come to its end: {why}"))
                }
                None => error,
            }),
        }
    }

    /// Sends a request that opens a proxy on the node that is asked, and then the one that its answer leads to, which
    /// turns into a websocket. Only the host that opened the proxy can reach it.
    pub(crate) async fn socket<T: DeserializeOwned>(
        &self,
        proxy: &Request,
        leads_to: impl FnOnce(&T) -> Request,
    ) -> Result<(T, Socket), Error> {
        let (at, signature, reply) = self.signed(&Wire::new(proxy)?).await?;
        let opened = (reply.into_answer(proxy))
            .map_err(|error| self.shown(error, &signature))?
            .decode()?;
        let wire = Wire::new(&leads_to(&opened))?;
        let socket = self.endpoints[at]
            .upgrade(&self.settings, &wire, &signature)
            .await
            .map_err(|error| self.shown(error, &signature));
        self.count(&wire, socket.as_ref().map(|_| 101));
        Ok((opened, socket?))
    }

    /// The answer to a request, which of the hosts gave it, and the signature that it accepted.
    async fn signed(&self, wire: &Wire) -> Result<(usize, Signature, Reply), Error> {
        let mut signature = self.session.signature(self).await?;
        let (mut at, mut reply) = self.exchange(wire, Some(&signature)).await?;
        if reply.status == 401
            && let Some(fresh) = (self.session)
                .renewed(self, &signature, wire.repeatable)
                .await?
        {
            (at, reply) = self.exchange(wire, Some(&fresh)).await?;
            signature = fresh;
        }
        if reply.status == 401 {
            return Err(self.shown(self.session.refusal(&reply), &signature));
        }
        self.session.note_taken();
        Ok((at, signature, reply))
    }

    /// Hands on what a request answers, as it comes and of any length. It is not repeated.
    pub(crate) async fn download(
        &self,
        request: &Request,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let wire = Wire::new(request)?;
        let endpoint = &self.endpoints[self.good.load(Ordering::Relaxed)];
        let signature = self.session.signature(self).await?;
        let came = endpoint
            .fetch(&self.settings, &wire, &signature, sink)
            .await;
        self.count(&wire, came.as_ref().map(|()| 200));
        if came
            .as_ref()
            .is_err_and(|error| error.status() == Some(401))
            && let Some(fresh) = self.session.renewed(self, &signature, true).await?
        {
            let came = endpoint.fetch(&self.settings, &wire, &fresh, sink).await;
            return came.map_err(|error| self.shown(error, &fresh));
        }
        came.map_err(|error| self.shown(error, &signature))
    }

    /// Fetches a static file of the node's web server, which asks nobody who they are.
    pub(crate) async fn document(&self, path: &str) -> Result<Vec<u8>, Error> {
        let request = Request::get(path);
        let (_, reply) = self.exchange(&Wire::document(&request)?, None).await?;
        reply.into_bytes()
    }

    /// Sends until an answer arrives or the retry rules say stop. Any HTTP status that they do not repeat is an answer;
    /// it comes with the index of the host that gave it.
    async fn exchange(
        &self,
        wire: &Wire,
        signature: Option<&Signature>,
    ) -> Result<(usize, Reply), Error> {
        // Writes do not queue behind reads; the semaphore is never closed, so that `ok` loses nothing.
        let _permit = if wire.repeatable {
            self.permits.acquire().await.ok()
        } else {
            None
        };
        let mut retries = Retries::new(wire.repeatable, self.endpoints.len(), Instant::now());
        let mut at = self.good.load(Ordering::Relaxed);
        loop {
            let outcome = self.endpoints[at]
                .send(&self.settings, wire, signature)
                .await;
            self.count(wire, outcome.as_ref().map(|reply| reply.status));
            self.note_time(outcome.as_ref().ok().and_then(|reply| reply.date));
            let next = retries.after(&outcome, self.settings.timeouts.retry);
            if !matches!(next, Next::Stop) {
                at = (at + 1) % self.endpoints.len();
            }
            match next {
                Next::Stop => {
                    self.remember(at, &outcome);
                    return outcome.map(|reply| (at, reply));
                }
                Next::AtOnce => {}
                Next::After(pause) => tokio::time::sleep(pause).await,
            }
        }
    }

    fn count(&self, wire: &Wire, status: Result<u16, &Error>) {
        let status = status.map_or_else(Error::status, Some);
        self.settings.tally.count(wire.method, status);
    }

    /// The next request starts at the host that answered; after a lost answer, at another one. A host whose
    /// certificate is refused keeps its place, so that the refusal does not go away unseen.
    fn remember(&self, at: usize, outcome: &Result<Reply, Error>) {
        let good = match outcome {
            Ok(_) => at,
            Err(Error::MaybeSent { .. }) => (at + 1) % self.endpoints.len(),
            Err(_) => return,
        };
        self.good.store(good, Ordering::Relaxed);
    }
}
