//! Sessions of 2025 clients. Who knows the id of one could read its answers, and answer in the place of the person at the other
//! client, so a session is its caller's alone; and nobody has more of them than a few.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::middleware::Next;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::say;
use crate::token::Holder;

/// The header that names one.
const ID: &str = "mcp-session-id";
/// A session without a message for this long is closed. A call that waits for a person sends none, and its answer would be
/// lost.
const IDLE: Duration = Duration::from_hours(1);
/// How many one caller has at a time. Programs that end without a word leave theirs behind; the one that was used least
/// lately makes room.
const MOST: usize = 64;

/// The sessions of all callers.
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    begun: Mutex<HashMap<String, Begun>>,
}

struct Begun {
    /// `None`: nobody was asked who they are.
    by: Option<String>,
    used: Instant,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE);
        Self {
            manager: Arc::new(manager),
            begun: Mutex::default(),
        }
    }

    /// Whether it is theirs; it is in use then.
    fn use_of(&self, id: &str, by: Option<&str>) -> bool {
        let mut begun = self.begun();
        let theirs = begun.get_mut(id).filter(|begun| begun.by.as_deref() == by);
        theirs.map(|begun| begun.used = Instant::now()).is_some()
    }

    /// One more. Returns those that make room for it.
    fn add(&self, id: &str, by: Option<&str>, now: Instant) -> Vec<String> {
        let mut begun = self.begun();
        // Those are closed, or about to be.
        begun.retain(|_, begun| now.saturating_duration_since(begun.used) < 2 * IDLE);
        let theirs = begun.iter().filter(|(_, begun)| begun.by.as_deref() == by);
        let mut theirs: Vec<_> = theirs.map(|(id, begun)| (begun.used, id.clone())).collect();
        theirs.sort_unstable();
        let too_many = (theirs.len() + 1).saturating_sub(MOST);
        let leaving: Vec<_> = theirs
            .into_iter()
            .take(too_many)
            .map(|(_, id)| id)
            .collect();
        for id in &leaving {
            begun.remove(id);
        }
        let new = Begun {
            by: by.map(ToOwned::to_owned),
            used: now,
        };
        begun.insert(id.to_owned(), new);
        leaving
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<String, Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps each session to whom it was begun by. To anybody else there is none of that id.
pub(super) async fn keep_apart(
    State(sessions): State<Arc<Sessions>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let by = request.extensions().get::<Holder>();
    let by = by.map(|holder| holder.caller.name.clone());
    let named = id(request.headers());
    if let Some(named) = &named
        && !sessions.use_of(named, by.as_deref())
    {
        return say(
            StatusCode::NOT_FOUND,
            "there is no such session: begin a new one with initialize\n",
        );
    }
    let ends = request.method() == Method::DELETE;
    let answer = next.run(request).await;
    match (named, id(answer.headers())) {
        (Some(named), _) if ends => drop(sessions.begun().remove(&named)),
        (None, Some(new)) => {
            for leaving in sessions.add(&new, by.as_deref(), Instant::now()) {
                let _ = sessions.manager.close_session(&leaving.into()).await;
            }
        }
        _ => {}
    }
    answer
}

fn id(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(ID)?.to_str().ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_used_least_lately_makes_room() {
        let sessions = Sessions::new();
        let begin = Instant::now();
        let at = |index: usize| begin + Duration::from_secs(index as u64);
        for index in 0..MOST {
            let leaving = sessions.add(&index.to_string(), Some("ci"), at(index));
            assert!(leaving.is_empty(), "{leaving:?}");
        }
        assert!(
            sessions
                .add("another's", Some("other"), at(MOST))
                .is_empty()
        );
        assert_eq!(sessions.add("new", Some("ci"), at(MOST)), ["0"]);
        assert!(!sessions.use_of("0", Some("ci")));
        assert!(sessions.use_of("1", Some("ci")));
        assert!(!sessions.use_of("1", Some("other")));
        assert!(!sessions.use_of("1", None));
    }

    #[test]
    fn those_long_idle_are_forgotten() {
        let sessions = Sessions::new();
        let begin = Instant::now();
        sessions.add("old", None, begin);
        sessions.add("new", None, begin + 3 * IDLE);
        assert_eq!(sessions.begun().len(), 1);
    }
}
