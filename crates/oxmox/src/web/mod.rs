//! The page at `/`, for people: what waits for their yes, what there is, what was done.
//!
//! | module | what lives there |
//! |---|---|
//! | `assets` | the files of the page, in the binary |
//! | `door` | who is signed in, and which requests are the page's own |
//! | `sign_in` | from a token or a code to a session |
//! | `inbox`, `look`, `tasks`, `audit`, `chain`, `follow` | what the page asks for |
//! | `events` | what it is told without asking |
//!
//! What the page shows of a cluster it reads by the engine's own tools, as the person who is signed in; the list of tasks, which has
//! to be read whole, it reads itself.

mod answer;
mod assets;
mod audit;
mod chain;
mod door;
mod events;
mod follow;
mod headers;
mod inbox;
mod look;
mod sign_in;
mod tasks;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::routing::{get, post};
use axum::{Router, middleware};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use tokio_util::sync::CancellationToken;
use tools::engine::Engine;
use tools::keys;

use crate::http::Gate;
use crate::token::Checker;
use chain::Chain;
pub(crate) use door::recognize;
use events::Pulse;

/// The longest body that the page sends.
pub(crate) const LONGEST_BODY: usize = 64 * 1024;

/// How the page is served.
pub struct Manner {
    /// Nobody has a token, so that a code of this process lets the person at this machine in.
    pub open: bool,
    /// Browsers come by TLS, so that the cookie goes no other way.
    pub secure: bool,
    /// How often it is looked whether who is signed in still is, while the page is told something.
    pub look_again: Duration,
    /// Counts who tries to sign in.
    pub gate: Arc<Gate>,
}

/// The page of one server.
pub struct Page {
    engine: Arc<Engine>,
    checker: Checker,
    gate: Arc<Gate>,
    look_again: Duration,
    /// Where nobody has a token: what lets the person at this machine in, once.
    code: Mutex<Option<SecretString>>,
    /// Whether browsers come by TLS, so that the cookie goes no other way.
    secure: bool,
    pulse: Pulse,
    chain: Chain,
    stop: CancellationToken,
}

impl Page {
    /// For people who decide on what this engine plans.
    pub fn new(engine: Arc<Engine>, manner: Manner, stop: &CancellationToken) -> Arc<Self> {
        let Manner {
            open,
            secure,
            look_again,
            gate,
        } = manner;
        let code = open.then(|| URL_SAFE_NO_PAD.encode(keys::random::<32>()).into());
        Arc::new(Self {
            pulse: Pulse::new(),
            chain: Chain::default(),
            engine,
            checker: Checker::default(),
            gate,
            look_again,
            code: Mutex::new(code),
            secure,
            stop: stop.clone(),
        })
    }

    /// Where the page is found at this address of the server.
    pub fn address(&self, at: SocketAddr) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{at}/")
    }

    /// The link that signs the person at this machine in, once. The code is in the fragment, which browsers send nowhere.
    pub fn link(&self, at: SocketAddr) -> Option<SecretString> {
        let code = self
            .code
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let code = code.as_ref()?.expose_secret();
        Some(format!("{}#sign-in={code}", self.address(at)).into())
    }

    /// Its routes.
    pub fn router(self: &Arc<Self>) -> Router {
        let asked = Router::new()
            .route("/api/me", get(sign_in::me))
            .route("/api/sign-out", post(sign_in::out))
            .route("/api/inbox", get(inbox::list))
            .route("/api/inbox/{id}", post(inbox::decide))
            .route("/api/inbox/{id}/reveal", post(inbox::reveal))
            .route("/api/plan/{id}", get(inbox::plan))
            .route("/api/look/{tool}", post(look::look))
            .route("/api/tasks/{cluster}", get(tasks::tasks))
            .route("/api/audit", post(audit::list))
            .route("/api/audit/chain", get(chain::whole))
            .route("/api/audit/chain/news", get(chain::news))
            .route_layer(middleware::from_fn_with_state(
                self.clone(),
                door::require_proof,
            ));
        // A browser sends no header of ours with these.
        let told = Router::new()
            .route("/api/follow/{upid}", get(follow::follow))
            .route("/api/events", get(events::events));
        let signed_in = asked
            .merge(told)
            .route_layer(middleware::from_fn_with_state(
                self.clone(),
                door::require_person,
            ));
        Router::new()
            .route("/api/sign-in", post(sign_in::sign_in))
            .merge(signed_in)
            .route_layer(middleware::from_fn(door::require_own_page))
            .route("/", get(assets::index))
            .route("/page/{name}", get(assets::asset))
            .route_layer(middleware::from_fn(headers::add))
            .with_state(self.clone())
    }
}
