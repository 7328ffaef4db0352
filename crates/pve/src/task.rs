//! Tasks: what PVE does after it has answered with a UPID.

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod progress;
mod upid;
mod wait;

use serde::{Deserialize, Serialize};

use crate::conceal::cut;
use crate::encode_segment;
use crate::error::Error;
use crate::id::{NodeName, Vmid};
use crate::lenient;
use crate::reader::Reader;
use crate::request::Request;

pub use progress::percent;
pub use upid::Upid;
pub use wait::TaskProgress;

/// How a task ended. Only PVE's exit status counts: a log may hold ERROR lines of a task that ended well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskEnd {
    /// Well.
    Ok,
    /// Well, with so many warnings in the log.
    Warnings(u32),
    /// With this error.
    Failed(String),
}

impl TaskEnd {
    /// Reads PVE's exit status.
    pub fn parse(exit_status: &str) -> Self {
        let text = exit_status.trim();
        if text == "OK" {
            return Self::Ok;
        }
        match text.strip_prefix("WARNINGS: ").map(str::parse) {
            Some(Ok(count)) => Self::Warnings(count),
            _ => Self::Failed(bounded(text)),
        }
    }

    /// True unless it failed.
    pub fn is_success(&self) -> bool {
        !matches!(self, Self::Failed(_))
    }
}

/// The state of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStatus {
    /// The task.
    pub upid: Upid,
    /// How it ended; `None` while it runs.
    pub end: Option<TaskEnd>,
    /// Who started it, without the token.
    pub user: Option<String>,
    /// The token that started it, without the user.
    pub token: Option<String>,
}

impl TaskStatus {
    /// True while it runs.
    pub fn is_running(&self) -> bool {
        self.end.is_none()
    }
}

#[derive(Deserialize)]
struct RawStatus {
    #[serde(default, deserialize_with = "lenient::opt_text")]
    status: Option<String>,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    exitstatus: Option<String>,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    user: Option<String>,
    #[serde(default, deserialize_with = "lenient::opt_text")]
    tokenid: Option<String>,
}

/// One line of a task list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSummary {
    /// The task.
    pub upid: Upid,
    /// When it began, in Unix seconds.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub starttime: Option<u64>,
    /// When it ended; absent while it runs.
    #[serde(default, deserialize_with = "lenient::opt_u64")]
    pub endtime: Option<u64>,
    /// PVE's exit status; absent while it runs.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub status: Option<String>,
    /// Who started it.
    #[serde(default, deserialize_with = "lenient::opt_text")]
    pub user: Option<String>,
}

impl TaskSummary {
    /// How it ended; `None` while it runs.
    pub fn end(&self) -> Option<TaskEnd> {
        // The active list calls a task without an end RUNNING.
        let status = self.status.as_deref().filter(|text| *text != "RUNNING")?;
        Some(TaskEnd::parse(status))
    }
}

#[derive(Deserialize)]
struct LogLine {
    #[serde(rename = "t", deserialize_with = "lenient::text")]
    text: String,
}

/// How many tasks a search tells of.
const MOST_FOUND: usize = 100;

/// A line of a log, and the word that a task ended with, are cut where they are longer: they are handed on, and kept.
const LONGEST_LINE: usize = 4_000;

/// The only line of a log without lines.
const EMPTY_LOG: &str = "no content";

impl Reader {
    /// The state of a task, asked of the node that runs it.
    pub async fn task_status(&self, upid: &Upid) -> Result<TaskStatus, Error> {
        let raw: RawStatus = self.get(task_path(upid, "status")).await?;
        // A task that stopped without a status was killed with its node.
        let end = (raw.status.as_deref() != Some("running"))
            .then(|| TaskEnd::parse(raw.exitstatus.as_deref().unwrap_or("unexpected status")));
        Ok(TaskStatus {
            upid: upid.clone(),
            end,
            user: raw.user,
            token: raw.tokenid,
        })
    }

    /// Up to `limit` lines of a task's log from line `start` (counted from 0); a limit of 0 means all.
    pub async fn task_log(
        &self,
        upid: &Upid,
        start: u64,
        limit: u64,
    ) -> Result<Vec<String>, Error> {
        Ok(self.log_page(upid, start, limit).await?.0)
    }

    /// The last `n` lines of a task's log.
    pub async fn task_log_tail(&self, upid: &Upid, n: u64) -> Result<Vec<String>, Error> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let (first, total) = self.log_page(upid, 0, n).await?;
        if total <= n {
            return Ok(first);
        }
        self.task_log(upid, total - n, n).await
    }

    /// The tasks of one type on a node, optionally of one guest and since a Unix time, running ones included.
    ///
    /// For finding out what became of a write whose answer was lost.
    pub async fn find_task(
        &self,
        node: &NodeName,
        task_type: &str,
        vmid: Option<Vmid>,
        since: Option<u64>,
    ) -> Result<Vec<TaskSummary>, Error> {
        let request = Request::get(format!("/nodes/{node}/tasks"))
            .with("source", "all")
            .with("typefilter", task_type)
            .maybe("vmid", vmid)
            .maybe("since", since)
            .with("limit", MOST_FOUND as u64);
        let mut found = self.list(request).await?;
        found.truncate(MOST_FOUND);
        Ok(found)
    }

    async fn log_page(
        &self,
        upid: &Upid,
        start: u64,
        limit: u64,
    ) -> Result<(Vec<String>, u64), Error> {
        let request = Request::get(task_path(upid, "log"))
            .with("start", start)
            .with("limit", limit);
        let answer = self.ask(&request).await?;
        let total = answer.total();
        let lines: Vec<LogLine> = answer.decode_list()?;
        // A node that does not heed the limit tells no more than one that does.
        let asked_for = match limit {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let lines = lines.into_iter().take(asked_for);
        let mut lines: Vec<String> = lines.map(|line| bounded(&line.text)).collect();
        if lines == [EMPTY_LOG] {
            lines.clear();
        }
        let total = total.unwrap_or(start.saturating_add(lines.len() as u64));
        Ok((lines, total))
    }
}

fn bounded(line: &str) -> String {
    cut(line, LONGEST_LINE)
}

fn task_path(upid: &Upid, what: &str) -> String {
    let segment = encode_segment(upid.as_str());
    format!("/nodes/{}/tasks/{segment}/{what}", upid.node())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exit_status_decides() {
        assert_eq!(TaskEnd::parse("OK"), TaskEnd::Ok);
        assert_eq!(TaskEnd::parse("WARNINGS: 2"), TaskEnd::Warnings(2));
        assert!(TaskEnd::parse("WARNINGS: 2").is_success());
        for text in ["job errors", "WARNINGS: many", "unexpected status", ""] {
            assert_eq!(TaskEnd::parse(text), TaskEnd::Failed(text.to_owned()));
        }
    }
}
