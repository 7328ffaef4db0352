//! Streamable HTTP: the same handler at `/mcp`, for both eras.
//!
//! | module | what lives there |
//! |---|---|
//! | `settings` | what the service is told, and what is made of it |
//! | `accept`, `tls` | connections and their certificate |
//! | `origin` | whom a request was meant for, and which page sent it |
//! | `auth`, `oauth` | who calls |
//! | `estate` | who acts by their own token of PVE |
//! | `limit` | how much each may ask for |
//! | `telemetry` | the calls as spans of OpenTelemetry |
//! | `fetch` | one request to another server |
//! | `health`, `metrics` | how the process is, and what it has done |

mod accept;
mod auth;
mod estate;
mod fetch;
mod health;
mod limit;
mod metrics;
mod oauth;
mod origin;
mod settings;
mod telemetry;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use auth::{Door, authenticate};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::middleware::Next;
use axum::routing::get;
use axum::{Router, middleware};
use estate::Behalf;
use limit::{Limiter, limit};
use oauth::reach::Reach;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::engine::Engine;
use tools::fault::Fault;

use crate::cli::out;
use crate::mcp::Server;
use crate::web::Page;
pub(crate) use estate::OnBehalf;
pub use estate::PveTokens;
pub use limit::Limits;
pub use oauth::{Jwks, OAuth};
pub use origin::PublicUrl;
pub use settings::{Live, Settings, TlsFiles};

/// Where MCP is served.
const PATH: &str = "/mcp";

/// A 2025 session without a message for this long is closed. A call that waits for a person sends none, and its answer
/// would be lost.
const IDLE_SESSION: Duration = Duration::from_hours(1);

/// How long calls that wait for their answer may wait on after the stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long the answer to a 2025 client is on its way through its session to its stream, at most.
const ON_THE_WAY: Duration = Duration::from_millis(250);
/// How long answers that are still being written may take then.
const LAST_BYTES: Duration = Duration::from_secs(5);

/// Why nothing is served any more, or yet.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No token was given out, so whoever can reach the address could use the clusters.
    #[error("{0} can be reached from other machines, and no caller has a token")]
    NotLoopback(SocketAddr),
    /// It cannot be seen who has a token.
    #[error("{0}")]
    Store(Fault),
    /// The socket failed.
    #[error("the listener failed: {0}")]
    Socket(std::io::Error),
}

/// Whether callers at this address have to bring a token along: as soon as anybody has one. Where nobody has, only this
/// machine may call.
pub async fn is_open(engine: &Engine, address: SocketAddr) -> Result<bool, Error> {
    let tokens = match engine.store().await {
        Ok(store) => store.tokens().await,
        Err(fault) => Err(fault),
    };
    let is_open = tokens.map_err(Error::Store)?.is_empty();
    if is_open && !address.ip().to_canonical().is_loopback() {
        return Err(Error::NotLoopback(address));
    }
    Ok(is_open)
}

/// Serves MCP on this listener until `stop` is cancelled. Refuses a listener that other machines can reach if nobody is
/// asked there who they are. The settings may change meanwhile.
///
/// Changes that were begun may outlive it: `Engine::drain` waits for them.
pub async fn serve(
    engine: Arc<Engine>,
    listener: TcpListener,
    live: watch::Receiver<Arc<Live>>,
    stop: CancellationToken,
) -> Result<(), Error> {
    let address = listener.local_addr().map_err(Error::Socket)?;
    let limiter = Limiter {
        gate: Arc::default(),
        live: live.clone(),
    };
    // Where an OAuth server vouches for callers, all of them are asked who they are.
    let vouched = live.borrow().oauth.is_some();
    let is_open = !vouched && is_open(&engine, address).await?;
    let page = Page::new(engine.clone(), is_open, live.borrow().tls.is_some(), &stop);
    announce(&page, &engine, address);
    let door = Door::new(engine.clone(), is_open, limiter.clone());
    let traces = live.borrow().otlp_url.clone().map(telemetry::to);
    let server = Server::new(engine.clone()).traced(traces.clone());
    // Streams end when those who wait have their answers: a 2025 client hears its answer on one.
    let streams = CancellationToken::new();
    let handled = TaskTracker::new();
    let app = router(
        engine,
        server.clone(),
        Arc::new(door),
        limiter,
        &page,
        (&stop, &streams),
    )
    .layer(middleware::from_fn_with_state(handled.clone(), handle));
    let end = async {
        stop.cancelled().await;
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
        ended = accept::serve(listener, app, live, stop.clone()) => ended.map_err(Error::Socket),
        () = end => Ok(()),
    };
    if let Some(traces) = traces {
        telemetry::flush(&traces).await;
    }
    ended
}

/// Says where people decide, and how the one at this machine gets in.
fn announce(page: &Page, engine: &Engine, address: SocketAddr) {
    // One that stands for all addresses of the machine is none that a browser could open.
    if !address.ip().is_unspecified() {
        engine.serves_page_at(&page.address(address));
    }
    match page.link(address) {
        Some(link) => out::say(format_args!(
            "The page for people, with a link that signs in once:\n  {}",
            link.expose_secret()
        )),
        None => out::say(format_args!(
            "The page for people is at {}; sign in with a person's token",
            page.address(address)
        )),
    }
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

/// Settings that stay as they are.
pub fn unchanging(live: Live) -> watch::Receiver<Arc<Live>> {
    watch::channel(Arc::new(live)).1
}

fn router(
    engine: Arc<Engine>,
    server: Server,
    door: Arc<Door>,
    limiter: Limiter,
    page: &Arc<Page>,
    (stop, streams): (&CancellationToken, &CancellationToken),
) -> Router {
    let live = limiter.live.clone();
    // Host and Origin are checked for all routes, by `origin`.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_cancellation_token(streams.clone());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE_SESSION);
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config);
    let behalf = Behalf {
        engine: engine.clone(),
        live: live.clone(),
    };
    let reach = Reach {
        engine: engine.clone(),
        live: live.clone(),
    };
    let mcp = Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn_with_state(behalf, estate::act))
        .layer(middleware::from_fn_with_state(reach, oauth::reach::check))
        .layer(middleware::from_fn_with_state(limiter.clone(), limit))
        .layer(middleware::from_fn_with_state(door.clone(), authenticate));
    // Whoever comes here is not known yet, and counts by address.
    let others = health::routes(engine, door, stop.clone())
        .merge(metadata(&live))
        .merge(page.router())
        .layer(middleware::from_fn_with_state(limiter, limit));
    mcp.merge(others)
        .layer(middleware::from_fn_with_state(live, origin::check))
}

/// Where tokens of OAuth come from, at the address of the endpoint and at the one of the whole server.
fn metadata(live: &watch::Receiver<Arc<Live>>) -> Router {
    let live = live.clone();
    let told = get(move || {
        let live = live.borrow().clone();
        async move { oauth::metadata(live.oauth.as_ref()) }
    });
    Router::new()
        .route(oauth::METADATA, told.clone())
        .route(&format!("{}{PATH}", oauth::METADATA), told)
}

/// An answer in words.
fn say(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut answer = Response::new(text.into());
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, plain);
    answer
}

/// An answer as data.
fn data(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    let mut answer = say(status, format!("{value}\n"));
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
