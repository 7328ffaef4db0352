//! The way of a request to PVE and back: which host, how often, with which credentials.
//!
//! Private to the crate; [`Reader`](crate::Reader) and [`Writer`](crate::Writer) are the two doors.

mod connection;
mod policy;
mod reply;
mod session;
mod tls;
mod wire;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::error::Error;
use crate::request::Request;
use crate::settings::{Host, Settings};

use connection::Endpoint;
use policy::{Next, Retries};
pub(crate) use reply::Answer;
use reply::Reply;
use session::{Session, Signature};
use wire::Wire;

/// A PVE node has three API workers; more reads than this at once only wait there instead of here.
const MAX_READS: usize = 16;

/// One cluster as seen by one identity.
#[derive(Debug)]
pub(crate) struct Client {
    settings: Settings,
    endpoints: Vec<Endpoint>,
    session: Session,
    /// The index of the host that answered last.
    good: AtomicUsize,
    permits: Semaphore,
}

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
            settings,
            endpoints,
            session,
            good: AtomicUsize::new(0),
            permits: Semaphore::new(MAX_READS),
        })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The host that answered last, or the first one.
    pub(crate) fn current_host(&self) -> &Host {
        &self.settings.hosts[self.good.load(Ordering::Relaxed)]
    }

    /// Sends a request, logging in and renewing the login as needed.
    pub(crate) async fn call(&self, request: &Request) -> Result<Answer, Error> {
        let wire = Wire::new(request)?;
        let signature = self.session.signature(self).await?;
        let mut reply = self.exchange(&wire, Some(&signature)).await?;
        if reply.status == 401
            && let Some(fresh) = self.session.renewed(self, &signature).await?
        {
            // A 401 comes before anything is done, so repeating is safe for writes too.
            reply = self.exchange(&wire, Some(&fresh)).await?;
        }
        if reply.status == 401 {
            return Err(self.session.refusal(&reply));
        }
        reply.into_answer(request)
    }

    /// Fetches a static file of the node's web server, which asks nobody who they are.
    pub(crate) async fn document(&self, path: &str) -> Result<Vec<u8>, Error> {
        let request = Request::get(path);
        let reply = self.exchange(&Wire::document(&request)?, None).await?;
        reply.into_bytes()
    }

    /// Sends until an answer arrives or the retry rules say stop. Any HTTP status that they do not repeat is an answer.
    async fn exchange(&self, wire: &Wire, signature: Option<&Signature>) -> Result<Reply, Error> {
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
            let next = retries.after(&outcome, self.settings.timeouts.retry);
            if !matches!(next, Next::Stop) {
                at = (at + 1) % self.endpoints.len();
            }
            match next {
                Next::Stop => {
                    self.remember(at, &outcome);
                    return outcome;
                }
                Next::AtOnce => {}
                Next::After(pause) => tokio::time::sleep(pause).await,
            }
        }
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
