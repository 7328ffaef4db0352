//! Whether the process lives, whether it can do its work, and what it has done.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::get;
use serde_json::json;
use tokio::sync::Semaphore;
use tools::caller::Bounds;
use tools::engine::Engine;

use super::accept::Peer;
use super::auth::{Door, is_passed_on};
use super::{data, metrics, say};
use crate::session::now;

/// How long the store may take to answer.
const STORE: Duration = Duration::from_secs(2);
/// How many look into it at a time: more than one, as one connection of a store may hang and the others not.
const AT_A_TIME: usize = 4;

#[derive(Clone)]
struct Watched {
    engine: Arc<Engine>,
    door: Arc<Door>,
    /// Whose turn it is to look into the store.
    turns: Arc<Semaphore>,
}

impl Watched {
    /// How many plans wait for a person, if the store answers.
    async fn waiting(&self) -> Option<u64> {
        let engine = self.engine.clone();
        in_turn(&self.turns, async move {
            let store = engine.store().await.ok()?;
            store.count_waiting(now()).await.ok()
        })
        .await
    }
}

/// `/healthz`, `/readyz` and `/metrics`.
pub(super) fn routes(engine: Arc<Engine>, door: Arc<Door>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(measured))
        .with_state(Watched {
            engine,
            door,
            turns: Arc::new(Semaphore::new(AT_A_TIME)),
        })
}

/// Ready is who can take calls: the store answers. A cluster that does not answer is told and makes nobody unready: another
/// replica would not reach it either. Nothing is sent to find out. Once an end was ordered nobody can connect to ask.
async fn ready(State(watched): State<Watched>) -> Response<Body> {
    let is_ready = watched.waiting().await.is_some();
    let mut clusters = [("answering", 0), ("silent", 0), ("not_asked", 0)];
    for cluster in watched.engine.clusters() {
        let state = match cluster.pve.tally().reached() {
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        };
        clusters[state].1 += 1;
    }
    let told = json!({
        "ready": is_ready,
        "store": if is_ready { "answering" } else { "silent" },
        "clusters": clusters.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    });
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    data(status, &told)
}

/// A few looks at a time, the next once one has its answer, however long nobody waits for that any more: anybody may ask this,
/// and whatever a store was asked while it hung it works off before anybody's call.
async fn in_turn<T: Send + 'static>(
    turns: &Arc<Semaphore>,
    look: impl Future<Output = Option<T>> + Send + 'static,
) -> Option<T> {
    let looked = async {
        let turn = turns.clone().acquire_owned().await.ok()?;
        let look = tokio::spawn(async move {
            let _turn = turn;
            look.await
        });
        look.await.ok().flatten()
    };
    tokio::time::timeout(STORE, looked).await.ok().flatten()
}

/// For callers who are known, and for whoever is on this machine.
async fn measured(State(watched): State<Watched>, request: Request) -> Response<Body> {
    let headers = request.headers().clone();
    let from = request.extensions().get::<Peer>().map(|peer| peer.address);
    let asker = watched.door.asker(&request);
    drop(request);
    let bounds = if is_near(from, &headers) && !watched.door.is_behind_others() {
        Bounds::default()
    } else {
        match watched.door.admit(&headers, asker).await {
            Ok(known) => known.bounds(),
            Err(refusal) => return refusal,
        }
    };
    let mut text = metrics::render(&watched.engine, &bounds);
    if let Some(waiting) = watched.waiting().await {
        let _ = write!(
            text,
            "# HELP oxmox_approvals_waiting Plans that wait for a person.\n\
             # TYPE oxmox_approvals_waiting gauge\noxmox_approvals_waiting {waiting}\n"
        );
    }
    let mut answer = say(StatusCode::OK, text);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// Whether somebody on this machine asks, and on nobody else's behalf.
fn is_near(from: Option<IpAddr>, headers: &HeaderMap) -> bool {
    from.is_some_and(|from| from.is_loopback()) && !is_passed_on(headers)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_store_that_hangs_is_asked_a_few_times() {
        let turns = Arc::new(Semaphore::new(AT_A_TIME));
        let asked = Arc::new(AtomicUsize::new(0));
        let look = |answer: oneshot::Receiver<u64>| {
            let asked = asked.clone();
            in_turn(&turns, async move {
                asked.fetch_add(1, Ordering::Relaxed);
                answer.await.ok()
            })
        };
        let (store, hangs): (Vec<_>, Vec<_>) = (0..100).map(|_| oneshot::channel()).unzip();
        let looks = futures_util::future::join_all(hangs.into_iter().map(look)).await;
        assert!(looks.iter().all(Option::is_none));
        assert_eq!(asked.load(Ordering::Relaxed), AT_A_TIME);
        // It answers again, and is asked again.
        drop(store);
        let (store, answers) = oneshot::channel();
        store.send(7).unwrap();
        assert_eq!(look(answers).await, Some(7));
    }
}
