//! Tells who listens that a resource has changed. One poller per cluster and identity that the cluster knows, only while
//! somebody listens: it looks at what is listened to, one look at a time, and compares what is shown with what was shown
//! before. Nothing piles up: a listener that is slow hears once of several changes. What a poller looks by is the listeners',
//! and goes with the last of them: there may be a caller's secret in it.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tools::context::Cluster;

use super::resources::{Address, Look, Seen, Thing};

/// The most that one caller listens to, by however many clients.
const MOST_PER_CALLER: usize = 500;
/// By how many identities one caller listens to a cluster: each has a poller of its own, and connections.
const MOST_IDENTITIES: usize = 8;
/// After so many rounds in a row that showed nothing at all, a poller takes its time: it may well be refused, and a cluster
/// whose logins fail without end locks out whoever is at the other end.
const BLIND_ROUNDS: u32 = 10;
/// How long it waits between two rounds then.
const REST: Duration = Duration::from_mins(1);

/// Whose listening counts together; `None`: nobody was asked who they are.
pub(super) type Who = Option<String>;

/// All that is watched.
pub(super) struct Watcher {
    interval: Duration,
    clusters: Mutex<HashMap<View, Watched>>,
    /// How much each caller listens to.
    places: Mutex<HashMap<Who, Taken>>,
}

/// What one caller listens to, by the identity that it is looked at by.
type Taken = HashMap<View, Places>;

struct Places {
    /// The cluster's name: others may see it, too.
    cluster: String,
    taken: usize,
}

/// Why somebody cannot listen to one more.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TooMany {
    Resources,
    Identities,
}

/// A cluster as somebody sees it: who brings a token of their own sees another one than the server does.
#[derive(Clone)]
struct View(Weak<Cluster>);

impl View {
    fn of(cluster: &Arc<Cluster>) -> Self {
        Self(Arc::downgrade(cluster))
    }
}

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for View {}

impl Hash for View {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Weak::as_ptr(&self.0).hash(state);
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
    /// What is looked at for it.
    _cluster: Arc<Cluster>,
    _place: Place,
}

