//! The tokens of callers: how they look, how they are given out, and how they are known again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::{OwnedMutexGuard, Semaphore};
use tools::caller::{Bounds, Caller};
use tools::fault::{Fault, Kind};
use tools::keys;
use tools::store::{Store, StoredToken};

/// What every token begins with, so that it is known where it should not be: in a log, or in a repository.
const PREFIX: &str = "oxmox_";
/// How many checked tokens are remembered.
const REMEMBERED: usize = 1024;
/// Hashes are made to take time and 19 MiB each; more at a time than this would be somebody's way to bring the machine down.
static HASHING: Semaphore = Semaphore::const_new(2);

/// A new token for `name`, and what is kept of it. The token itself is told once and is nowhere afterwards.
pub fn issue(
    name: &str,
    bounds: Bounds,
    person: bool,
    (created, expires): (i64, Option<i64>),
) -> Result<(SecretString, StoredToken), Fault> {
    let id = keys::short_id();
    let secret = URL_SAFE_NO_PAD.encode(keys::random::<32>());
    let hash = Argon2::default()
        .hash_password(secret.as_bytes())
        .map_err(|error| Fault::new(Kind::Internal, format!("no hash of a token: {error}")))?;
    let token = SecretString::from(format!("{PREFIX}{id}_{secret}"));
    let stored = StoredToken {
        id,
        name: name.to_owned(),
        hash: hash.to_string(),
        bounds,
        person,
        created,
        expires,
    };
    Ok((token, stored))
}

/// Whether it looks like a token of oxmox's own.
pub fn is_own(token: &SecretString) -> bool {
    token.expose_secret().starts_with(PREFIX)
}

/// Who a token's caller is.
#[derive(Debug, Clone)]
pub struct Holder {
    /// The caller.
    pub caller: Caller,
    /// Whether it is a person.
    pub person: bool,
}

/// Knows tokens again. Each is worked out once, since that is made to take long, and looked up in the store every time,
/// so that one that was taken back is worth nothing at once.
#[derive(Default)]
pub struct Checker {
    /// The sum of a token that was right, with the hash that it was right for.
    right: Mutex<BTreeMap<String, String>>,
    /// The tokens that are being worked out, by their sums: whoever brings the same one along waits.
    turns: Mutex<BTreeMap<String, Weak<tokio::sync::Mutex<()>>>>,
}

/// What can be said of a token before it is worked out.
pub enum Look {
    /// There is none of this name, or none any more.
    Nobody,
    /// There is one. Whether this is its secret has to be worked out.
    Unproven(StoredToken),
    /// It was found right lately.
    Known(Holder),
}

impl Checker {
    /// The holder of this token; `None` if it is none, or none any more.
    pub async fn holder(
        &self,
        token: &SecretString,
        store: &Store,
        now: i64,
    ) -> Result<Option<Holder>, Fault> {
        Ok(match self.look(token, store, now).await? {
            Look::Nobody => None,
            Look::Unproven(stored) => self.prove(token, stored, store).await,
            Look::Known(holder) => Some(holder),
        })
    }

    /// Looks a token up. This costs little.
    pub async fn look(&self, token: &SecretString, store: &Store, now: i64) -> Result<Look, Fault> {
        let Some(id) = open_part(token) else {
            return Ok(Look::Nobody);
        };
        let stored = store.token(id).await?;
        let counts = stored.filter(|it| it.expires.is_none_or(|expires| expires > now));
        Ok(match counts {
            None => Look::Nobody,
            Some(it) if self.remembers(&sum(token, store), &it.hash) => Look::Known(it.into()),
            Some(it) => Look::Unproven(it),
        })
    }

