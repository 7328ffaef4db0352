//! What the page is told without asking, by server-sent events: that the inbox or the audit trail is not what it was.
//!
//! Others decide and ask through the same store (`oxmox approve`, another replica), so it is the store that is watched:
//! once for all pages that are open, and not at all while none is.

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::json;
use tokio::sync::{Notify, watch};
use tools::fault::Fault;

use super::Page;
use crate::session::now;

/// How often the store is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// What the store looked like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    /// Stands for all that waits.
    inbox: u64,
    /// The last entry of the audit trail.
    audit: i64,
}

/// The one watch over the store.
pub(super) struct Pulse {
    seen: watch::Sender<Seen>,
    watched: AtomicBool,
    now: Notify,
}

impl Pulse {
    pub(super) fn new() -> Self {
        Self {
            seen: watch::Sender::new(Seen::default()),
            watched: AtomicBool::new(false),
            now: Notify::new(),
        }
    }

    /// Looks at once.
    pub(super) fn beat(&self) {
        self.now.notify_one();
    }
}

impl Page {
    fn watch(self: &Arc<Self>) -> watch::Receiver<Seen> {
        let news = self.pulse.seen.subscribe();
        if !self.pulse.watched.swap(true, Ordering::SeqCst) {
            let page = self.clone();
            tokio::spawn(async move { page.look_after_store().await });
        }
        news
    }

    async fn look_after_store(&self) {
        loop {
            while self.pulse.seen.receiver_count() > 0 && !self.stop.is_cancelled() {
                // A store that cannot be read now is looked at again.
                if let Ok(seen) = self.seen().await {
                    self.pulse.seen.send_if_modified(|last| {
                        let is_new = *last != seen;
                        *last = seen;
                        is_new
                    });
                }
                tokio::select! {
                    () = tokio::time::sleep(LOOK_AGAIN) => {}
                    () = self.pulse.now.notified() => {}
                }
            }
            self.pulse.watched.store(false, Ordering::SeqCst);
            // Somebody may have come between the last look and the word that nobody watches.
            let is_wanted = self.pulse.seen.receiver_count() > 0 && !self.stop.is_cancelled();
            if !is_wanted || self.pulse.watched.swap(true, Ordering::SeqCst) {
                return;
            }
        }
    }

    async fn seen(&self) -> Result<Seen, Fault> {
        let store = self.engine.store().await?;
        let mut hash = DefaultHasher::new();
        for stored in store.waiting_plans(now()).await? {
            (&stored.id, &stored.digest).hash(&mut hash);
        }
        let last = store.audit_trail(1).await?;
        Ok(Seen {
            inbox: hash.finish(),
            audit: last.first().map_or(0, |link| link.seq),
        })
    }
}

/// The stream of one page: first how things stand, then each change.
pub(super) async fn events(
    State(page): State<Arc<Page>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let mut news = page.watch();
    news.mark_changed();
    let changes = stream::unfold(news, |mut news| async {
        news.changed().await.ok()?;
        let seen = *news.borrow_and_update();
        // As text: JavaScript has no whole numbers of this length.
        let told = json!({ "inbox": seen.inbox.to_string(), "audit": seen.audit });
        Some((
            Ok(Event::default().event("seen").data(told.to_string())),
            news,
        ))
    });
    let stop = page.stop.clone().cancelled_owned();
    Sse::new(changes.take_until(stop)).keep_alive(KeepAlive::default())
}
