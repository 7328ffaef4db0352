//! A secret that is here already, or is fetched from where it is kept when it is first needed.
//!
//! Where that is, and how it is asked, is the binary's matter: a [`Keeper`]. What is here is asked once however many need it
//! at the same time, remembered, and asked again after a failure, or when PVE does not take what it gave.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use secrecy::{ExposeSecret, SecretString};

use crate::error::Error;

/// How long a keeper that somebody may have to answer is left alone after PVE refused what it gave.
const LEFT_ALONE: Duration = Duration::from_mins(1);

/// A secret on its way.
pub type Fetching = Pin<Box<dyn Future<Output = Result<SecretString, Error>> + Send>>;

/// Keeps one secret: a file, a keyring, a password manager.
pub trait Keeper: Send + Sync + 'static {
    /// Asks for it. Ends by itself: what does not answer is an [`Error::Secret`] after a while. The answer is awaited to its
    /// end also when whoever needed it has gone.
    fn fetch(&self) -> Fetching;

    /// Whether nobody notices that it is asked: no program is started, no dialogue shown. Only then may it be asked for what
    /// nobody is waiting for.
    fn is_quiet(&self) -> bool;
}

/// A secret, or the way to it. Clones share what was fetched.
#[derive(Clone)]
pub struct Secret(Inner);

#[derive(Clone)]
enum Inner {
    Here(SecretString),
    Kept(Arc<Kept>),
}

struct Kept {
    keeper: Box<dyn Keeper>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    given: Option<Given>,
    /// Whether PVE has refused that.
    is_refused: bool,
    /// Everybody waits for the same answer.
    under_way: Option<Shared<Answer>>,
    /// When it was last asked because of a refusal.
    asked_again: Option<Instant>,
}

type Answer = Pin<Box<dyn Future<Output = Result<Given, Error>> + Send>>;

/// What the keeper gave, and the how manieth secret that was.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) secret: SecretString,
    pub(crate) number: u64,
}

impl Secret {
    /// One that is asked for when it is first needed.
    pub fn kept(keeper: impl Keeper) -> Self {
        Self(Inner::Kept(Arc::new(Kept {
            keeper: Box::new(keeper),
            state: Mutex::default(),
        })))
    }

    /// The secret, fetched if it is not here yet.
    pub async fn get(&self) -> Result<SecretString, Error> {
        self.given().await.map(|given| given.secret)
    }

    /// The secret, if it is one that nobody keeps elsewhere.
    pub(crate) fn fixed(&self) -> Option<&SecretString> {
        match &self.0 {
            Inner::Here(secret) => Some(secret),
            Inner::Kept(_) => None,
        }
    }

    /// Whether it can be used without anybody noticing that it is fetched: not if PVE has refused the one that is here.
    pub fn is_quiet(&self) -> bool {
        match &self.0 {
            Inner::Here(_) => true,
            Inner::Kept(kept) => {
                let state = kept.state();
                let is_good = state.given.is_some() && !state.is_refused;
                kept.keeper.is_quiet() || is_good
            }
        }
    }

    /// The secret, if it is here already.
    pub(crate) fn known(&self) -> Option<SecretString> {
        match &self.0 {
            Inner::Here(secret) => Some(secret.clone()),
            Inner::Kept(kept) => kept.state().given.as_ref().map(|it| it.secret.clone()),
        }
    }

    /// Whether its keeper has been asked, and has not answered yet.
    pub fn is_under_way(&self) -> bool {
        match &self.0 {
            Inner::Here(_) => false,
            Inner::Kept(kept) => kept.state().under_way.is_some(),
        }
    }

    pub(crate) async fn given(&self) -> Result<Given, Error> {
        match &self.0 {
            Inner::Here(secret) => Ok(Given {
                secret: secret.clone(),
                number: 0,
            }),
            Inner::Kept(kept) => {
                let answer = {
                    let mut state = kept.state();
                    if let Some(given) = &state.given {
                        return Ok(given.clone());
                    }
                    kept.ask(&mut state)
                };
                answer.await
            }
        }
    }

    /// PVE takes it, again if it was refused.
    pub(crate) fn note_taken(&self) {
        if let Inner::Kept(kept) = &self.0 {
            kept.state().is_refused = false;
        }
    }

    /// Another secret than the one of this number, which PVE refused; `None` if the keeper has no other. An error if it does not
    /// say.
    pub(crate) async fn instead_of(&self, refused: u64) -> Result<Option<Given>, Error> {
        let Inner::Kept(kept) = &self.0 else {
            return Ok(None);
        };
        let answer = {
            let mut state = kept.state();
            if let Some(given) = state.given.as_ref().filter(|it| it.number > refused) {
                return Ok(Some(given.clone()));
            }
            state.is_refused = true;
            let again = state.asked_again.filter(|at| at.elapsed() < LEFT_ALONE);
            if state.under_way.is_none() && again.is_some() && !kept.keeper.is_quiet() {
                return Ok(None);
            }
            state.asked_again = Some(Instant::now());
            kept.ask(&mut state)
        };
        let given = answer.await.map_err(|error| match error {
            Error::Secret { what, hint } => Error::Secret {
                what: format!("PVE does not take the secret any more, and {what}"),
                hint,
            },
            other => other,
        })?;
        Ok((given.number > refused).then_some(given))
    }
}

impl Kept {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins those who are waiting, or asks.
    fn ask(self: &Arc<Self>, state: &mut State) -> Shared<Answer> {
        if let Some(answer) = &state.under_way {
            return answer.clone();
        }
        let (kept, fetching) = (Arc::clone(self), self.keeper.fetch());
        // A task of its own: somebody may have typed a password for it by the time that the first one has gone.
        let task = tokio::spawn(async move { kept.settle(fetching.await) });
        let kept = Arc::clone(self);
        let answer = async move {
            task.await.unwrap_or_else(|_| {
                kept.state().under_way = None;
                let what = "what should have fetched the secret has failed".to_owned();
                let hint = "`oxmox doctor` looks at it again".to_owned();
                Err(Error::Secret { what, hint })
            })
        };
        let answer: Answer = Box::pin(answer);
        let answer = answer.shared();
        state.under_way = Some(answer.clone());
        answer
    }

    fn settle(&self, got: Result<SecretString, Error>) -> Result<Given, Error> {
        let mut state = self.state();
        state.under_way = None;
        let secret = got?;
        let is_same = |old: &&Given| old.secret.expose_secret() == secret.expose_secret();
        if let Some(same) = state.given.as_ref().filter(is_same) {
            return Ok(same.clone());
        }
        let number = state.given.as_ref().map_or(1, |old| old.number + 1);
        let given = Given { secret, number };
        state.given = Some(given.clone());
        state.is_refused = false;
        Ok(given)
    }
}

/// Tells where it is, and never what it is.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Inner::Here(_) => "Secret(here)",
            Inner::Kept(_) => "Secret(kept)",
        })
    }
}

impl From<SecretString> for Secret {
    fn from(secret: SecretString) -> Self {
        Self(Inner::Here(secret))
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        SecretString::from(secret).into()
    }
}

impl From<&str> for Secret {
    fn from(secret: &str) -> Self {
        SecretString::from(secret).into()
    }
}
