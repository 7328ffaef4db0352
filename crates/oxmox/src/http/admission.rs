//! How a request was admitted, and whether its caller still is: a token that was revoked ends what it began.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Mutex;
use tools::fault::Fault;
use tools::store::Store;

use super::auth::{Admitted, Door};
use crate::session::now;

/// The admission of a request by a token of oxmox's own, or without one. Handlers find it among the request's extensions.
#[derive(Clone)]
pub(crate) struct Admission {
    door: Arc<Door>,
    /// The public part of the token; none if the caller was not asked for one.
    token: Option<String>,
}

impl Admission {
    pub(super) fn new(door: Arc<Door>, token: Option<String>) -> Self {
        Self { door, token }
    }

    /// The public part of the token.
    pub(super) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Fails if the caller would not be admitted now. Reads the store each time: this is for the moment before something
    /// is done.
    pub(crate) async fn check(&self) -> Result<(), Fault> {
        let store = self.door.store().await?;
        let holds = match &self.token {
            None => self.door.is_open().await?,
            Some(id) => {
                let token = store.token(id).await?;
                token.is_some_and(|token| token.expires.is_none_or(|end| end > now()))
            }
        };
        if holds {
            return Ok(());
        }
        Err(Fault::refused(match self.token {
            Some(_) => "the token of this caller was revoked or has expired; nothing was sent",
            None => "a token is needed since this call began; nothing was sent",
        })
        .hint("a person gives out a token with `oxmox token add NAME`"))
    }

    /// Returns once the caller would not be admitted any more.
    pub(crate) async fn ended(&self) {
        let pace = self.door.look_again();
        loop {
            tokio::time::sleep(pace).await;
            if !self.may_hold().await {
                return;
            }
        }
    }

    /// As [`check`](Self::check), by what all that wait have read last. A store that cannot be read now is read again
    /// later, unless its file was replaced: then nobody knows which tokens count.
    async fn may_hold(&self) -> bool {
        if let Some(admitted) = self.door.recently_admitted().await {
            return admitted.has_token(self.token.as_deref());
        }
        let store = self.door.store().await;
        store.is_ok_and(Store::is_in_place)
    }
}

/// The last answer to who is admitted, shared by all that wait: the store is asked once for all of them.
#[derive(Default)]
pub(super) struct Recent(Mutex<Option<(Instant, Option<Arc<Admitted>>)>>);

impl Recent {
    /// What is known, if that is no older than the pace at which everybody asks; else what `read` says.
    pub(super) async fn get(
        &self,
        door: &Door,
        read: impl AsyncFnOnce() -> Option<Admitted>,
    ) -> Option<Arc<Admitted>> {
        let mut known = self.0.lock().await;
        match &*known {
            Some((at, admitted)) if at.elapsed() < door.look_again() => admitted.clone(),
            _ => {
                let admitted = read().await.map(Arc::new);
                *known = Some((Instant::now(), admitted.clone()));
                admitted
            }
        }
    }
}
