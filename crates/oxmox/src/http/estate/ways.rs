//! The ways to the clusters that were made for callers, each by their own tokens of PVE.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use pve::Credentials;
use tokio_util::sync::CancellationToken;
use tools::context::Cluster;
use tools::engine::Engine;

/// How many ways of callers to their clusters are kept.
const KEPT: usize = 32;
/// For how long one is kept that nobody uses. Who listens uses it.
const IDLE: Duration = Duration::from_mins(10);

/// The ways to the clusters that were made for callers.
#[derive(Default)]
pub(in crate::http) struct Estates {
    clusters: Vec<(String, pve::Settings)>,
    /// The one used last at the end.
    made: Mutex<Vec<Made>>,
}

/// A caller's way to their clusters, which knows the secrets.
struct Made {
    /// `None`: nobody was asked who they are.
    by: Option<String>,
    /// Of the tokens.
    sum: String,
    engine: Arc<Engine>,
    used: Instant,
}

/// The tokens of a request.
pub(super) struct Brought<'a> {
    /// Who brings them along, if they were asked.
    pub(super) by: Option<&'a str>,
    /// Stands for all of the tokens.
    pub(super) sum: String,
    pub(super) tokens: &'a [&'a str],
}

impl Made {
    /// Whether somebody listens by it, or a call is under way.
    fn is_in_use(&self) -> bool {
        let mut clusters = self.engine.clusters().iter();
        clusters.any(|cluster| Arc::strong_count(cluster) > 1)
    }
}

impl fmt::Debug for Estates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Estates").finish_non_exhaustive()
    }
}

impl Estates {
    /// For these clusters, whoever they know us as.
    pub(in crate::http) fn new(clusters: Vec<(String, pve::Settings)>) -> Self {
        Self {
            clusters,
            made: Mutex::default(),
        }
    }

    /// Forgets all of them: nobody acts by their own token any more.
    pub(in crate::http) fn clear(&self) {
        self.made().clear();
    }

    /// Drops those that nobody has used for long; false: none are left.
    fn keep_used(&self, now: Instant) -> bool {
        let mut made = self.made();
        made.retain(|kept| now.duration_since(kept.used) < IDLE || kept.is_in_use());
        !made.is_empty()
    }

    fn made(&self) -> MutexGuard<'_, Vec<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An engine that acts by these tokens, as long as anybody may.
    pub(super) fn engine(
        self: &Arc<Self>,
        engine: &Engine,
        brought: Brought<'_>,
        until: &CancellationToken,
    ) -> Result<Arc<Engine>, String> {
        let Brought { by, sum, tokens } = brought;
        let used = Instant::now();
        let mut made = self.made();
        // Who began under other settings. All are forgotten only after the end was said, so none can come in behind that.
        if until.is_cancelled() {
            return Err("this server takes no tokens of PVE any more".to_owned());
        }
        let is_theirs = |kept: &Made| kept.by.as_deref() == by;
        let found = made
            .iter()
            .position(|kept| is_theirs(kept) && kept.sum == sum);
        if let Some(at) = found {
            let kept = made.remove(at);
            let found = kept.engine.clone();
            made.push(Made { used, ..kept });
            return Ok(found);
        }
        let theirs = engine.on_behalf(self.connected(engine, tokens)?);
        if made.len() >= KEPT {
            let at = least_needed(&made);
            made.remove(at);
        }
        if made.is_empty() {
            tokio::spawn(forget_idle(Arc::downgrade(self)));
        }
        made.push(Made {
            by: by.map(ToOwned::to_owned),
            sum,
            engine: theirs.clone(),
            used,
        });
        Ok(theirs)
    }

    /// The clusters as they know the owners of these tokens.
    fn connected(
        &self,
        engine: &Engine,
        tokens: &[&str],
    ) -> Result<Vec<(Cluster, pve::Writer)>, String> {
        let mut connected: Vec<(Cluster, pve::Writer)> = Vec::new();
        for token in tokens {
            let ((name, settings), credentials) = self.meant(token)?;
            // Whichever of the two was meant: the other would read what this one writes.
            if connected.iter().any(|(cluster, _)| cluster.name == *name) {
                return Err(format!(
                    "the request brings two tokens for the cluster {name}; send one for each cluster"
                ));
            }
            let settings = pve::Settings {
                credentials,
                ..settings.clone()
            };
            let (reader, writer) = pve::connect(settings)
                .map_err(|_| "a token has letters that no token has".to_owned())?;
            let mut ours = engine.clusters().iter();
            let theirs = match ours.find(|cluster| cluster.name == *name) {
                Some(ours) => ours.seen_by(reader),
                None => Cluster::new(name, reader),
            };
            connected.push((theirs, writer));
        }
        Ok(connected)
    }

