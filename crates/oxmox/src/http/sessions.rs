//! Sessions of 2025 clients. Who knows the id of one could read its answers, and answer in the place of the person at the other
//! client, so a session is its caller's alone; and nobody has more of them than a few.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::middleware::Next;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::admission::Admission;
use super::auth::{Admitted, Door};
use super::{held, say};
use crate::token::Holder;

/// The header that names one.
const ID: &str = "mcp-session-id";
/// A session in which nothing is under way for this long is closed.
const IDLE: Duration = Duration::from_hours(1);
/// One without a message for this long is closed by rmcp, which does not know what is under way: a stream that has nothing to
/// tell, a call that waits for a person.
const SILENT: Duration = Duration::from_hours(24);
/// One that nobody is entered for after this long will not be entered any more.
const BEGINNING: Duration = Duration::from_mins(1);
/// How many one caller has at a time. Programs that end without a word leave theirs behind; of those in which nothing is
/// under way, the one that was used least lately makes room.
const MOST: usize = 64;

/// The sessions of all callers.
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    begun: Mutex<HashMap<String, Begun>>,
}

/// Who began a session: a session is for the same caller with the same token, and ends with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Owner {
    /// The caller's name; none if they were not asked for it.
    pub(super) name: Option<String>,
    /// The public part of their token, if it is oxmox's own.
    pub(super) token: Option<String>,
}

impl Owner {
    fn of(request: &Request) -> Self {
        let holder = request.extensions().get::<Holder>();
        let admission = request.extensions().get::<Admission>();
        Self {
            name: holder.map(|holder| holder.caller.name.clone()),
            token: admission.and_then(Admission::token).map(ToOwned::to_owned),
        }
    }
}

struct Begun {
    by: Owner,
    /// When something last began or ended in it.
    used: Instant,
    /// The requests whose answers have not ended. A stream is one for as long as it is open.
    under_way: usize,
}

/// A request in a session, until it is dropped.
struct Use {
    sessions: Arc<Sessions>,
    id: String,
}