    /// The holder, if this is the secret of the token that was found by its name.
    pub async fn prove(
        &self,
        token: &SecretString,
        stored: StoredToken,
        store: &Store,
    ) -> Option<Holder> {
        let (_, secret) = parts(token.expose_secret())?;
        let (secret, hash) = (SecretString::from(secret.to_owned()), stored.hash.clone());
        let turn = HASHING.acquire().await;
        let fits = tokio::task::spawn_blocking(move || fits(&secret, &hash)).await;
        drop(turn);
        if !fits.unwrap_or(false) {
            return None;
        }
        self.remember(sum(token, store), stored.hash.clone());
        Some(stored.into())
    }

    /// A turn at this token: several requests that bring it along at once are one try.
    pub async fn turn(&self, token: &SecretString, store: &Store) -> OwnedMutexGuard<()> {
        let sum = sum(token, store);
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| turn.strong_count() > 0);
            let known = turns.get(&sum).and_then(Weak::upgrade);
            let turn = known.unwrap_or_default();
            turns.insert(sum, Arc::downgrade(&turn));
            turn
        };
        turn.lock_owned().await
    }

    fn remembers(&self, sum: &str, hash: &str) -> bool {
        let right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        right.get(sum).is_some_and(|known| known == hash)
    }

    fn remember(&self, sum: String, hash: String) {
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        if right.len() >= REMEMBERED {
            right.clear();
        }
        right.insert(sum, hash);
    }
}

impl From<StoredToken> for Holder {
    fn from(stored: StoredToken) -> Self {
        Self {
            caller: Caller {
                name: stored.name,
                bounds: stored.bounds,
            },
            person: stored.person,
        }
    }
}

/// Keyed, so that what is remembered cannot be tried out elsewhere.
fn sum(token: &SecretString, store: &Store) -> String {
    let token = token.expose_secret().as_bytes();
    store.keys.seal(&[b"token checked", token])
}

/// The part of a token that is no secret, by which the store knows it.
pub fn open_part(token: &SecretString) -> Option<&str> {
    parts(token.expose_secret()).map(|(id, _)| id)
}

fn fits(secret: &SecretString, hash: &str) -> bool {
    PasswordHash::new(hash).is_ok_and(|hash| {
        Argon2::default()
            .verify_password(secret.expose_secret().as_bytes(), &hash)
            .is_ok()
    })
}

/// The open and the secret part.
fn parts(token: &str) -> Option<(&str, &str)> {
    token.strip_prefix(PREFIX)?.split_once('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: (i64, Option<i64>) = (100, Some(200));

    #[tokio::test]
    async fn a_token_is_known_again_until_it_expires_or_is_taken_back() {
        let store = Store::in_memory().unwrap();
        let (token, stored) = issue("ci", Bounds::default(), false, TIME).unwrap();
        assert!(store.keep_token(&stored).await.unwrap());
        let checker = Checker::default();
        for _ in 0..2 {
            let holder = checker.holder(&token, &store, 150).await.unwrap().unwrap();
            assert_eq!((holder.caller.name.as_str(), holder.person), ("ci", false));
        }
        assert!(checker.holder(&token, &store, 200).await.unwrap().is_none());
        assert!(store.remove_token("ci").await.unwrap());
        assert!(checker.holder(&token, &store, 150).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn nothing_else_is_a_token() {
        let store = Store::in_memory().unwrap();
        let (token, stored) = issue("ci", Bounds::default(), false, TIME).unwrap();
        store.keep_token(&stored).await.unwrap();
        let checker = Checker::default();
        let token = token.expose_secret();
        let wrong = [
            String::new(),
            "oxmox_".to_owned(),
            stored.hash.clone(),
            format!("oxmox_{}_", stored.id),
            format!("{token}x"),
            token[..token.len() - 1].to_owned(),
        ];
        for wrong in wrong {
            let wrong = SecretString::from(wrong);
            assert!(checker.holder(&wrong, &store, 150).await.unwrap().is_none());
        }
    }

    #[test]
    fn what_is_kept_does_not_hold_the_secret() {
        let (token, stored) = issue("ci", Bounds::default(), false, TIME).unwrap();
        let (_, secret) = parts(token.expose_secret()).unwrap();
        assert!(!format!("{stored:?}{token:?}").contains(secret));
    }
}
