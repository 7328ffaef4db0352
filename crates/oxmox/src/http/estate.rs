//! Callers who bring their own token of PVE along: what they do is by their rights, and PVE's task log names them.
//!
//! The secret lives in the client that was made for it, for as long as a call or a listener uses it, and nowhere else.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::Next;
use pve::Credentials;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tools::context::Cluster;
use tools::engine::Engine;

use super::accept::Peer;
use super::say;
use super::settings::Live;

/// `USER@REALM!NAME=SECRET`, with `CLUSTER:` before it where there are several; one for each.
const HEADER: &str = "x-pve-api-token";
/// How many callers' ways to their clusters are kept.
const KEPT: usize = 32;
/// For how long one is kept that nobody uses.
const IDLE: Duration = Duration::from_mins(10);

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

/// Among a request's extensions.
#[derive(Clone)]
pub(crate) struct OnBehalf {
    /// The engine that acts for its caller.
    pub(crate) engine: Arc<Engine>,
    /// Cancelled when it may not any more: whoever listens by it has to end.
    pub(crate) until: CancellationToken,
}

/// The ways to the clusters that were made for callers.
#[derive(Default)]
pub(super) struct Estates {
    clusters: Vec<(String, pve::Settings)>,
    /// The one used last at the end.
    made: Mutex<Vec<Made>>,
}

/// A caller's way to their clusters, which knows the secrets.
struct Made {
    /// Of the tokens.
    sum: String,
    engine: Arc<Engine>,
    used: Instant,
}

impl fmt::Debug for Estates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Estates").finish_non_exhaustive()
    }
}

impl Estates {
    /// For these clusters, whoever they know us as.
    pub(super) fn new(clusters: Vec<(String, pve::Settings)>) -> Self {
        Self {
            clusters,
            made: Mutex::default(),
        }
    }

    /// Forgets all of them: nobody acts by their own token any more.
    pub(super) fn clear(&self) {
        self.made().clear();
    }

    /// Drops those that nobody has used for long; false: none are left.
    fn keep_used(&self, now: Instant) -> bool {
        let mut made = self.made();
        made.retain(|kept| now.duration_since(kept.used) < IDLE);
        !made.is_empty()
    }

    fn made(&self) -> MutexGuard<'_, Vec<Made>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An engine that acts by these tokens.
    fn engine(
        self: &Arc<Self>,
        engine: &Engine,
        sum: String,
        tokens: &[&str],
    ) -> Result<Arc<Engine>, String> {
        let used = Instant::now();
        let mut made = self.made();
        if let Some(at) = made.iter().position(|kept| kept.sum == sum) {
            let kept = made.remove(at);
            let found = kept.engine.clone();
            made.push(Made { used, ..kept });
            return Ok(found);
        }
        let theirs = engine.on_behalf(self.connected(engine, tokens)?);
        if made.len() >= KEPT {
            made.remove(0);
        }
        if made.is_empty() {
            tokio::spawn(forget_idle(Arc::downgrade(self)));
        }
        made.push(Made {
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
        (_, []) => return next.run(request).await,
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
    let until = live.until.clone();
    match live.estates.engine(&behalf.engine, sum, &words) {
        Ok(engine) => {
            let behalf = OnBehalf { engine, until };
            request.extensions_mut().insert(behalf);
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

#[cfg(test)]
mod tests {
    use tools::caller::Caller;
    use tools::engine::{Setup, State};
    use tools::policy::Policy;
    use tools::spec::Toolset;
    use tools::uploads::Uploads;

    use super::*;
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

    fn engine() -> Arc<Engine> {
        let setup = Setup {
            toolsets: vec![Toolset::Core],
            policy: Policy::default(),
            state: State::Memory,
            clock: Arc::new(|| 0),
            uploads: Uploads::default(),
            approve: String::new(),
            scripts: None,
            copyist: None,
        };
        Engine::new(Vec::new(), setup)
    }

    #[tokio::test]
    async fn a_secret_that_nobody_uses_is_forgotten() {
        let (estates, engine) = (estates(&["home"]), engine());
        let begin = Instant::now();
        let theirs = estates.engine(&engine, "sum".to_owned(), &[ALICE]).unwrap();
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
        let theirs = estates.engine(&engine, "sum".to_owned(), &[ALICE]).unwrap();
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
        assert!(kept.upgrade().is_some() && !now.until.is_cancelled());
        now.end_for(&off);
        assert!(kept.upgrade().is_none() && now.until.is_cancelled());
        assert!(!off.until.is_cancelled());
    }

    /// A session is kept for long after its last request.
    #[tokio::test]
    async fn a_session_keeps_no_secret() {
        let (estates, engine) = (estates(&["home"]), engine());
        let theirs = estates.engine(&engine, "sum".to_owned(), &[ALICE]).unwrap();
        let secret = Arc::downgrade(&theirs.clusters()[0]);
        let mut request = axum::http::Extensions::new();
        request.insert(Holder {
            caller: Caller::unbound("alice"),
            person: false,
        });
        request.insert(OnBehalf {
            engine: theirs,
            until: CancellationToken::new(),
        });
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
            let made = estates.engine(&engine, tokens.concat(), tokens);
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
            let token = format!("caller{caller}@pve!own=secret");
            let made = estates.engine(&engine, caller.to_string(), &[&token]);
            made.unwrap()
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
}
