//! The service as a whole: what must hold before it begins, its work, and its end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::middleware::{self, Next};
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::engine::Engine;

use super::auth::Door;
use super::limit::Limiter;
use super::settings::Live;
use super::{Error, accept, is_open, router, telemetry};
use crate::cli::out;
use crate::mcp::{self, Server};
use crate::web::{Manner, Page};

/// How long calls that wait for their answer may wait on after the stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long the answer to a 2025 client is on its way through its session to its stream, at most.
const ON_THE_WAY: Duration = Duration::from_millis(250);
/// How long answers that are still being written may take then.
const LAST_BYTES: Duration = Duration::from_secs(5);

/// A listener that may be served. Whoever connects meanwhile waits until it is run.
pub struct Service {
    engine: Arc<Engine>,
    listener: TcpListener,
    address: SocketAddr,
    live: watch::Receiver<Arc<Live>>,
    stop: CancellationToken,
    is_open: bool,
    limiter: Limiter,
    page: Arc<Page>,
}

impl Service {
    /// Refuses a listener that other machines can reach if nobody is asked there who they are, or if what they bring along to
    /// be known by could be read on its way.
    pub async fn open(
        engine: Arc<Engine>,
        listener: TcpListener,
        live: watch::Receiver<Arc<Live>>,
        stop: CancellationToken,
    ) -> Result<Self, Error> {
        let address = listener.local_addr().map_err(Error::Socket)?;
        let settings = live.borrow().clone();
        // Where an OAuth server vouches for callers, all of them are asked who they are.
        let is_open = settings.oauth.is_none() && is_open(&engine, address).await?;
        // A proxy on this machine lets others in, too.
        if is_open && settings.is_behind_others() {
            return Err(Error::ForOthers);
        }
        if !settings.is_private_for(address.ip()) {
            return Err(Error::Unencrypted(address));
        }
        let limiter = Limiter::new(live.clone());
        let manner = Manner {
            open: is_open,
            secure: settings.is_secure(),
            look_again: settings.pace.look_again,
            gate: limiter.gate.clone(),
        };
        let page = Page::new(engine.clone(), manner, &stop);
        let service = Self {
            engine,
            listener,
            address,
            live,
            stop,
            is_open,
            limiter,
            page,
        };
        if let Some(address) = service.page_address() {
            service.engine.serves_page_at(&address);
        }
        Ok(service)
    }

    /// Where people find the page: by the name that others know the server by, if there is one. An address that stands for
    /// all of the machine's is none that a browser could open.
    fn page_address(&self) -> Option<String> {
        match &self.live.borrow().public_url {
            Some(public) => Some(format!("{}/", public.as_str())),
            None if self.address.ip().is_unspecified() => None,
            None => Some(self.page.address(self.address)),
        }
    }

    /// Says where people decide, and how the one at this machine gets in.
    pub fn announce(&self) {
        let address = self.page_address();
        match (self.page.link(self.address), address) {
            (Some(link), _) => out::say(format_args!(
                "The page for people, with a link that signs in once:\n  {}",
                link.expose_secret()
            )),
            (None, address) => out::say(format_args!(
                "The page for people is at {}; sign in with a person's token",
                address.unwrap_or_else(|| self.page.address(self.address))
            )),
        }
    }

    /// Serves until its stop is cancelled. The settings may change meanwhile.
    ///
    /// Changes that were begun may outlive it: `Engine::drain` waits for them.
    pub async fn run(self) -> Result<(), Error> {
        let door = Door::new(self.engine.clone(), self.is_open, self.limiter.clone());
        let traces = self.live.borrow().otlp_url.clone().map(telemetry::to);
        let pace = mcp::Pace {
            look_again: self.live.borrow().pace.look_at_clusters,
            ..mcp::Pace::default()
        };
        let server = Server::at_pace(self.engine.clone(), pace).traced(traces.clone());
        // Streams end when those who wait have their answers: a 2025 client hears its answer on one.
        let streams = CancellationToken::new();
        let handled = TaskTracker::new();
        let engine = self.engine.clone();
        let app = router(
            self.engine,
            server.clone(),
            Arc::new(door),
            self.limiter,
            &self.page,
            &streams,
        )
        .layer(middleware::from_fn_with_state(handled.clone(), handle));
        let stop = self.stop.clone();
        let end = async {
            stop.cancelled().await;
            engine.hurry();
            handled.close();
            let _ = tokio::time::timeout(GRACE, async {
                server.answered().await;
                handled.wait().await;
            })
            .await;
            tokio::time::sleep(ON_THE_WAY).await;
            streams.cancel();
            tokio::time::sleep(LAST_BYTES).await;
        };
        let ended = tokio::select! {
            ended = accept::serve(self.listener, app, self.live, self.stop) => ended.map_err(Error::Socket),
            () = end => Ok(()),
        };
        if let Some(traces) = traces {
            telemetry::flush(&traces).await;
        }
        ended
    }
}

/// Opens the service and runs it.
pub async fn serve(
    engine: Arc<Engine>,
    listener: TcpListener,
    live: watch::Receiver<Arc<Live>>,
    stop: CancellationToken,
) -> Result<(), Error> {
    let service = Service::open(engine, listener, live, stop).await?;
    service.announce();
    service.run().await
}

/// Keeps count of the requests whose answers have not begun.
async fn handle(
    State(handled): State<TaskTracker>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let _handling = handled.token();
    next.run(request).await
}
