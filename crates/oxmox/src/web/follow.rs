//! A task of PVE as it goes on, by server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use tools::caller::Caller;
use tools::engine::{Call, Silent};
use tools::fault::{Fault, Kind};
use tools::tool::Object;

use super::Page;
use super::door::Person;

/// How often a running task is looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How much of its log is shown.
const LINES: u32 = 200;

/// How it stands now, and each time that changes, until it has ended. `CLUSTER~UPID` where there are several.
pub(super) async fn follow(
    State(page): State<Arc<Page>>,
    Extension(person): Extension<Person>,
    Path(task): Path<String>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let ended = page.stop.clone().cancelled_owned();
    let looks = stream::unfold(
        Some(Followed::new(page, person.caller, &task)),
        |state| async {
            let mut followed = state?;
            let (news, goes_on) = followed.next().await;
            Some((Ok(news), goes_on.then_some(followed)))
        },
    );
    Sse::new(looks.take_until(ended)).keep_alive(KeepAlive::default())
}

struct Followed {
    page: Arc<Page>,
    caller: Caller,
    arguments: Object,
    looked: bool,
    last: Option<Value>,
    /// The last look failed, and that was told.
    troubled: bool,
}

impl Followed {
    fn new(page: Arc<Page>, caller: Caller, task: &str) -> Self {
        let mut arguments = Object::new();
        let (cluster, upid) = parts(task);
        if let Some(cluster) = cluster {
            arguments.insert("cluster".to_owned(), json!(cluster));
        }
        arguments.insert("upid".to_owned(), json!(upid));
        arguments.insert("log_lines".to_owned(), json!(LINES));
        Self {
            page,
            caller,
            arguments,
            looked: false,
            last: None,
            troubled: false,
        }
    }

    /// Waits until there is news.
    async fn next(&mut self) -> (Event, bool) {
        loop {
            if self.looked {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            self.looked = true;
            let seen = match self.look().await {
                Ok(seen) => seen,
                Err(fault) if !may_pass(&fault) => return (told("failed", &fault), false),
                Err(_) if self.troubled => continue,
                Err(fault) => {
                    self.troubled = true;
                    return (told("trouble", &fault), true);
                }
            };
            // After trouble the same is news, too.
            if !self.troubled && self.last.as_ref() == Some(&seen) {
                continue;
            }
            self.troubled = false;
            let goes_on = seen["state"] == "running";
            let event = Event::default().event("task").data(seen.to_string());
            self.last = Some(seen);
            return (event, goes_on);
        }
    }

    async fn look(&self) -> Result<Value, Fault> {
        let call = Call::new(
            "get_proxmox_task",
            self.arguments.clone(),
            self.caller.clone(),
        );
        let mut seen = self.page.engine.look(call, &Silent).await?.data;
        let last = seen.get("log").and_then(Value::as_array);
        let last = last.and_then(|lines| lines.last()?.as_str());
        if let Some(percent) = last.and_then(pve::task::percent) {
            seen.insert("fraction".to_owned(), json!(percent / 100.0));
        }
        Ok(Value::Object(seen))
    }
}

/// Whether the next look may go well: a backup of hours is not given up for one that did not come through.
fn may_pass(fault: &Fault) -> bool {
    matches!(
        fault.kind,
        Kind::Failed | Kind::Unreachable | Kind::Internal
    )
}

fn told(kind: &str, fault: &Fault) -> Event {
    let error = json!({ "error": tools::clean::text(&fault.message) });
    Event::default().event(kind).data(error.to_string())
}

/// The cluster, if one is named, and the task. Names of clusters hold no `~`; those of users, which are in a UPID, may.
fn parts(task: &str) -> (Option<&str>, &str) {
    match task.split_once('~') {
        Some((cluster, upid)) if !task.starts_with("UPID:") => (Some(cluster), upid),
        _ => (None, task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_may_have_any_name() {
        let upid = "UPID:pve1:0000A1B2:00C3D4E5:65A1B2C3:qmstart:100:o~brien@pve:";
        assert_eq!(parts(upid), (None, upid));
        assert_eq!(parts(&format!("home~{upid}")), (Some("home"), upid));
        assert_eq!(parts("x1y2z3"), (None, "x1y2z3"));
    }
}
