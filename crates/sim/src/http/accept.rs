//! Connections as they come.

use std::io;
use std::time::Duration;

/// The pause after the system had no connection to give: out of files, most likely.
const BREATH: Duration = Duration::from_millis(500);

/// The next connection, however long it takes until there is one.
pub(super) async fn next<T, F>(mut accept: impl FnMut() -> F) -> T
where
    F: Future<Output = io::Result<T>>,
{
    loop {
        match accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_theirs(&error) => {}
            Err(_) => tokio::time::sleep(BREATH).await,
        }
    }
}

/// Whether it is the other end's doing, and no reason to pause.
fn is_theirs(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;
    use tokio::time::Instant;

    /// How long it takes until there is a connection, after these failures.
    async fn after(failures: Vec<io::Error>) -> Duration {
        let (began, mut failures) = (Instant::now(), failures.into_iter());
        next(|| ready(failures.next().map_or(Ok(()), Err))).await;
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn without_files_there_is_a_pause_before_every_try() {
        let too_many_files = || io::Error::from_raw_os_error(24);
        let waited = after(vec![too_many_files(), too_many_files()]).await;
        assert_eq!(waited, BREATH * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_left_again_holds_up_nobody() {
        let left = vec![io::ErrorKind::ConnectionAborted.into()];
        assert_eq!(after(left).await, Duration::ZERO);
    }
}
