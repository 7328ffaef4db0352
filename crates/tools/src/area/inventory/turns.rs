//! Many requests, a few at a time, and never for longer than a caller waits.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::time::{Instant, timeout_at};

/// How many requests run at the same time.
const AT_ONCE: usize = 8;
/// How long one may take. A storage whose server hangs must not hold up the others.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long all of them may take; common clients give up at 60 s.
const ALL_PATIENCE: Duration = Duration::from_secs(40);

/// Why something was given up.
pub(super) const NO_ANSWER: &str = "no answer in time";

/// The results in order; nothing for what took too long, or was not begun in time.
pub(super) async fn in_turns<F: Future>(requests: Vec<F>) -> Vec<Option<F::Output>> {
    let end = Instant::now() + ALL_PATIENCE;
    let mut bounded = Vec::with_capacity(requests.len());
    for request in requests {
        bounded.push(async move {
            timeout_at(end.min(Instant::now() + PATIENCE), request)
                .await
                .ok()
        });
    }
    stream::iter(bounded).buffered(AT_ONCE).collect().await
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_that_hangs_holds_up_nobody() {
        let requests = (0..20).map(|id| async move {
            if id == 3 {
                pending::<()>().await;
            }
            id
        });
        let answers = in_turns(requests.collect()).await;
        let expected: Vec<_> = (0..20).map(|id| (id != 3).then_some(id)).collect();
        assert_eq!(answers, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cluster_of_them_ends_in_time() {
        let begun = Instant::now();
        let answers = in_turns((0..200).map(|_| pending::<()>()).collect()).await;
        assert!(answers.iter().all(Option::is_none));
        assert!(begun.elapsed() <= ALL_PATIENCE + Duration::from_secs(1));
    }
}
