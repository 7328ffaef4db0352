//! Streamable HTTP: the same handler at `/mcp`, for both eras.

mod auth;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use auth::{Door, authenticate};
use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tools::engine::Engine;
use tools::fault::Fault;

use crate::cli::out;
use crate::mcp::Server;
use crate::web::Page;

/// Where MCP is served.
const PATH: &str = "/mcp";

/// A 2025 session without a message for this long is closed. A call that waits for a person sends none, and its answer
/// would be lost.
const IDLE_SESSION: Duration = Duration::from_hours(1);

/// How long answers that are still being written may take after the stop.
const GRACE: Duration = Duration::from_secs(10);

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
/// asked there who they are.
///
/// Changes that were begun may outlive it: `Engine::drain` waits for them.
pub async fn serve(
    engine: Arc<Engine>,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<(), Error> {
    let address = listener.local_addr().map_err(Error::Socket)?;
    let open = is_open(&engine, address).await?;
    let page = Page::new(engine.clone(), open, false, &stop);
    announce(&page, &engine, address);
    let door = Door::new(engine.clone(), open);
    let app = router(Server::new(engine), door, address, &stop).merge(page.router());
    let served = axum::serve(listener, app).with_graceful_shutdown(stop.clone().cancelled_owned());
    let too_long = async {
        stop.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = served => ended.map_err(Error::Socket),
        () = too_long => Ok(()),
    }
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

fn router(server: Server, door: Door, address: SocketAddr, stop: &CancellationToken) -> Router {
    // A page in the user's browser can send requests here by a name of its own that resolves to this address, and from
    // its own origin. Both are checked; programs other than browsers send no Origin.
    let own = address.ip();
    let hosts = ["localhost", "127.0.0.1", "::1"].map(ToOwned::to_owned);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.into_iter().chain([own.to_string()]))
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .with_json_response(true)
        .with_cancellation_token(stop.child_token());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE_SESSION);
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), config);
    Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn_with_state(Arc::new(door), authenticate))
}
