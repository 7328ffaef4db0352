//! Callers who bring their own token of PVE along: what they do is by their rights, and PVE's task log names them.
//!
//! The secret lives in the client that was made for it, for as long as a call or a listener uses it, and nowhere else.
//! The clients are in `ways`.

mod ways;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::Next;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tools::engine::Engine;

use super::accept::Peer;
use super::say;
use super::settings::Live;
use crate::token::Holder;
use ways::Brought;
pub(super) use ways::Estates;

/// `USER@REALM!NAME=SECRET`, with `CLUSTER:` before it where there are several; one for each.
const HEADER: &str = "x-pve-api-token";

/// Whether callers may bring their own token of PVE along.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PveTokens {
    /// No: a request that brings one is refused, since it would run with other rights than meant.
    #[default]
    Off,
    /// Who brings none acts with the rights of oxmox.
    Allowed,
    /// Who brings none does nothing.
    Required,
}

/// The engine that acts for the caller of a request by their own token, among its extensions.
#[derive(Clone)]
pub(crate) struct OnBehalf(pub(crate) Arc<Engine>);

/// Cancelled when nobody may act any more as the caller of a request does, by their own token or without one: whoever listens
/// has to end. Among its extensions.
#[derive(Clone)]
pub(crate) struct ActsUntil(pub(crate) CancellationToken);

/// What the layer needs.
#[derive(Clone)]
pub(super) struct Behalf {
    pub(super) engine: Arc<Engine>,
    pub(super) live: watch::Receiver<Arc<Live>>,
}

/// Lets a request that brings a token of PVE along act by it.
pub(super) async fn act(
    State(behalf): State<Behalf>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let live = behalf.live.borrow().clone();
    let is_private = request
        .extensions()
        .get::<Peer>()
        .is_some_and(|peer| peer.is_private);
    // Nobody behind this sees it, and no log can.
    let tokens = taken(request.headers_mut());
    let refused = |status, why: &str| say(status, format!("{HEADER}: {why}\n"));
    match (live.pve_tokens, tokens.as_slice()) {
        (PveTokens::Required, []) => {
            let why = "here callers act with their own token of PVE, and this request brings none";
            return refused(StatusCode::FORBIDDEN, why);
        }
        (_, []) => {
            let until = ActsUntil(live.until_required.clone());
            request.extensions_mut().insert(until);
            return next.run(request).await;
        }
        (PveTokens::Off, _) => {
            let why =
                "this server takes no tokens of PVE; a person can switch that on with pve_tokens";
            return refused(StatusCode::BAD_REQUEST, why);
        }
        _ if !is_private => {
            let why = "a secret is taken over TLS only, or from this machine";
            return refused(StatusCode::FORBIDDEN, why);
        }
        _ => {}
    }
    let Ok(store) = behalf.engine.store().await else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "the store does not answer");
    };
    let mut parts: Vec<&[u8]> = vec![b"pve tokens"];
    parts.extend(tokens.iter().map(String::as_bytes));
    let sum = store.keys.seal(&parts);
    let words: Vec<_> = tokens.iter().map(String::as_str).collect();
    let by = request.extensions().get::<Holder>();
    let brought = Brought {
        by: by.map(|holder| holder.caller.name.as_str()),
        sum,
        tokens: &words,
    };
    let until = &live.until_off;
    match live.estates.engine(&behalf.engine, brought, until) {
        Ok(engine) => {
            let extensions = request.extensions_mut();
            extensions.insert(OnBehalf(engine));
            extensions.insert(ActsUntil(until.clone()));
            next.run(request).await
        }
        Err(why) => refused(StatusCode::BAD_REQUEST, &why),
    }
}

/// The tokens of a request, which has them no longer.
fn taken(headers: &mut HeaderMap) -> Vec<String> {
    let given = headers.get_all(HEADER).iter();
    // What is no text cannot be a token, and is refused as one.
    let tokens = given.map(|value| value.to_str().unwrap_or_default().trim().to_owned());
    let tokens = tokens.collect();
    headers.remove(HEADER);
    tokens
}