impl Drop for Use {
    fn drop(&mut self) {
        if let Some(begun) = self.sessions.begun().get_mut(&self.id) {
            begun.under_way -= 1;
            begun.used = Instant::now();
        }
    }
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(SILENT);
        Self {
            manager: Arc::new(manager),
            begun: Mutex::default(),
        }
    }

    /// One more request in a session, if that is theirs.
    fn use_of(self: &Arc<Self>, id: &str, by: &Owner) -> Option<Use> {
        let mut all = self.begun();
        let theirs = all.get_mut(id).filter(|begun| begun.by == *by)?;
        theirs.used = Instant::now();
        theirs.under_way += 1;
        drop(all);
        Some(Use {
            sessions: self.clone(),
            id: id.to_owned(),
        })
    }

    /// One more. Returns those that make room for it; `None`: something is under way in all of them.
    fn add(&self, id: &str, by: &Owner, now: Instant) -> Option<Vec<String>> {
        let mut begun = self.begun();
        let theirs = begun.iter().filter(|(_, begun)| begun.by == *by);
        let too_many = (theirs.clone().count() + 1).saturating_sub(MOST);
        let unused = theirs.filter(|(_, begun)| begun.under_way == 0);
        let mut unused: Vec<_> = unused.map(|(id, begun)| (begun.used, id.clone())).collect();
        if unused.len() < too_many {
            return None;
        }
        unused.sort_unstable();
        unused.truncate(too_many);
        let leaving: Vec<_> = unused.into_iter().map(|(_, id)| id).collect();
        for id in &leaving {
            begun.remove(id);
        }
        let new = Begun {
            by: by.clone(),
            used: now,
            under_way: 0,
        };
        begun.insert(id.to_owned(), new);
        Some(leaving)
    }

    /// Forgets those that have long been idle, and those of who is not among the admitted; returns them. Who was admitted was
    /// looked up at `now`: who has used a session since may have come later.
    fn over(&self, admitted: Option<&Admitted>, now: Instant) -> Vec<String> {
        let is_over = |begun: &Begun| {
            let idle = now.saturating_duration_since(begun.used);
            let is_shut_out = admitted.is_some_and(|admitted| !admitted.has(&begun.by));
            (begun.under_way == 0 && idle >= IDLE) || (is_shut_out && begun.used < now)
        };
        let mut begun = self.begun();
        let over = begun.extract_if(|_, begun| is_over(begun));
        over.map(|(id, _)| id).collect()
    }

    /// Those that rmcp has and nobody is entered for: whoever began one was gone before its answer came, and none of the bounds
    /// here holds for it. `since` keeps from look to look when each was first seen so: one that is being begun looks the same.
    async fn strays(&self, since: &mut HashMap<String, Instant>, now: Instant) -> Vec<String> {
        let there = self.manager.sessions.read().await;
        let begun = self.begun();
        since.retain(|id, _| there.contains_key(id.as_str()) && !begun.contains_key(id));
        for id in there.keys().filter(|id| !begun.contains_key(&***id)) {
            since.entry(id.to_string()).or_insert(now);
        }
        let strays =
            since.extract_if(|_, first| now.saturating_duration_since(*first) >= BEGINNING);
        strays.map(|(id, _)| id).collect()
    }

    /// Nobody waits for it: a session may hold up its own end, and whoever asked for it may leave.
    fn close(&self, those: Vec<String>) {
        for id in those {
            let manager = self.manager.clone();
            tokio::spawn(async move {
                let _ = manager.close_session(&id.into()).await;
            });
        }
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<String, Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes sessions that nobody uses any more. What a session has subscribed to is looked at for as long as it is there, by the
/// caller's own token of PVE if they brought one; and to rmcp each change that it passes on is a use, whether anybody hears of
/// it or not.
pub(super) async fn sweep(sessions: Weak<Sessions>, door: Weak<Door>, look_again: Duration) {
    let mut strays = HashMap::new();
    loop {
        tokio::time::sleep(look_again).await;
        let (Some(sessions), Some(door)) = (sessions.upgrade(), door.upgrade()) else {
            return;
        };
        let now = Instant::now();
        sessions.close(sessions.strays(&mut strays, now).await);
        if sessions.begun().is_empty() {
            continue;
        }
        let admitted = door.admitted().await;
        sessions.close(sessions.over(admitted.as_ref(), now));
    }
}

/// Keeps each session to whom it was begun by. To anybody else there is none of that id.
pub(super) async fn keep_apart(
    State(sessions): State<Arc<Sessions>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let by = Owner::of(&request);
    let Some(named) = id(request.headers()) else {
        return begin(&sessions, &by, next.run(request).await);
    };
    let Some(under_way) = sessions.use_of(&named, &by) else {
        return say(
            StatusCode::NOT_FOUND,
            "there is no such session: begin a new one with initialize\n",
        );
    };
    let ends = request.method() == Method::DELETE;
    let answer = next.run(request).await;
    // rmcp refuses an end whose headers are not as they should be, and the session goes on.
    if ends && answer.status().is_success() {
        sessions.begun().remove(&named);
    }
    answer.map(|body| held::until_its_end(body, under_way))
}

/// Enters the session that was begun with this answer, if one was.
fn begin(sessions: &Sessions, by: &Owner, answer: Response<Body>) -> Response<Body> {
    let Some(new) = id(answer.headers()) else {
        return answer;
    };
    if let Some(leaving) = sessions.add(&new, by, Instant::now()) {
        sessions.close(leaving);
        return answer;
    }
    sessions.close(vec![new]);
    say(
        StatusCode::TOO_MANY_REQUESTS,
        format!(
            "a caller has {MOST} sessions at a time, and all of yours are in use: end one with DELETE\n"
        ),
    )
}

fn id(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(ID)?.to_str().ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str) -> Owner {
        Owner {
            name: Some(name.to_owned()),
            token: Some(format!("token of {name}")),
        }
    }

    fn anybody() -> Owner {
        Owner::default()
    }

    /// `MOST` sessions of one caller, one begun after the other.
    fn full(begin: Instant) -> Arc<Sessions> {
        let sessions = Arc::new(Sessions::new());
        for index in 0..MOST {
            let at = begin + Duration::from_secs(index as u64);
            let leaving = sessions.add(&index.to_string(), &owner("ci"), at);
            assert_eq!(leaving, Some(Vec::new()));
        }
        sessions
    }

    #[test]
    fn the_one_used_least_lately_makes_room() {
        let begin = Instant::now();
        let sessions = full(begin);
        let late = begin + Duration::from_secs(MOST as u64);
        let leaving = sessions.add("another's", &owner("other"), late);
        assert_eq!(leaving, Some(Vec::new()));
        let leaving = sessions.add("new", &owner("ci"), late);
        assert_eq!(leaving, Some(vec!["0".to_owned()]));
        assert!(sessions.use_of("0", &owner("ci")).is_none());
        assert!(sessions.use_of("1", &owner("ci")).is_some());
        assert!(sessions.use_of("1", &owner("other")).is_none());
        assert!(sessions.use_of("1", &anybody()).is_none());
    }

    #[test]
    fn one_in_which_something_is_under_way_makes_no_room() {
        let begin = Instant::now();
        let sessions = full(begin);
        let late = begin + Duration::from_secs(MOST as u64);
        let used = (0..MOST).map(|index| sessions.use_of(&index.to_string(), &owner("ci")));
        let mut used: Vec<_> = used.map(Option::unwrap).collect();
        assert_eq!(sessions.add("new", &owner("ci"), late), None);
        drop(used.pop());
        let leaving = sessions.add("new", &owner("ci"), late);
        assert_eq!(leaving, Some(vec![(MOST - 1).to_string()]));
    }

    #[test]
    fn those_long_idle_are_closed() {
        let sessions = Arc::new(Sessions::new());
        // Not by who does not know what is in use.
        assert!(sessions.manager.session_config.keep_alive > Some(2 * IDLE));
        let begin = Instant::now();
        for id in ["old", "in use"] {
            sessions.add(id, &anybody(), begin);
        }
        sessions.add("new", &anybody(), begin + 2 * IDLE);
        let using = sessions.use_of("in use", &anybody()).unwrap();
        assert_eq!(sessions.over(None, begin + 2 * IDLE), ["old"]);
        // An hour after its end, however long it was.
        drop(using);
        assert_eq!(sessions.over(None, begin + IDLE), Vec::<String>::new());
        assert_eq!(sessions.over(None, Instant::now() + IDLE), ["in use"]);
    }
    #[tokio::test]
    async fn one_whose_beginner_left_before_the_answer_is_closed() {
        let sessions = Arc::new(Sessions::new());
        let (id, _transport) = sessions.manager.create_session().await.unwrap();
        let (entered, _transport) = sessions.manager.create_session().await.unwrap();
        let (begin, mut since) = (Instant::now(), HashMap::new());
        assert!(sessions.strays(&mut since, begin).await.is_empty());
        sessions.add(&entered, &anybody(), begin);
        let late = begin + BEGINNING;
        assert_eq!(sessions.strays(&mut since, late).await, [&*id]);
        // Nothing is kept of what is gone.
        sessions.manager.close_session(&id).await.unwrap();
        sessions.strays(&mut since, late).await;
        assert!(since.is_empty());
    }
}
