//! Streamable HTTP: the same handler at `/mcp`, for both eras.
//!
//! | module | what lives there |
//! |---|---|
//! | `settings` | what the service is told, and what is made of it |
//! | `service` | all of it together, from the first look at the address to the end |
//! | `accept`, `crowd`, `impatient`, `tls` | connections, how many, for how long, and their certificate |
//! | `origin` | whom a request was meant for, and which page sent it |
//! | `auth`, `admission`, `oauth` | who calls, and whether they still may |
//! | `estate` | who acts by their own token of PVE |
//! | `limit` | how much each may ask for |
//! | `held` | what ends with an answer |
//! | `repeated` | messages that say something twice |
//! | `sessions` | whose a session of a 2025 client is |
//! | `telemetry` | the calls as spans of OpenTelemetry |
//! | `fetch` | one request to another server |
//! | `health`, `metrics` | how the process is, and what it has done |

mod accept;
mod admission;
mod auth;
mod crowd;
mod estate;
mod fetch;
mod health;
mod held;
mod impatient;
mod limit;
mod metrics;
mod oauth;
mod origin;
mod repeated;
mod service;
mod sessions;
mod settings;
mod telemetry;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;

pub(crate) use admission::Admission;
use auth::{Door, authenticate};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::routing::{any, get};
use axum::{Router, middleware};
use estate::Behalf;
use limit::{Limiter, limit};
use oauth::reach::Reach;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use sessions::{Sessions, keep_apart};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tools::engine::Engine;
use tools::fault::Fault;

use crate::mcp::Server;
use crate::web::{LONGEST_BODY, Page, recognize};
pub use estate::PveTokens;
pub(crate) use estate::{ActsUntil, OnBehalf};
pub(crate) use limit::{Asker, SignedIn, TooMuch, Try};
pub use limit::{Gate, Limits};
pub use oauth::{Jwks, OAuth};
pub use origin::PublicUrl;
pub use service::{Service, serve};
pub use settings::{Live, Pace, Settings, TlsFiles};

/// Where MCP is served.
const PATH: &str = "/mcp";

/// Why nothing is served any more, or yet.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No token was given out, so whoever can reach the address could use the clusters.
    #[error("{0} can be reached from other machines, and no caller has a token")]
    NotLoopback(SocketAddr),
    /// The same, for an address of this machine that others are meant to reach in another way.
    #[error(
        "the configuration says that others reach it (public_url, behind_proxy), and no caller has a token"
    )]
    ForOthers,
    /// Callers would bring their tokens along for everybody on the way to read.
    #[error("{0} can be reached from other machines, and what they send would not be encrypted")]
    Unencrypted(SocketAddr),
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
    let has_tokens = match engine.store().await {
        Ok(store) => store.has_tokens().await,
        Err(fault) => Err(fault),
    };
    let is_open = !has_tokens.map_err(Error::Store)?;
    if is_open && !address.ip().to_canonical().is_loopback() {
        return Err(Error::NotLoopback(address));
    }
    Ok(is_open)
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
    streams: &CancellationToken,
) -> Router {
    let live = limiter.live.clone();
    // Host and Origin are checked for all routes, by `origin`, and how long requests may be by `limit`.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(usize::MAX)
        .with_json_response(true)
        .with_cancellation_token(streams.clone());
    let sessions = Arc::new(Sessions::new());
    let look_again = live.borrow().pace.look_again;
    tokio::spawn(sessions::sweep(
        Arc::downgrade(&sessions),
        Arc::downgrade(&door),
        look_again,
    ));
    let manager = sessions.manager.clone();
    let endpoint = any(move |request: Request| {
        let server = server.for_sender(request.extensions());
        let service = move || Ok(server.clone());
        let service = StreamableHttpService::new(service, manager.clone(), config.clone());
        async move { service.handle(request).await }
    });
    let behalf = Behalf {
        engine: engine.clone(),
        live: live.clone(),
    };
    let reach = Reach {
        engine: engine.clone(),
        live: live.clone(),
    };
    let mcp = Router::new()
        .route(PATH, endpoint)
        .layer(middleware::from_fn_with_state(sessions, keep_apart))
        .layer(middleware::from_fn_with_state(behalf, estate::act))
        .layer(middleware::from_fn_with_state(reach, oauth::reach::check))
        .layer(middleware::from_fn(repeated::refuse))
        .layer(middleware::from_fn(auth::recheck))
        .layer(middleware::from_fn_with_state(limiter.clone(), limit))
        .layer(middleware::from_fn_with_state(door.clone(), authenticate));
    // Whoever comes here has little to send, and counts by address unless they are signed in.
    let for_page = limiter.for_page(LONGEST_BODY);
    let others = metadata(&live)
        .merge(page.router())
        .layer(middleware::from_fn_with_state(for_page, limit))
        .layer(middleware::from_fn_with_state(page.clone(), recognize));
    // Whoever floods the page must not make a balancer believe that nobody is there.
    mcp.merge(others)
        .merge(health::routes(engine, door))
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

/// A refusal of a request whose body nobody has read. Where there is one the connection ends, and the answer says so.
fn unread(request: &Request, refusal: Response<Body>) -> Response<Body> {
    if hyper::body::Body::is_end_stream(request.body()) {
        return refusal;
    }
    closing(refusal)
}

/// The last answer on its connection.
fn closing(mut answer: Response<Body>) -> Response<Body> {
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}

/// An answer as data.
fn data(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    let mut answer = say(status, format!("{value}\n"));
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}

/// An engine that has no clusters, and keeps everything in memory.
#[cfg(test)]
fn engine_of_nothing() -> Arc<Engine> {
    let setup = tools::engine::Setup {
        toolsets: vec![tools::spec::Toolset::Core],
        choices: tools::registry::Choices::default(),
        policy: tools::policy::Policy::default(),
        state: tools::engine::State::Memory,
        clock: Arc::new(|| 0),
        uploads: tools::uploads::Uploads::default(),
        approve: String::new(),
        scripts: None,
        copyist: None,
    };
    Engine::new(Vec::new(), setup)
}
