//! Whether nobody tampered with the trail, as far as it can be seen without a head from before this process began.
//!
//! A walk reads all that was ever recorded, on the one thread that every call waits for, too. So there is one at a time, from the
//! beginning only when somebody opens the trail; whoever has it open has what came since looked at.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tools::fault::Fault;
use tools::store::{Store, Verified};

use super::Page;
use super::answer::{Answer, Json};

/// What the last walk showed.
#[derive(Default)]
pub(super) struct Chain(Mutex<Option<Known>>);

struct Known {
    /// When it was last walked from the beginning.
    walked: Instant,
    /// The last link that was there: an end that is cut off later is missed.
    head: Option<String>,
    showed: Verified,
}

impl Chain {
    /// From the beginning; whoever asks while somebody else has that done shares what it shows.
    async fn whole(&self, store: &Store) -> Result<Verified, Fault> {
        let asked = Instant::now();
        let mut known = self.0.lock().await;
        match known.as_mut().filter(|known| known.walked > asked) {
            Some(known) => known.go_on(store).await,
            None => anew(&mut known, store).await,
        }
    }

    /// What came since it was last walked.
    async fn news(&self, store: &Store) -> Result<Verified, Fault> {
        let mut known = self.0.lock().await;
        match known.as_mut() {
            Some(known) => known.go_on(store).await,
            None => anew(&mut known, store).await,
        }
    }
}

async fn anew(known: &mut Option<Known>, store: &Store) -> Result<Verified, Fault> {
    let head = known.as_ref().and_then(|known| known.head.clone());
    let showed = judged(store.verify_audit(head.as_deref()).await?);
    *known = Some(Known {
        walked: Instant::now(),
        head: head_of(&showed).or(head),
        showed: showed.clone(),
    });
    Ok(showed)
}

/// Where the head from before is not there any more, the end was cut off.
fn judged(verified: Verified) -> Verified {
    match verified {
        Verified::Whole {
            entries,
            anchored: Some(false),
            ..
        } => Verified::Broken { seq: entries + 1 },
        as_it_is => as_it_is,
    }
}

fn head_of(verified: &Verified) -> Option<String> {
    match verified {
        Verified::Whole { head, .. } => Some(head.clone()),
        Verified::Broken { .. } => None,
    }
}

impl Known {
    async fn go_on(&mut self, store: &Store) -> Result<Verified, Fault> {
        // What is broken is not mended by what follows.
        if let Verified::Whole { entries, head, .. } = &self.showed {
            self.showed = judged(store.verify_audit_since(*entries, head).await?);
            self.head = head_of(&self.showed).or(self.head.take());
        }
        Ok(self.showed.clone())
    }
}

/// How it is, from the beginning.
pub(super) async fn whole(State(page): State<Arc<Page>>) -> Answer {
    let store = page.engine.store().await?;
    Ok(shown(page.chain.whole(store).await?))
}

/// How it is, as far as it was not looked at yet.
pub(super) async fn news(State(page): State<Arc<Page>>) -> Answer {
    let store = page.engine.store().await?;
    Ok(shown(page.chain.news(store).await?))
}

fn shown(verified: Verified) -> Json {
    Json(match verified {
        Verified::Whole { entries, head, .. } => {
            json!({ "whole": true, "entries": entries, "head": head })
        }
        Verified::Broken { seq } => json!({ "whole": false, "broken_at": seq }),
    })
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn who_comes_while_it_is_walked_shares_what_that_shows() {
        let store = Store::in_memory().unwrap();
        let chain = Chain::default();
        let mut walk = chain.0.lock().await;
        let mut second = pin!(chain.whole(&store));
        assert!(second.as_mut().now_or_never().is_none());
        let showed = Verified::Broken { seq: 7 };
        *walk = Some(Known {
            walked: Instant::now(),
            head: None,
            showed: showed.clone(),
        });
        drop(walk);
        assert_eq!(second.await.unwrap(), showed);
        // Whoever comes later has it walked again.
        let whole = chain.whole(&store).await.unwrap();
        assert!(matches!(whole, Verified::Whole { entries: 0, .. }));
    }

    #[tokio::test]
    async fn an_end_that_was_cut_off_is_missed_however_often_it_is_looked_at() {
        let store = Store::in_memory().unwrap();
        let chain = Chain::default();
        *chain.0.lock().await = Some(Known {
            walked: Instant::now(),
            head: Some("of the third".to_owned()),
            showed: Verified::Whole {
                entries: 3,
                head: "of the third".to_owned(),
                anchored: None,
            },
        });
        let cut_off = Verified::Broken { seq: 1 };
        assert_eq!(chain.news(&store).await.unwrap(), cut_off);
        assert_eq!(chain.news(&store).await.unwrap(), cut_off);
        assert_eq!(chain.whole(&store).await.unwrap(), cut_off);
        assert_eq!(chain.whole(&store).await.unwrap(), cut_off);
    }
}