/// One of the places that a caller has. Dropping it makes room.
struct Place {
    watcher: Arc<Watcher>,
    who: Who,
    view: View,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.watcher.places();
        let Some(taken) = places.get_mut(&self.who) else {
            return;
        };
        if let Some(places) = taken.get_mut(&self.view) {
            places.taken -= 1;
        }
        taken.retain(|_, places| places.taken > 0);
        if taken.is_empty() {
            places.remove(&self.who);
        }
    }
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
            places: Mutex::default(),
        })
    }

    /// Listens to a resource: whatever changes after this returns is heard.
    pub(super) async fn listen(
        self: &Arc<Self>,
        uri: &str,
        address: &Address,
        who: Who,
    ) -> Result<Listener, TooMany> {
        let place = self.take_place(who, &address.cluster)?;
        let (listener, looking) = self.enter(uri, address, place);
        let view = View::of(&address.cluster);
        // Until it was looked at there is nothing to tell a change by, for whoever comes second as little as for the first.
        if !self.has_seen(&view, uri) {
            let _one = looking.lock().await;
            if !self.has_seen(&view, uri) {
                let look = Look::at(&address.cluster);
                self.compare(&look, &view, uri, &address.thing).await;
            }
        }
        Ok(listener)
    }

    /// Whether it is known what a resource showed at the last look.
    fn has_seen(&self, view: &View, uri: &str) -> bool {
        let clusters = self.clusters();
        let entry = clusters.get(view).and_then(|it| it.things.get(uri));
        entry.is_some_and(|entry| entry.known.is_some())
    }

    fn take_place(self: &Arc<Self>, who: Who, cluster: &Arc<Cluster>) -> Result<Place, TooMany> {
        let view = View::of(cluster);
        let mut places = self.places();
        let taken = places.entry(who.clone()).or_default();
        if taken.values().map(|it| it.taken).sum::<usize>() >= MOST_PER_CALLER {
            return Err(TooMany::Resources);
        }
        let others = taken.iter().filter(|(it, _)| **it != view);
        let same_cluster = others.filter(|(_, it)| it.cluster == cluster.name);
        if same_cluster.count() >= MOST_IDENTITIES {
            return Err(TooMany::Identities);
        }
        let by_view = taken.entry(view.clone()).or_insert_with(|| Places {
            cluster: cluster.name.clone(),
            taken: 0,
        });
        by_view.taken += 1;
        drop(places);
        Ok(Place {
            watcher: self.clone(),
            who,
            view,
        })
    }

    /// Puts a listener among the others, with a poller if it is the first.
    fn enter(self: &Arc<Self>, uri: &str, address: &Address, place: Place) -> (Listener, Looking) {
        let mut clusters = self.clusters();
        let view = View::of(&address.cluster);
        if !clusters.contains_key(&view) {
            tokio::spawn(self.clone().poll(view.clone()));
        }
        let watched = clusters.entry(view).or_default();
        watched.forget_unheard();
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
            _cluster: address.cluster.clone(),
            _place: place,
        };
        (listener, watched.looking.clone())
    }

    /// Looks at a cluster as long as somebody listens.
    async fn poll(self: Arc<Self>, view: View) {
        let mut blind = 0;
        loop {
            let pause = match blind {
                BLIND_ROUNDS.. => self.interval.max(REST),
                _ => self.interval,
            };
            tokio::time::sleep(pause).await;
            let Some((things, looking)) = self.listened_to(&view) else {
                return;
            };
            let _one = looking.lock().await;
            let Some(cluster) = view.0.upgrade() else {
                continue;
            };
            // Nobody waits for this: what would show a dialogue is left alone until somebody uses the cluster.
            if !cluster.pve.is_quiet() {
                continue;
            }
            let look = Look::at(&cluster);
            let mut has_seen = false;
            for (uri, thing) in things {
                has_seen |= self.compare(&look, &view, &uri, &thing).await;
            }
            blind = if has_seen { 0 } else { blind + 1 };
        }
    }

    /// Looks at one resource, and tells its listeners if it shows something else than before. What cannot be told at the
    /// moment is no news. False: nothing could be read.
    async fn compare(&self, look: &Look<'_>, view: &View, uri: &str, thing: &Thing) -> bool {
        let seen = Box::pin(look.see(thing)).await;
        let Some(digest) = seen.digest() else {
            return !matches!(seen, Seen::Unreadable(_));
        };
        let mut clusters = self.clusters();
        let watched = clusters.get_mut(view);
        if let Some(entry) = watched.and_then(|watched| watched.things.get_mut(uri))
            && entry.known.replace(digest).is_some_and(|old| old != digest)
        {
            entry.news.send_replace(());
        }
        true
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

    fn places(&self) -> MutexGuard<'_, HashMap<Who, Taken>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn forget_unheard(&mut self) {
        self.things
            .retain(|_, entry| entry.news.receiver_count() > 0);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    /// At a cluster that nobody asks for anything.
    fn address() -> Address {
        let host = pve::Host {
            name: "127.0.0.1".to_owned(),
            port: 8006,
            pin: None,
        };
        let credentials = pve::Credentials::Token {
            user: "root@pam".to_owned(),
            name: "oxmox".to_owned(),
            secret: "secret".into(),
        };
        let (reader, _) = pve::connect(pve::Settings::new(vec![host], credentials)).unwrap();
        Address {
            cluster: Arc::new(Cluster::new("homelab", reader)),
            thing: Thing::Cluster,
        }
    }

    #[tokio::test]
    async fn who_comes_second_waits_for_the_first_look_too() {
        let watcher = Watcher::new(Duration::from_hours(1));
        let (address, uri) = (address(), "proxmox://cluster/homelab");
        let place = watcher.take_place(None, &address.cluster).unwrap();
        let (_first, looking) = watcher.enter(uri, &address, place);
        let _looks = looking.lock().await;
        let second = watcher.listen(uri, &address, None).now_or_never();
        assert!(second.is_none(), "a change before the look would be lost");
        for watched in watcher.clusters().values_mut() {
            watched.things.get_mut(uri).unwrap().known = Some(1);
        }
        let third = watcher.listen(uri, &address, None).now_or_never();
        assert!(third.is_some(), "it is known what it showed");
    }
}