    /// The cluster and who somebody is there. Nothing of the text is quoted.
    fn meant(&self, text: &str) -> Result<(&(String, pve::Settings), Credentials), String> {
        let (id, secret) = text
            .split_once('=')
            .filter(|(_, secret)| !secret.is_empty())
            .ok_or("it is written as USER@REALM!NAME=SECRET")?;
        let (cluster, id) = match id.split_once(':') {
            Some((cluster, id)) => (Some(cluster), id),
            None => (None, id),
        };
        let (user, name) = id
            .split_once('!')
            .filter(|(user, name)| user.contains('@') && !name.is_empty())
            .ok_or("it is written as USER@REALM!NAME=SECRET")?;
        let found = match (cluster, self.clusters.as_slice()) {
            (Some(cluster), all) => all.iter().find(|(name, _)| name == cluster),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        let found = found.ok_or_else(|| {
            let names: Vec<_> = self
                .clusters
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            format!(
                "write the cluster before it, as CLUSTER:USER@REALM!NAME=SECRET; there are: {}",
                names.join(", ")
            )
        })?;
        let credentials = Credentials::Token {
            user: user.to_owned(),
            name: name.to_owned(),
            secret: secret.to_owned().into(),
        };
        Ok((found, credentials))
    }
}

/// Which of them makes room. Whoever has most gives one up, so that who comes by ever new tokens makes nobody else's way anew:
/// one that is not in use, and of these the one used least lately.
fn least_needed(made: &[Made]) -> usize {
    let of = |by: &Option<String>| made.iter().filter(|kept| kept.by == *by).count();
    let most = made.iter().map(|kept| of(&kept.by)).max().unwrap_or(0);
    let theirs = || (0..made.len()).filter(|at| of(&made[*at].by) == most);
    let unused = theirs().find(|at| !made[*at].is_in_use());
    unused.or_else(|| theirs().next()).unwrap_or(0)
}

/// Drops the ways that nobody has used for long, until there are none: the secrets are in them.
async fn forget_idle(estates: Weak<Estates>) {
    loop {
        tokio::time::sleep(IDLE / 10).await;
        let Some(estates) = estates.upgrade() else {
            return;
        };
        if !estates.keep_used(Instant::now()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use tools::caller::Caller;

    use super::super::OnBehalf;
    use super::*;
    use crate::http::settings::Live;
    use crate::http::{PveTokens, engine_of_nothing as engine};
    use crate::mcp::Server;
    use crate::token::Holder;

    const ALICE: &str = "alice@pve!own=secret";

    fn estates(clusters: &[&str]) -> Arc<Estates> {
        let settings = |name: &&str| {
            let host = pve::Host {
                name: "127.0.0.1".to_owned(),
                port: 8006,
                pin: None,
            };
            let credentials = Credentials::Token {
                user: "root@pam".to_owned(),
                name: "oxmox".to_owned(),
                secret: "secret".into(),
            };
            let settings = pve::Settings::new(vec![host], credentials);
            ((*name).to_owned(), settings)
        };
        Arc::new(Estates::new(clusters.iter().map(settings).collect()))
    }

    fn brought<'a>(by: Option<&'a str>, tokens: &'a [&'a str]) -> Brought<'a> {
        let sum = tokens.concat();
        Brought { by, sum, tokens }
    }

    /// The way that is made for these tokens where nothing ends.
    fn way(
        estates: &Arc<Estates>,
        engine: &Engine,
        brought: Brought<'_>,
    ) -> Result<Arc<Engine>, String> {
        estates.engine(engine, brought, &CancellationToken::new())
    }

    #[tokio::test]
    async fn a_secret_that_nobody_uses_is_forgotten() {
        let (estates, engine) = (estates(&["home"]), engine());
        let begin = Instant::now();
        let theirs = way(&estates, &engine, brought(None, &[ALICE])).unwrap();
        let kept = Arc::downgrade(&theirs);
        drop(theirs);
        assert!(estates.keep_used(begin + IDLE / 2), "it may be used again");
        assert!(kept.upgrade().is_some());
        assert!(!estates.keep_used(Instant::now() + IDLE));
        assert!(kept.upgrade().is_none());
    }

    #[tokio::test]
    async fn switched_off_it_forgets_all_secrets() {
        let (estates, engine) = (estates(&["home"]), engine());
        let before = Live {
            pve_tokens: PveTokens::Allowed,
            estates: estates.clone(),
            ..Live::default()
        };
        let theirs = way(&estates, &engine, brought(None, &[ALICE])).unwrap();
        let kept = Arc::downgrade(&theirs);
        drop(theirs);
        let still_on = Live {
            pve_tokens: PveTokens::Required,
            ..Live::default()
        };
        let now = still_on.following(&before).unwrap();
        before.end_for(&now);
        assert!(kept.upgrade().is_some());
        let off = Live::default().following(&now).unwrap();
        // Those that hold on when something else of the new ones cannot be taken.
        assert!(kept.upgrade().is_some() && !now.until_off.is_cancelled());
        now.end_for(&off);
        assert!(kept.upgrade().is_none() && now.until_off.is_cancelled());
        assert!(!off.until_off.is_cancelled());
        // Who had come before that is refused now, and their secret kept nowhere.
        let late = estates.engine(&engine, brought(None, &[ALICE]), &now.until_off);
        assert!(late.is_err_and(|why| why.contains("any more")));
        assert!(estates.made().is_empty());
    }

