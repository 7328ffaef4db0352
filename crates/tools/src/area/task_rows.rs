//! Tasks in a list, for the tools that show some.

use pve::{NodeName, Reader, Request, TaskEnd, TaskSummary, Vmid};
use schemars::JsonSchema;
use serde::Serialize;

use crate::words;

/// A task in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct TaskRow {
    /// Its id, for get_proxmox_task.
    upid: String,
    /// PVE's word for what it does.
    task_type: String,
    /// When it started.
    started: String,
    /// running, OK, or how it failed.
    status: String,
}

impl TaskRow {
    /// The latest tasks of a node or of one guest on it, newest first.
    pub(super) async fn latest(
        pve: &Reader,
        node: &NodeName,
        vmid: Option<Vmid>,
    ) -> Result<Vec<Self>, pve::Error> {
        let request = Request::get(format!("/nodes/{node}/tasks"))
            .with("source", "all")
            .maybe("vmid", vmid)
            .with("limit", 10_u32);
        let mut tasks: Vec<TaskSummary> = pve.list(request).await?;
        // PVE puts the running ones first, whatever their age.
        tasks.sort_by_key(|task| std::cmp::Reverse(task.upid.starttime()));
        Ok(tasks.iter().map(Self::of).collect())
    }

    fn of(task: &TaskSummary) -> Self {
        Self {
            upid: task.upid.to_string(),
            task_type: task.upid.task_type().to_owned(),
            started: words::time(i64::try_from(task.upid.starttime()).unwrap_or_default()),
            status: match task.end() {
                None => "running".to_owned(),
                Some(TaskEnd::Ok) => "OK".to_owned(),
                Some(TaskEnd::Warnings(count)) => format!("OK with {count} warnings"),
                Some(TaskEnd::Failed(why)) => crate::clean::without_passwords(&why),
            },
        }
    }
}

/// Tasks as a table, or nothing.
pub(super) fn task_table(tasks: &[TaskRow]) -> String {
    if tasks.is_empty() {
        return String::new();
    }
    let cells = |task: &TaskRow| {
        [
            task.started.clone(),
            task.task_type.clone(),
            words::clip(&task.status, 80),
            task.upid.clone(),
        ]
    };
    words::table(
        ["started", "task", "status", "upid"],
        &tasks.iter().map(cells).collect::<Vec<_>>(),
    )
}
