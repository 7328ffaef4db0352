//! Waiting for a task to end, with a look at its log on the way.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{TaskEnd, Upid, percent};
use crate::error::Error;
use crate::reader::Reader;

/// The first pause; each is half as long again as the one before, up to the settings' poll interval.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// More lines than this between two looks are skipped over.
const LOG_LINES: u64 = 500;

/// How far a task is.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskProgress {
    /// Since the waiting began.
    pub elapsed: Duration,
    /// The newest line of the log.
    pub line: Option<String>,
    /// The newest percentage that the log named.
    pub percent: Option<f64>,
}

impl Reader {
    /// Waits until a task ends, at most `within`; `None` means that it is still running.
    ///
    /// `on_progress` is called whenever the log has grown. A node that does not answer for a while does not end the
    /// waiting; if it never answered again until the end, its error is returned. Dropping the future ends only the
    /// waiting, never the task.
    pub async fn wait_task(
        &self,
        upid: &Upid,
        within: Duration,
        mut on_progress: impl FnMut(TaskProgress),
    ) -> Result<Option<TaskEnd>, Error> {
        let begun = Instant::now();
        let mut log = LogFollower::default();
        let mut pause = FIRST_PAUSE.min(self.task_poll());
        loop {
            let status = self.task_status(upid).await;
            if let Ok(status) = &status
                && let Some(end) = &status.end
            {
                return Ok(Some(end.clone()));
            }
            if status.is_ok() && log.advance(self, upid).await {
                on_progress(TaskProgress {
                    elapsed: begun.elapsed(),
                    line: log.line.clone(),
                    percent: log.percent,
                });
            }
            let left = within.saturating_sub(begun.elapsed());
            match status {
                Err(error) if left.is_zero() || !is_passing(&error) => return Err(error),
                Ok(_) if left.is_zero() => return Ok(None),
                Ok(_) | Err(_) => sleep(pause.min(left)).await,
            }
            pause = (pause * 3 / 2).min(self.task_poll());
        }
    }
}

/// True for errors of the way to PVE, which may work again in a moment.
fn is_passing(error: &Error) -> bool {
    match error {
        Error::NeverSent { .. } | Error::MaybeSent { .. } => true,
        other => matches!(other.status(), Some(595..=599)),
    }
}

/// Reads a log as it grows.
#[derive(Default)]
struct LogFollower {
    seen: u64,
    line: Option<String>,
    percent: Option<f64>,
}

impl LogFollower {
    /// Reads on; true if there was something new. A log that cannot be read is not worth an error.
    async fn advance(&mut self, reader: &Reader, upid: &Upid) -> bool {
        let Ok(lines) = reader.task_log(upid, self.seen, LOG_LINES).await else {
            return false;
        };
        self.seen += lines.len() as u64;
        if let Some(share) = lines.iter().rev().find_map(|line| percent(line)) {
            self.percent = Some(share);
        }
        let newest = lines.into_iter().rev().find(|line| !line.trim().is_empty());
        let grown = newest.is_some();
        self.line = newest.or(self.line.take());
        grown
    }
}
