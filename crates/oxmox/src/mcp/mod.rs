//! MCP over the engine: both eras of the protocol from one handler, whatever transport carries it.
//!
//! | module | what lives there |
//! |---|---|
//! | `listing`, `changed` | tools/list, from what the registry says of its tools, and the news that it is another one |
//! | `call`, `talk`, `form` | tools/call, its progress, and the question to a person |
//! | `tasks` | tasks/*: a change that outlives its call |
//! | `trace` | calls as spans, in the trace that their client names |
//! | `opening` | what a client may send before its first request |
//! | `peer` | who is at the other end, and what it can do |
//! | `resources`, `prompts`, `complete` | what a client can offer its user besides tools |
//! | `subscribe`, `watch` | who listens to which resources, and what tells them |
//! | `conformance` | what the official conformance suite calls by fixed names; only with the feature of that name |
//! | `handler` | the methods of the protocol, each a line or two over the modules above |
//!
//! What a call means is decided in `tools::engine`. Nothing in here can change PVE; resources and completions read it,
//! through the engine's Readers. No transport in here either, apart from stdio, which is none to speak of.

mod call;
mod changed;
mod complete;
#[cfg(feature = "conformance")]
mod conformance;
mod form;
mod handler;
mod listing;
mod opening;
mod peer;
mod prompts;
mod repeated;
mod resources;
mod subscribe;
mod talk;
mod tasks;
pub(crate) mod trace;
mod watch;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::caller::Scope;
use tools::context::Cluster;
use tools::engine::Engine;

pub use listing::tools_json;
use subscribe::Subscriptions;
use trace::Traces;
use watch::Watcher;

/// The handler of one connection. A clone is one for another connection; HTTP makes one per session and per request.
pub struct Server {
    shared: Arc<Shared>,
    subscriptions: Subscriptions,
    teller: changed::Teller,
    traces: Option<Traces>,
    /// The names of the clusters that those who come by this connection reach; `None`: all. Not the clusters, in which there
    /// may be a caller's secret: a session lasts longer than its use.
    granted: Option<Vec<String>>,
}

impl Clone for Server {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            subscriptions: Subscriptions::default(),
            teller: changed::Teller::default(),
            traces: self.traces.clone(),
            granted: self.granted.clone(),
        }
    }
}

struct Shared {
    engine: Arc<Engine>,
    /// One list for each thing that a caller may do at worst, made once: it must be the same for every call.
    tools: [OnceLock<Vec<rmcp::model::Tool>>; 3],
    patience: Duration,
    watcher: Arc<Watcher>,
    /// The calls that wait for their answers.
    calls: TaskTracker,
}

/// How long a server waits for what.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long a person may take over a question that is put while the call waits. Past it the plan is still there to be
    /// approved; only this call stops waiting.
    pub patience: Duration,
    /// How often a cluster is looked at while somebody listens to its resources.
    pub look_again: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            patience: Duration::from_mins(5),
            look_again: Duration::from_secs(5),
        }
    }
}

impl Server {
    /// A server over this engine.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self::at_pace(engine, Pace::default())
    }

    /// The same, at another pace.
    pub fn at_pace(engine: Arc<Engine>, pace: Pace) -> Self {
        Self {
            shared: Arc::new(Shared {
                engine,
                tools: Default::default(),
                patience: pace.patience,
                watcher: Watcher::new(pace.look_again),
                calls: TaskTracker::new(),
            }),
            subscriptions: Subscriptions::default(),
            teller: changed::Teller::default(),
            traces: None,
            granted: None,
        }
    }

    /// The same, with a place for the spans of its calls.
    #[must_use]
    pub(crate) fn traced(self, traces: Option<Traces>) -> Self {
        Self { traces, ..self }
    }
}

impl Server {
    /// A server for whoever sends this request. Others can be served by it as well: what it knows of the caller is used
    /// where rmcp does not say whose wish it asks about, and only there.
    #[must_use]
    pub(crate) fn for_sender(&self, request: &http::Extensions) -> Self {
        let own = peer::acting_for(request);
        let engine = own.unwrap_or(&self.shared.engine);
        let name = |cluster: &Arc<Cluster>| cluster.name.clone();
        let granted = match peer::holder(request) {
            Some(holder) => Some(engine.clusters_for(&holder.caller).map(name).collect()),
            // Nobody was asked who they are, but they reach what they have a token for.
            None => own.map(|own| own.clusters().iter().map(name).collect()),
        };
        Self {
            granted,
            ..self.clone()
        }
    }

    /// Waits until every call has its answer.
    pub async fn answered(&self) {
        self.shared.calls.close();
        self.shared.calls.wait().await;
    }

    /// The engine that acts for the caller of a request.
    fn engine<'a>(&'a self, ctx: &'a peer::Context) -> &'a Arc<Engine> {
        peer::on_behalf(ctx).unwrap_or(&self.shared.engine)
    }

    /// The clusters that the caller of a request reaches.
    fn reached(&self, ctx: &peer::Context) -> Vec<Arc<Cluster>> {
        let caller = peer::caller(ctx);
        self.engine(ctx).clusters_for(&caller).cloned().collect()
    }
}

impl Shared {
    /// The tools for a caller who may do so much.
    fn tools(&self, scope: Scope) -> &[rmcp::model::Tool] {
        self.tools[scope as usize].get_or_init(|| {
            let tools = listing::tools(self.engine.registry_for(scope));
            #[cfg(feature = "conformance")]
            let tools = tools.into_iter().chain(conformance::tools()).collect();
            tools
        })
    }
}

/// Why a connection ended other than by its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The first message was none that MCP begins with, or it could not be answered.
    #[error("the client did not begin as MCP begins: {}", opening::in_words(.0))]
    Begin(Box<ServerInitializeError>),
    /// The task that reads and writes broke.
    #[error("the connection broke off: {0}")]
    Broken(tokio::task::JoinError),
}

/// Serves one client on stdin and stdout until either is closed or `stop` is cancelled.
///
/// Nothing else may be written to stdout meanwhile. Changes that were begun may outlive it: `Engine::drain` waits for them.
pub async fn serve_stdio(engine: Arc<Engine>, stop: CancellationToken) -> Result<(), Error> {
    let (input, output) = rmcp::transport::stdio_pipes();
    Box::pin(serve_on(Server::new(engine), input, output, stop)).await
}

/// Serves one client that sends JSON lines on `input` and reads them from `output`.
pub async fn serve_on<R, W>(
    server: Server,
    input: R,
    output: W,
    stop: CancellationToken,
) -> Result<(), Error>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let input = repeated::Unrepeated::new(input);
    let transport = opening::Opening::new(AsyncRwTransport::new_server(input, output));
    match server.serve_with_ct(transport, stop).await {
        Ok(running) => running.waiting().await.map(drop).map_err(Error::Broken),
        // A client that only looked whether there is a server, or a stop before the first request.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(Error::Begin(Box::new(error))),
    }
}
