//! The keys of an issuer: kept, and fetched again when a token names one that is not among them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use tools::fault::Fault;

use super::super::fetch;
use super::{Doubt, Jwks};

/// An issuer is asked this often at most, however many tokens name a key that it does not have.
const PAUSE: Duration = Duration::from_mins(1);
/// Keys are looked at again after this time, so that one that was withdrawn stops counting.
const STALE: Duration = Duration::from_hours(1);

#[derive(Debug)]
pub(super) struct Keys {
    /// `None`: they were read from a file, and stay as they are until the configuration is read again.
    url: Option<String>,
    kept: Mutex<Kept>,
    /// Held by the one who fetches.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    keys: Vec<Jwk>,
    fetched: Option<Instant>,
    /// When the issuer was last asked and answered, or did not.
    tried: Option<Instant>,
    /// Somebody wants to know how they are now.
    doubted: bool,
}

impl Kept {
    /// Whether the issuer is to be asked.
    fn is_due(&self, found: bool) -> bool {
        let old = |since: Option<Instant>, age| since.is_none_or(|at| at.elapsed() >= age);
        (!found || self.doubted || old(self.fetched, STALE)) && old(self.tried, PAUSE)
    }
}

impl Keys {
    /// Reads a file; an address is asked when the first token comes.
    pub(super) fn new(at: &Jwks) -> Result<Self, Fault> {
        let (url, keys) = match at {
            Jwks::Url(url) => {
                fetch::check(url)
                    .map_err(|why| Fault::bad_input(format!("[oauth] jwks_url: {why}")))?;
                (Some(url.clone()), Vec::new())
            }
            Jwks::File(path) => {
                let wrong = |why: &str| {
                    Fault::bad_input(format!("[oauth] jwks_file {}: {why}", path.display()))
                };
                let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
                let keys = parse(&bytes).ok_or_else(|| wrong("it holds no set of keys"))?;
                (None, keys)
            }
        };
        let kept = Kept {
            keys,
            ..Kept::default()
        };
        Ok(Self {
            url,
            kept: Mutex::new(kept),
            fetching: tokio::sync::Mutex::default(),
        })
    }

    /// The key that a token names, or the only one for its algorithm.
    pub(super) async fn find(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, Doubt> {
        if self.url.is_some() {
            let found = self.among_kept(id, algorithm).is_some();
            self.refresh(found).await;
            if self.kept().fetched.is_none() {
                return Err(Doubt::NoKeys);
            }
        }
        self.among_kept(id, algorithm).ok_or(Doubt::Wrong)
    }

    /// These keys in the place of others of the same issuer: they count until it has answered again, which it is asked to
    /// do with the next token.
    pub(super) fn after(self: Arc<Self>, before: &Arc<Self>) -> Arc<Self> {
        if self.url.is_none() || self.url != before.url {
            return self;
        }
        let mut kept = before.kept();
        kept.tried = None;
        kept.doubted = true;
        drop(kept);
        before.clone()
    }

    fn among_kept(&self, id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
        let kept = self.kept();
        let mut fitting = kept.keys.iter().filter(|key| {
            let is_meant = match id {
                Some(id) => key.common.key_id.as_deref() == Some(id),
                None => true,
            };
            is_meant && serves(key, algorithm)
        });
        let key = fitting.next()?;
        // Which of several is meant, a token has to say.
        let key = fitting.next().is_none().then_some(key)?;
        DecodingKey::from_jwk(key).ok()
    }

    /// Fetches what is missing or old, unless somebody did so a moment ago. In a task of its own: whoever asked may leave
    /// in the middle, and others wait for the same answer.
    async fn refresh(self: &Arc<Self>, found: bool) {
        if !self.kept().is_due(found) {
            return;
        }
        let keys = self.clone();
        let fetched = tokio::spawn(async move { keys.fetch(found).await });
        if !found {
            let _ = fetched.await;
        }
    }

    async fn fetch(&self, found: bool) {
        let Some(url) = &self.url else { return };
        let _one = self.fetching.lock().await;
        if !self.kept().is_due(found) {
            return;
        }
        let keys = match fetch::get(url).await {
            Ok(bytes) => parse(&bytes).ok_or_else(|| "it is no set of keys".to_owned()),
            Err(why) => Err(why),
        };
        let mut kept = self.kept();
        kept.tried = Some(Instant::now());
        match keys {
            Ok(keys) => {
                kept.keys = keys;
                kept.fetched = Some(Instant::now());
                kept.doubted = false;
            }
            Err(why) => tracing::warn!(url, why, "the keys of the OAuth server cannot be had"),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a key is for signatures by this algorithm.
fn serves(key: &Jwk, algorithm: Algorithm) -> bool {
    let signs = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
    let named = |name: KeyAlgorithm| name.to_string() == format!("{algorithm:?}");
    let family = DecodingKey::from_jwk(key).map(|key| key.family());
    signs
        && key.common.key_algorithm.is_none_or(named)
        && family.is_ok_and(|family| family == algorithm.family())
}

/// The keys of a set. One that cannot be read does not hide the others.
fn parse(bytes: &[u8]) -> Option<Vec<Jwk>> {
    let set: Value = serde_json::from_slice(bytes).ok()?;
    let keys = set.get("keys")?.as_array()?;
    let keys = keys.iter().cloned();
    Some(
        keys.filter_map(|key| serde_json::from_value(key).ok())
            .collect(),
    )
}