    #[tokio::test]
    async fn who_comes_without_a_token_comes_no_more_once_it_is_required() {
        let settings = |pve_tokens| Live {
            pve_tokens,
            ..Live::default()
        };
        let allowed = settings(PveTokens::Allowed);
        let required = settings(PveTokens::Required).following(&allowed).unwrap();
        allowed.end_for(&required);
        assert!(allowed.until_required.is_cancelled());
        assert!(!allowed.until_off.is_cancelled());
        let again = settings(PveTokens::Allowed).following(&required).unwrap();
        required.end_for(&again);
        assert!(!again.until_required.is_cancelled());
    }

    /// A session is kept for long after its last request.
    #[tokio::test]
    async fn a_session_keeps_no_secret() {
        let (estates, engine) = (estates(&["home"]), engine());
        let theirs = way(&estates, &engine, brought(None, &[ALICE])).unwrap();
        let secret = Arc::downgrade(&theirs.clusters()[0]);
        let mut request = axum::http::Extensions::new();
        request.insert(Holder {
            caller: Caller::unbound("alice"),
            person: false,
        });
        request.insert(OnBehalf(theirs));
        let session = Server::new(engine).for_sender(&request);
        drop(request);
        estates.clear();
        assert!(secret.upgrade().is_none());
        drop(session);
    }

    #[tokio::test]
    async fn a_second_token_for_a_cluster_is_refused() {
        let (estates, engine) = (estates(&["home", "lab"]), engine());
        let act = |tokens: &[&str]| {
            let made = way(&estates, &engine, brought(None, tokens));
            made.map(drop)
        };
        let (home, lab) = (format!("home:{ALICE}"), format!("lab:{ALICE}"));
        act(&[&home, &lab]).unwrap();
        let why = act(&[&home, &lab, "home:bob@pve!own=secret"]).unwrap_err();
        assert!(why.contains("two tokens for the cluster home"), "{why}");
        assert!(!why.contains("secret"), "{why}");
    }

    #[tokio::test]
    async fn the_ways_of_those_who_came_last_are_kept() {
        let (estates, engine) = (estates(&["lab"]), engine());
        let way = |caller: usize| {
            let caller = caller.to_string();
            way(&estates, &engine, brought(Some(&caller), &[ALICE])).unwrap()
        };
        let first = way(0);
        let second = way(1);
        for caller in 2..KEPT {
            way(caller);
        }
        // All are known again, and who comes again counts as new.
        assert!(Arc::ptr_eq(&way(0), &first));
        way(KEPT);
        assert!(Arc::ptr_eq(&way(0), &first));
        assert!(!Arc::ptr_eq(&way(1), &second));
        assert_eq!(estates.made.lock().unwrap().len(), KEPT);
    }

    #[tokio::test]
    async fn who_comes_by_many_tokens_makes_nobody_elses_way_anew() {
        let (estates, engine) = (estates(&["lab"]), engine());
        let way = |by, token: &str| way(&estates, &engine, brought(by, &[token])).unwrap();
        let alices = way(Some("alice"), ALICE);
        let unasked = way(None, ALICE);
        for number in 0..2 * KEPT {
            let token = format!("mallory@pve!{number}=made-up");
            way(Some("mallory"), &token);
        }
        assert!(Arc::ptr_eq(&way(Some("alice"), ALICE), &alices));
        assert!(Arc::ptr_eq(&way(None, ALICE), &unasked));
        assert_eq!(estates.made().len(), KEPT);
    }

    #[tokio::test]
    async fn a_way_that_somebody_listens_by_stays() {
        let (estates, engine) = (estates(&["lab"]), engine());
        let way = |token: &str| way(&estates, &engine, brought(Some("gateway"), &[token])).unwrap();
        let listened_by = way(ALICE).clusters()[0].clone();
        assert!(estates.keep_used(Instant::now() + 2 * IDLE));
        for number in 0..2 * KEPT {
            way(&format!("bob@pve!{number}=secret"));
        }
        assert!(Arc::ptr_eq(&way(ALICE).clusters()[0], &listened_by));
        drop(listened_by);
        assert!(!estates.keep_used(Instant::now() + 2 * IDLE));
    }
}
