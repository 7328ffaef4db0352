//! Tells who listens that a resource has changed. One poller per cluster and identity that the cluster knows, only while
//! somebody listens: it looks at what is listened to, one look at a time, and compares what is shown with what was shown
//! before. Nothing piles up: a listener that is slow hears once of several changes.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tools::context::Cluster;

use super::resources::{Address, Look, Thing};

/// The most resources of a cluster that are looked at.
const MOST_WATCHED: usize = 500;

/// All that is watched.
pub(super) struct Watcher {
    interval: Duration,
    clusters: Mutex<HashMap<View, Watched>>,
}

/// A cluster as somebody sees it: who brings a token of their own sees another one than the server does.
#[derive(Clone)]
struct View(Arc<Cluster>);

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for View {}

impl Hash for View {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// What is watched of a cluster. While it is here, its poller runs.
#[derive(Default)]
struct Watched {
    /// By address.
    things: HashMap<String, Entry>,
    /// Held while somebody looks: one look at a time.
    looking: Looking,
}

type Looking = Arc<tokio::sync::Mutex<()>>;

struct Entry {
    thing: Thing,
    /// Stands for what it showed at the last look.
    known: Option<u64>,
    news: watch::Sender<()>,
}

/// One who listens to a resource. Dropping it ends that.
pub(super) struct Listener {
    /// The address as it was asked for.
    pub(super) uri: String,
    news: watch::Receiver<()>,
}

impl Listener {
    /// Waits until the resource has changed. False: nobody looks any longer.
    pub(super) async fn changed(&mut self) -> bool {
        self.news.changed().await.is_ok()
    }
}

impl Watcher {
    /// Looks at each cluster this often.
    pub(super) fn new(interval: Duration) -> Arc<Self> {
        Arc::new(Self {
            interval,
            clusters: Mutex::default(),
        })
    }

    /// Listens to a resource: whatever changes after this returns is heard. `None`: too much is listened to already.
    pub(super) async fn listen(self: &Arc<Self>, uri: &str, address: &Address) -> Option<Listener> {
        let (listener, looking, is_new) = self.enter(uri, address)?;
        if is_new {
            let _one = looking.lock().await;
            let view = View(address.cluster.clone());
            let look = Look::at(&view.0);
            self.compare(&look, &view, uri, &address.thing).await;
        }
        Some(listener)
    }

    /// Puts a listener among the others, with a poller if it is the first.
    fn enter(self: &Arc<Self>, uri: &str, address: &Address) -> Option<(Listener, Looking, bool)> {
        let mut clusters = self.clusters();
        let view = View(address.cluster.clone());
        if !clusters.contains_key(&view) {
            tokio::spawn(self.clone().poll(view.clone()));
        }
        let watched = clusters.entry(view).or_default();
        watched.forget_unheard();
        let is_new = !watched.things.contains_key(uri);
        if is_new && watched.things.len() >= MOST_WATCHED {
            return None;
        }
        let entry = watched
            .things
            .entry(uri.to_owned())
            .or_insert_with(|| Entry {
                thing: address.thing.clone(),
                known: None,
                news: watch::Sender::new(()),
            });
        let listener = Listener {
            uri: uri.to_owned(),
            news: entry.news.subscribe(),
        };
        Some((listener, watched.looking.clone(), is_new))
    }

    /// Looks at a cluster as long as somebody listens.
    async fn poll(self: Arc<Self>, view: View) {
        loop {
            tokio::time::sleep(self.interval).await;
            let Some((things, looking)) = self.listened_to(&view) else {
                return;
            };
            let _one = looking.lock().await;
            // Nobody waits for this: what would show a dialogue is left alone until somebody uses the cluster.
            if !view.0.pve.is_quiet() {
                continue;
            }
            let look = Look::at(&view.0);
            for (uri, thing) in things {
                self.compare(&look, &view, &uri, &thing).await;
            }
        }
    }

    /// Looks at one resource, and tells its listeners if it shows something else than before. What cannot be told at the
    /// moment is no news.
    async fn compare(&self, look: &Look<'_>, view: &View, uri: &str, thing: &Thing) {
        let Some(digest) = Box::pin(look.see(thing)).await.digest() else {
            return;
        };
        let mut clusters = self.clusters();
        let watched = clusters.get_mut(view);
        if let Some(entry) = watched.and_then(|watched| watched.things.get_mut(uri))
            && entry.known.replace(digest).is_some_and(|old| old != digest)
        {
            entry.news.send_replace(());
        }
    }

    /// What is listened to in a cluster. If that is nothing, it is forgotten, and its poller has to end.
    fn listened_to(&self, view: &View) -> Option<(Vec<(String, Thing)>, Looking)> {
        let mut clusters = self.clusters();
        let watched = clusters.get_mut(view)?;
        watched.forget_unheard();
        if watched.things.is_empty() {
            clusters.remove(view);
            return None;
        }
        let things = watched.things.iter();
        let things = things.map(|(uri, entry)| (uri.clone(), entry.thing.clone()));
        Some((things.collect(), watched.looking.clone()))
    }

    fn clusters(&self) -> MutexGuard<'_, HashMap<View, Watched>> {
        self.clusters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn forget_unheard(&mut self) {
        self.things
            .retain(|_, entry| entry.news.receiver_count() > 0);
    }
}
