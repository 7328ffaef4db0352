//! A tool that goes beyond what a caller's token allows: told as OAuth tells it, so that a client can ask its user for more.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::Next;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use tokio::sync::watch;
use tools::caller::Scope;
use tools::engine::Engine;
use tools::tool::Object;

use super::Vouched;
use crate::http::auth::challenged;
use crate::http::settings::Live;
use crate::token::Holder;

/// What the layer needs.
#[derive(Clone)]
pub(in crate::http) struct Reach {
    pub(in crate::http) engine: Arc<Engine>,
    pub(in crate::http) live: watch::Receiver<Arc<Live>>,
}

/// The part of a message that tells.
#[derive(Deserialize)]
struct Message {
    method: String,
    params: Option<Params>,
}

#[derive(Deserialize)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Object,
}

/// Lets through what the caller's scope reaches at its mildest. How far a plan goes is the engine's matter.
pub(in crate::http) async fn check(
    State(reach): State<Reach>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let holder = request.extensions().get::<Holder>().cloned();
    let (Some(holder), Some(_)) = (holder, request.extensions().get::<Vouched>()) else {
        return next.run(request).await;
    };
    // The layer before this one has read all of it.
    let (parts, body) = request.into_parts();
    let Ok(bytes) = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
    else {
        return super::say(StatusCode::BAD_REQUEST, "the request broke off\n");
    };
    let needed = needed(&reach.engine, &bytes, holder.caller.bounds.scope);
    let live = reach.live.borrow().clone();
    match (needed, &live.oauth) {
        (Some(needed), Some(verifier)) => challenged(
            StatusCode::FORBIDDEN,
            "the scope of this token does not reach that tool\n",
            &verifier.challenge(Some("insufficient_scope"), needed),
        ),
        _ => next.run(Request::from_parts(parts, bytes.into())).await,
    }
}

/// The scope that a call needs, if that is more than this one.
fn needed(engine: &Engine, message: &[u8], has: Scope) -> Option<Scope> {
    let message: Message = serde_json::from_slice(message).ok()?;
    let params = message.params.filter(|_| message.method == "tools/call")?;
    let offers = |scope: Scope| {
        let (mut name, mut arguments) = (params.name.clone(), params.arguments.clone());
        let registry = engine.registry_for(scope);
        registry.meant(&mut name, &mut arguments).is_ok()
    };
    let enough = Scope::ALL.into_iter().find(|scope| offers(*scope))?;
    (enough as usize > has as usize).then_some(enough)
}
