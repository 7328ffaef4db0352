//! Whether a request gets on. An answer is waited for a fixed time; while a long body is on its way, that time begins anew
//! with every piece of it.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// How one attempt to send a request goes.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When a piece was last taken.
    moved: Option<Instant>,
    /// Nobody waits for it any more.
    over: bool,
}

impl Pace {
    /// A piece is about to be sent. False: there is an answer already, or nobody waits for one, and the rest need not go.
    pub(super) fn moves(&self) -> bool {
        let mut state = self.state();
        state.moved = Some(Instant::now());
        !state.over
    }

    /// Waits for `work` while it gets on; `None` if nothing has moved for `limit`.
    pub(super) async fn while_moving<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let _over = Over(self);
        let mut work = pin!(work);
        let mut since = Instant::now();
        loop {
            if let Ok(done) = timeout_at(since + limit, &mut work).await {
                return Some(done);
            }
            match self.state().moved {
                Some(moved) if moved > since => since = moved,
                _ => return None,
            }
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says at its end that nobody waits any more, also where the waiting itself was given up.
struct Over<'a>(&'a Pace);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.state().over = true;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(45);

    #[tokio::test(start_paused = true)]
    async fn what_moves_may_take_as_long_as_it_takes() {
        let pace = Pace::default();
        let work = async {
            for _ in 0..100 {
                sleep(Duration::from_secs(40)).await;
                assert!(pace.moves());
            }
            7
        };
        assert_eq!(pace.while_moving(LIMIT, work).await, Some(7));
        assert!(!pace.moves(), "the answer is there");
    }

    #[tokio::test(start_paused = true)]
    async fn what_stands_still_is_given_up() {
        let pace = Pace::default();
        let begun = Instant::now();
        let work = async {
            sleep(Duration::from_secs(10)).await;
            pace.moves();
            std::future::pending::<()>().await;
        };
        assert_eq!(pace.while_moving(LIMIT, work).await, None);
        assert_eq!(begun.elapsed(), Duration::from_secs(55));
        assert!(!pace.moves(), "nobody waits any more");
    }
}
