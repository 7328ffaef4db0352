//! Callers who bring their own token of PVE along: what they do is by their rights, and PVE's task log names them.
//!
//! The secret lives in the client that was made for it, for as long as it is used, and nowhere else.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::Next;
use pve::Credentials;
use serde::Deserialize;
use tokio::sync::watch;
use tools::context::Cluster;
use tools::engine::Engine;

use super::accept::Peer;
use super::say;
use super::settings::Live;

/// `USER@REALM!NAME=SECRET`, with `CLUSTER:` before it where there are several; one for each.
const HEADER: &str = "x-pve-api-token";
/// How many callers' ways to their clusters are kept.
const KEPT: usize = 32;

/// Whether callers may bring their own token of PVE along.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
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

/// Among a request's extensions: the engine that acts for its caller.
#[derive(Clone)]
pub(crate) struct OnBehalf(pub(crate) Arc<Engine>);

/// The ways to the clusters that were made for callers.
#[derive(Default)]
pub(super) struct Estates {
    clusters: Vec<(String, pve::Settings)>,
    /// By a sum of the tokens, the one used last at the end.
    made: Mutex<Vec<(String, Arc<Engine>)>>,
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

    /// An engine that acts by these tokens.
    fn engine(&self, engine: &Engine, sum: String, tokens: &[&str]) -> Result<Arc<Engine>, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = made.iter().position(|(known, _)| *known == sum) {
            let kept = made.remove(at);
            let found = kept.1.clone();
            made.push(kept);
            return Ok(found);
        }
        let mut connected = Vec::new();
        for token in tokens {
            let (settings, credentials) = self.meant(token)?;
            let settings_of_theirs = pve::Settings {
                credentials,
                ..settings.1.clone()
            };
            let (reader, writer) = pve::connect(settings_of_theirs)
                .map_err(|_| "a token has letters that no token has".to_owned())?;
            connected.push((Cluster::new(&settings.0, reader), writer));
        }
        let theirs = engine.on_behalf(connected);
        if made.len() >= KEPT {
            made.remove(0);
        }
        made.push((sum, theirs.clone()));
        Ok(theirs)
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
    match live.estates.engine(&behalf.engine, sum, &words) {
        Ok(engine) => {
            request.extensions_mut().insert(OnBehalf(engine));
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
    use tools::engine::{Setup, State};
    use tools::policy::Policy;
    use tools::uploads::Uploads;

    use super::*;

    fn engine() -> Arc<Engine> {
        Engine::new(
            Vec::new(),
            Setup {
                toolsets: Vec::new(),
                policy: Policy::default(),
                state: State::Memory,
                clock: Arc::new(|| 0),
                uploads: Uploads::default(),
                approve: String::new(),
                scripts: None,
                copyist: None,
            },
        )
    }

    #[test]
    fn the_ways_of_those_who_came_last_are_kept() {
        let credentials = Credentials::Token {
            user: "root@pam".to_owned(),
            name: "oxmox".to_owned(),
            secret: "x".into(),
        };
        let settings = pve::Settings::new(vec!["pve1".parse().unwrap()], credentials);
        let estates = Estates::new(vec![("lab".to_owned(), settings)]);
        let engine = engine();
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
